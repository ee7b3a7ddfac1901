// What a host's counters become: columns from what exists, differences from what is read.
#include "host/counter_table.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "catch.hpp"
#include "fake_host.hpp"
#include "host/counter_files.hpp"
#include "host/kernel_sources.hpp"

using namespace weir::host;
using weir::host::test::FakeCalls;
using weir::host::test::FakeTree;

namespace {

using Columns = std::vector<std::string>;

/// The column's value among what read() returned.
CounterValue at(const CounterTable& table, const std::vector<CounterValue>& values,
                const std::string& column) {
    const auto place = std::find(table.columns().begin(), table.columns().end(), column);
    REQUIRE(place != table.columns().end());
    return values.at(static_cast<std::size_t>(place - table.columns().begin()));
}

constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32U;

}  // namespace

TEST_CASE("A host without any counters has no columns") {
    const FakeTree tree;
    FakeCalls calls;
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns().empty());
    CHECK(table.read().empty());
}

TEST_CASE("An mlx5 port has its own counters and the standard's, data in bytes") {
    const FakeTree tree;
    FakeCalls calls;
    tree.port("mlx5_0");
    tree.port_counter("mlx5_0", "counters/port_rcv_data", "1000");
    tree.port_counter("mlx5_0", "counters/port_rcv_switch_relay_errors", "7");
    tree.port_counter("mlx5_0", "hw_counters/np_cnp_sent", "50");
    tree.port_counter("mlx5_0", "hw_counters/out_of_sequence", "4294967290");
    tree.port_counter("mlx5_0", "hw_counters/lifespan", "10");
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() ==
          Columns{"mlx5_0.port_rcv_bytes", "mlx5_0.np_cnp_sent", "mlx5_0.out_of_sequence"});
    CHECK(table.read() == std::vector<CounterValue>(3));

    tree.port_counter("mlx5_0", "counters/port_rcv_data", "1025");
    tree.port_counter("mlx5_0", "hw_counters/np_cnp_sent", "50");
    tree.port_counter("mlx5_0", "hw_counters/out_of_sequence", "4");
    CHECK(table.read() == std::vector<CounterValue>{100, 0, 10});
}

TEST_CASE("A device is mlx5's by its driver when it is named otherwise") {
    const FakeTree tree;
    FakeCalls calls;
    for (const char* device : {"rocep1s0f0", "rocep2s0f0"}) {
        tree.port(device);
        tree.port_counter(device, "hw_counters/packet_seq_err", "4294967295");
    }
    tree.driver("rocep1s0f0", "mlx5_core");
    auto table = CounterTable::of_host(tree.root(), calls);
    table.read();
    tree.port_counter("rocep1s0f0", "hw_counters/packet_seq_err", "0");
    tree.port_counter("rocep2s0f0", "hw_counters/packet_seq_err", "0");
    // The other one has 64 bits: it went down, so someone cleared it.
    CHECK(table.read() == std::vector<CounterValue>{1, {}});
}

TEST_CASE("Ports that are not active and files without a number are left out") {
    const FakeTree tree;
    FakeCalls calls;
    tree.port("mlx4_0", "1");
    tree.port("mlx4_0", "2");
    tree.port("mlx4_1", "1", "1: DOWN");
    tree.port_counter("mlx4_0", "counters/port_xmit_wait", "3", "1");
    tree.port_counter("mlx4_0", "counters/port_xmit_wait", "N/A (no PMA)", "2");
    tree.port_counter("mlx4_0", "counters/port_rcv_packets", "3", "2");
    tree.port_counter("mlx4_1", "counters/port_xmit_wait", "3");
    const auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() == Columns{"mlx4_0:1.port_xmit_wait", "mlx4_0:2.port_rcv_packets"});
}

TEST_CASE("bnxt and rxe: what is a level and not a count is left out") {
    const FakeTree tree;
    FakeCalls calls;
    tree.port("bnxt_re0");
    tree.port_counter("bnxt_re0", "hw_counters/active_qps", "12");
    tree.port_counter("bnxt_re0", "hw_counters/watermark_qps", "20");
    tree.port_counter("bnxt_re0", "hw_counters/rx_ecn_marked_pkts", "5");
    tree.port_counter("bnxt_re0", "hw_counters/to_retransmits", "6");
    tree.port("rxe0");
    tree.port_counter("rxe0", "hw_counters/out_of_seq_request", "1");
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() ==
          Columns{"bnxt_re0.rx_ecn_marked_pkts", "bnxt_re0.to_retransmits", "rxe0.out_of_seq_request"});
    table.read();
    tree.port_counter("bnxt_re0", "hw_counters/to_retransmits", "5000000006");
    CHECK(at(table, table.read(), "bnxt_re0.to_retransmits") == 5000000000U);
}

TEST_CASE("Interfaces that are down and the loopback are left out") {
    const FakeTree tree;
    FakeCalls calls;
    tree.interface("lo", "unknown", 772);
    tree.interface("eth0");
    tree.interface("eth1", "down");
    tree.interface("tun0", "unknown", 65534);
    tree.write("sys/class/net/bonding_masters", "bond0\n");
    for (const char* name : {"lo", "eth0", "eth1", "tun0"}) {
        tree.statistic(name, "rx_bytes", 5);
        tree.statistic(name, "collisions", 5);
    }
    const auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() == Columns{"eth0.rx_bytes", "tun0.rx_bytes"});
}

TEST_CASE("Where hundreds of interfaces are up, those that carry nothing of a run are left out") {
    const FakeTree tree;
    FakeCalls calls;
    std::string routes = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
    const auto route = [&](const std::string& interface, const std::string& mask) {
        routes += interface + "\t0000000A\t00000000\t0001\t0\t0\t0\t" + mask + "\t0\t0\t0\n";
    };
    tree.interface("eth0");
    tree.write("sys/class/net/eth0/device/vendor", "0x15b3\n");
    tree.interface("bond0");
    route("bond0", "00FFFFFF");
    tree.interface("wg0");
    tree.write("proc/net/if_inet6",
               "fd000000000000000000000000000001 05 40 00 80 wg0\n"
               "fe800000000000000000000000000001 06 40 20 80 veth1\n");
    for (std::size_t i = 0; i < InterfacesInUse::all_up_to - 3; ++i) {
        const std::string name = "veth" + std::to_string(i);
        tree.interface(name);
        tree.statistic(name, "rx_bytes", 1);
        route(name, "FFFFFFFF");
    }
    tree.write("proc/net/route", routes);
    CHECK(interfaces_in_use(tree.root()).names.size() == InterfacesInUse::all_up_to);
    CHECK(interfaces_in_use(tree.root()).left_out == 0);
    tree.interface("veth1000");
    const InterfacesInUse use = interfaces_in_use(tree.root());
    CHECK(use.names == std::vector<std::string>{"bond0", "eth0", "wg0"});
    CHECK(use.left_out == InterfacesInUse::all_up_to - 2);
    CHECK(CounterTable::of_host(tree.root(), calls).columns().empty());
}

TEST_CASE("Names that are cleaned to one keep a column each") {
    const FakeTree tree;
    FakeCalls calls;
    for (const char* name : {"a,b", "a_b"}) {
        tree.interface(name);
        tree.statistic(name, "rx_bytes", 5);
    }
    calls.names["a_b"] = {"rx.pause", "rx_pause", "rx_pause"};
    calls.values["a_b"] = {1, 10, 100};
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() == Columns{"a_b.rx_bytes", "a_b.rx_bytes_2", "a_b.rx_pause", "a_b.rx_pause_2"});
    table.read();
    tree.statistic("a,b", "rx_bytes", 6);
    tree.statistic("a_b", "rx_bytes", 7);
    calls.values["a_b"] = {2, 20, 200};
    // What a driver calls the same is added up.
    CHECK(table.read() == std::vector<CounterValue>{1, 2, 1, 110});
}

TEST_CASE("A counter that vanishes is absent from then on, and the others go on") {
    const FakeTree tree;
    FakeCalls calls;
    tree.interface("eth0");
    tree.statistic("eth0", "rx_bytes", 100);
    tree.statistic("eth0", "tx_bytes", 100);
    auto table = CounterTable::of_host(tree.root(), calls);
    table.read();
    tree.remove("sys/class/net/eth0/statistics/rx_bytes");
    tree.statistic("eth0", "tx_bytes", 110);
    CHECK(table.read() == std::vector<CounterValue>{{}, 10});
    tree.statistic("eth0", "rx_bytes", 200);
    tree.statistic("eth0", "tx_bytes", 130);
    CHECK(table.read() == std::vector<CounterValue>{{}, 20});
    tree.statistic("eth0", "rx_bytes", 300);
    CHECK(table.read() == std::vector<CounterValue>{{}, 0});
    using weir::record::Absence;
    CHECK(table.absences() == std::vector{Absence::gone, Absence::none});
    tree.statistic("eth0", "tx_bytes", 3);
    CHECK(table.read() == std::vector<CounterValue>{{}, {}});
    CHECK(table.absences() == std::vector{Absence::gone, Absence::reset});
    tree.statistic("eth0", "tx_bytes", 4);
    CHECK(table.read() == std::vector<CounterValue>{{}, 1});
    CHECK(table.absences() == std::vector{Absence::gone, Absence::none});
}

TEST_CASE("A difference of 32 bits goes round; one of 64 bits or a large step back is a reset") {
    const Counter wide{.source = "a", .name = "b"};
    const Counter narrow{.source = "a", .name = "b", .range = CounterRange::wraps_at_32_bits};
    CHECK(difference(wide, 5, 5) == 0U);
    CHECK(difference(wide, 5, 7) == 2U);
    CHECK_FALSE(difference(wide, 7, 5));
    CHECK(difference(narrow, two_to_32 - 1, 3) == 4U);
    CHECK(difference(narrow, 3, 5) == 2U);
    CHECK_FALSE(difference(narrow, 500, 0));
    // More than 32 bits: the driver adds up itself.
    CHECK(difference(narrow, two_to_32 + 1, two_to_32 + 5) == 4U);
}

TEST_CASE("A counter that stands at its largest value counts no more") {
    const Counter stops{
        .source = "a", .name = "b", .range = CounterRange::stops_at_largest, .largest = 0xffff};
    CHECK(difference(stops, 10, 12) == 2U);
    CHECK(difference(stops, 0xfff0, 0xffff) == 15U);
    CHECK_FALSE(difference(stops, 0xffff, 0xffff));
}

TEST_CASE("Of what drivers count, congestion and loss are recorded, queue by queue is not") {
    for (const char* name : {"rx_prio3_pause",
                             "tx_prio3_pause",
                             "rx_prio3_pause_duration",
                             "rx_prio3_pause_transition",
                             "rx_prio3_buf_discard",
                             "rx_prio3_cong_discard",
                             "rx_prio3_marked",
                             "tx_prio3_packets",
                             "rx_bytes_pri3",
                             "rx_discards_phy",
                             "rx_global_pause",
                             "tx_pause_storm_warning_events",
                             "outbound_pci_stalled_wr_events",
                             "rx_out_of_buffer",
                             "pfc_pri3_rx_duration_us",
                             "rx_pfc_ena_frames_pri3",
                             "port.rx_priority_3_xoff",
                             "link_xoff_rx.nic",
                             "rx_missed_errors",
                             "rx_ecn_mark",
                             "bw_in_allowance_exceeded",
                             "rx_ppp3_frames",
                             "rx_pfc_frames",
                             "rx_queue_0_drops",
                             "[5]: rx_discards",
                             "port_rx_nodesc_drops",
                             "frames_rx_pripause",
                             "tx_seq_err_of_none"}) {
        INFO(name);
        CHECK(driver_counter_wanted(name));
    }
    for (const char* name : {"rx_packets", "rx0_buff_alloc_err", "rx_queue_0_oops_drops", "tx-3.tx_dropped",
                             "[5]: rx_odd_discards", "ch12_missed", "rx_xdp_drop", "rx_64_bytes_phy",
                             "outbound_pci_stalled_wr"}) {
        INFO(name);
        CHECK_FALSE(driver_counter_wanted(name));
    }
}

TEST_CASE("Driver counters and queueing disciplines join their interface's columns") {
    const FakeTree tree;
    FakeCalls calls;
    tree.interface("eth0");
    tree.statistic("eth0", "rx_missed_errors", 1);
    calls.names["eth0"] = {"rx_packets", "rx_prio3_pause", "port.tx_discards", "rx_missed_errors",
                           "a,drop\"s"};
    calls.values["eth0"] = {1, 2, 3, 4, 5};
    calls.queues = {{"lo", 9, 9, 9}, {"eth0", 0xffffffff, 2, 3}, {"eth0", 7, 7, 7}};
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() == Columns{"eth0.rx_missed_errors", "eth0.rx_prio3_pause", "eth0.port_tx_discards",
                                     "eth0.a_drop_s", "eth0.qdisc_drops", "eth0.qdisc_overlimits",
                                     "eth0.qdisc_requeues"});
    table.read();
    calls.values["eth0"] = {1, 12, 3, 400, 5};
    calls.queues = {{"eth0", 4, 2, 3}};
    CHECK(table.read() == std::vector<CounterValue>{0, 10, 0, 0, 5, 0, 0});

    SECTION("another number of values: their names are not known") {
        calls.values["eth0"] = {1, 12, 3};
        CHECK(table.read() == std::vector<CounterValue>{0, {}, {}, {}, 0, 0, 0});
    }
    SECTION("the discipline is gone") {
        calls.queues.clear();
        CHECK(table.read() == std::vector<CounterValue>{0, 0, 0, 0, {}, {}, {}});
    }
}

TEST_CASE("Protocols: names instead of abbreviations, whatever else stands in the tables") {
    const FakeTree tree;
    FakeCalls calls;
    const auto write = [&](const char* retransmitted, const char* marked) {
        tree.write("proc/net/snmp",
                   std::string("Ip: Forwarding ReasmFails\nIp: 1 4\nTcp: MaxConn RetransSegs\nTcp: -1 ") +
                       retransmitted + "\nUdpLite: InErrors\nUdpLite: 9\n");
        tree.write("proc/net/netstat", std::string("TcpExt: TCPTimeouts NewOne\nTcpExt: 3 9\n"
                                                   "IpExt: InOctets InCEPkts\nIpExt: 1000 ") +
                                           marked + "\n");
    };
    write("10", "0");
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() == Columns{"ip.reassembly_failures", "tcp.retransmitted_segments",
                                     "ip.received_bytes", "ip.received_ce_packets", "tcp.timeouts"});
    table.read();
    write("17", "2");
    CHECK(table.read() == std::vector<CounterValue>{0, 7, 0, 2, 0});
    tree.write("proc/net/snmp", "Ip: Forwarding\n");
    CHECK(table.read() == std::vector<CounterValue>{{}, {}, 0, 0, 0});
}

TEST_CASE("Softnet: processors are added up, and their 32 bits go round") {
    const FakeTree tree;
    FakeCalls calls;
    tree.write("proc/net/softnet_stat", "fffffffe 00000001 0000000a 0\n00000010 00000000 00000001 0\n");
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.columns() == Columns{"softnet.processed", "softnet.dropped", "softnet.time_squeezed"});
    table.read();
    tree.write("proc/net/softnet_stat", "00000003 00000001 0000000b 0\n00000012 00000002 00000001 0\n");
    CHECK(table.read() == std::vector<CounterValue>{7, 2, 1});
}

TEST_CASE("A file that never ends, or a pipe without a writer, counts as one that cannot be read") {
    const FakeTree host;
    host.write("proc/x", "1\n");
    std::filesystem::create_symlink("/dev/zero", host.root() + "/proc/endless");
    REQUIRE(::mkfifo((host.root() + "/proc/pipe").c_str(), 0600) == 0);
    CHECK(file_text(host.root() + "/proc/x") == "1\n");
    CHECK(file_text(host.root() + "/proc/endless").empty());
    CHECK(file_text(host.root() + "/proc/pipe").empty());
    CHECK_FALSE(number_in_file(host.root() + "/proc/endless"));
    CHECK_FALSE(number_in_file(host.root() + "/proc/pipe"));
}

TEST_CASE("This host's own counters can be read, whichever they are") {
    const auto calls = kernel_calls();
    auto table = CounterTable::of_host("", *calls);
    CHECK(table.read().size() == table.columns().size());
    for (const CounterValue& value : table.read()) {
        CHECK(value.value_or(0) < (std::uint64_t{1} << 62U));
    }
    CHECK(calls->driver_counter_names("no-such-interface").empty());
    CHECK(calls->driver_counters("a-name-that-is-much-too-long-for-one").empty());
}
