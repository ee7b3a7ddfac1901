// By driver: the names that it gives, as the kernel's sources have them, become columns and sums. Each
// counter rises by what is written beside it.
#include <utility>

#include "catch.hpp"
#include "fake_host.hpp"
#include "host/counter_table.hpp"
#include "record/host_counters.hpp"

using namespace weir::host;
using weir::host::test::FakeCalls;
using weir::host::test::FakeTree;
using weir::record::FamilySums;

namespace driver_counters_test {

namespace {

using Rises = std::vector<std::pair<std::string, std::uint64_t>>;

weir::record::HostCounters counted(CounterTable& table, const std::vector<CounterValue>& values) {
    weir::record::HostCounters host;
    host.host = "eb01";
    host.handed_in = true;
    host.made_of_others = table.made_of_others();
    for (const std::string& column : table.columns()) {
        host.sums.push_back({column});
    }
    host.add(values, weir::record::Phase::measure);
    return host;
}

/// Of an interface eth0 of this driver.
weir::record::HostCounters after(const std::string& driver, const Rises& rises, std::uint64_t begin = 100) {
    const FakeTree tree;
    FakeCalls calls;
    tree.interface("eth0");
    tree.driver_of_interface("eth0", driver);
    for (const auto& [name, rise] : rises) {
        calls.names["eth0"].push_back(name);
        calls.values["eth0"].push_back(begin);
    }
    auto table = CounterTable::of_host(tree.root(), calls);
    table.read();
    for (std::size_t i = 0; i < rises.size(); ++i) {
        calls.values["eth0"][i] += rises[i].second;
    }
    return counted(table, table.read());
}

/// The same of an RDMA device.
weir::record::HostCounters after_rdma(const std::string& device, const std::string& driver,
                                      const Rises& rises) {
    const FakeTree tree;
    FakeCalls calls;
    tree.port(device);
    tree.driver(device, driver);
    for (const auto& [name, rise] : rises) {
        tree.port_counter(device, "hw_counters/" + name, "100");
    }
    auto table = CounterTable::of_host(tree.root(), calls);
    table.read();
    for (const auto& [name, rise] : rises) {
        tree.port_counter(device, "hw_counters/" + name, std::to_string(100 + rise));
    }
    return counted(table, table.read());
}

struct Case {
    std::string driver;
    Rises rises;
    FamilySums sums;
};

}  // namespace

TEST_CASE("By driver: ethtool's counters, of queues and priorities too, none twice") {
    const std::vector<Case> cases = {
        {"mlx5_core",
         {{"rx_packets", 9},
          {"rx0_packets", 9},
          {"rx_prio3_pause", 7},
          {"rx_prio4_pause", 1},
          {"rx_global_pause", 0},
          {"rx_pause_ctrl_phy", 8},
          {"rx_prio3_pause_duration", 5000},
          {"rx_prio3_pause_transition", 2},
          {"rx_discards_phy", 30},
          {"rx_prio3_discards", 20},
          {"rx_steer_missed_packets", 99},
          {"outbound_pci_stalled_wr", 60},
          {"tx_discards_phy", 4}},
         {{"pause_frames_received", 8},
          {"pause_time_received_us", 5000},
          {"pause_transitions_received", 2},
          {"dropped_by_hosts", 34}}},
        {"bnxt_en",
         {{"[0]: rx_discards", 3},
          {"[1]: rx_discards", 4},
          {"rx_total_ring_discards", 7},
          {"rx_discard_bytes_cos3", 64000},
          {"rx_discard_packets_cos3", 40},
          {"rx_stat_discard", 40},
          {"rx_pfc_frames", 12},
          {"rx_pfc_ena_frames_pri3", 12},
          {"pfc_pri3_rx_duration_us", 900},
          {"tx_pfc_ena_frames_pri3", 6},
          {"continuous_pause_events", 2}},
         {{"dropped_by_hosts", 40},
          {"pause_frames_received", 12},
          {"pause_time_received_us", 900},
          {"pause_frames_sent", 6}}},
        {"ionic",
         {{"frames_rx_pause", 0},
          {"frames_rx_pripause", 14},
          {"rx_pripause_3_1us_count", 14000},
          {"rx_pripause_4_1us_count", 6},
          {"tx_pripause_3_1us_count", 70},
          {"frames_rx_dropped", 50},
          {"rx_0_dropped", 20},
          {"rx_1_dropped", 10},
          {"frames_rx_bad_fcs", 3},
          {"frames_rx_pri_3", 1000}},
         {{"pause_frames_received", 14},
          {"pause_time_received_us", 14006},
          {"pause_time_sent_us", 70},
          {"dropped_by_hosts", 50},
          {"damaged_packets", 3},
          {"pause_frames_sent", 0}}},
        {"ice",
         {{"rx_priority_3_xoff.nic", 5},
          {"rx_priority_4_xoff.nic", 6},
          {"link_xoff_rx.nic", 0},
          {"tx_priority_3_xoff.nic", 2},
          {"rx_priority_3_xon.nic", 90},
          {"rx_dropped.nic", 8},
          {"rx_crc_errors.nic", 1}},
         {{"pause_frames_received", 11},
          {"pause_frames_sent", 2},
          {"dropped_by_hosts", 8},
          {"damaged_packets", 1}}},
        {"i40e",
         {{"port.rx_priority_3_xoff_rx", 5},
          {"port.link_xoff_rx", 1},
          {"port.rx_priority_3_xon_2_xoff", 3},
          {"port.rx_discards", 70},
          {"veb.rx_discards", 70},
          {"port.tx_dropped_link_down", 4}},
         {{"pause_frames_received", 5}, {"pause_transitions_received", 3}, {"dropped_by_hosts", 74}}},
        {"ixgbe",
         {{"rx_no_dma_resources", 5000},
          {"hw_rx_no_dma_resources", 5000},
          {"rx_pb_3_pxoff", 4},
          {"tx_flow_control_xoff", 2},
          {"fdir_miss", 900}},
         {{"dropped_by_hosts", 5000}, {"pause_frames_received", 4}, {"pause_frames_sent", 2}}},
        {"sfc",
         {{"port_rx_nodesc_drops", 600},
          {"port_rx_pause", 9},
          {"port_rx_pm_discard_mapping", 70},
          {"port_rx_bad", 2},
          {"port_tx_pause", 3}},
         {{"dropped_by_hosts", 600},
          {"pause_frames_received", 9},
          {"damaged_packets", 2},
          {"pause_frames_sent", 3}}},
        {"be2net",
         {{"rx_drops_no_pbuf", 5000},
          {"rx_drops_no_erx_descr", 4000},
          {"pmem_fifo_overflow_drop", 100},
          {"rx_priority_pause_frames", 20},
          {"rxq0: rx_drops_no_frags", 30},
          {"rxq1: rx_drops_no_frags", 40},
          {"rx_address_filtered", 77},
          {"txq0: tx_drv_drops", 1}},
         {{"dropped_by_hosts", 5001}, {"pause_frames_received", 20}}},
        {"hns3",
         {{"mac_rx_pfc_pri3_pkt_num", 11},
          {"mac_rx_pfc_pri3_xoff_time", 44000},
          {"mac_tx_mac_pause_num", 2},
          {"rxq0_dropped", 5},
          {"rxq1_dropped", 6},
          {"mac_rx_fcs_err_pkt_num", 1}},
         {{"pause_frames_received", 11},
          {"pause_frames_sent", 2},
          {"dropped_by_hosts", 11},
          {"damaged_packets", 1}}},
        {"nfp",
         {{"mac.rx_pause_frames_class3", 8},
          {"mac.rx_pause_mac_ctrl_frames", 8},
          {"dev_rx_discards", 9},
          {"mac.tx_queue_drop", 1}},
         {{"pause_frames_received", 8}, {"dropped_by_hosts", 10}}},
        {"mana",
         {{"hc_rx_discards_no_wqe", 7},
          {"hc_rx_pkt_drop_phy", 9},
          {"hc_tc3_rx_pause_phy", 4},
          {"hc_tc3_rx_pkt_phy", 900}},
         {{"dropped_by_hosts", 9}, {"pause_frames_received", 4}}},
        {"ena",
         {{"bw_in_allowance_exceeded", 7},
          {"pps_allowance_exceeded", 9},
          {"conntrack_allowance_available", 5},
          {"queue_0_rx_empty_rx_ring", 3}},
         {{"dropped_by_hosts", 16}}},
        {"virtio_net",
         {{"rx0_drops", 7}, {"rx1_drops", 8}, {"tx0_xdp_tx_drops", 3}},
         {{"dropped_by_hosts", 15}}},
        {"tg3",
         {{"rx_xoff_pause_rcvd", 7}, {"rx_xoff_entered", 6}, {"rx_discards", 8}, {"rx_xon_pause_rcvd", 9}},
         {{"pause_frames_received", 7}, {"pause_transitions_received", 6}, {"dropped_by_hosts", 8}}},
        {"r8169", {{"rx_missed", 8}, {"align_errors", 9}}, {{"dropped_by_hosts", 8}, {"damaged_packets", 9}}},
        {"vmxnet3",
         {{"Rx Queue#", 0},
          {"  drv dropped rx total", 3},
          {"     fcs", 1},
          {"Rx Queue#", 0},
          {"  drv dropped rx total", 4},
          {"  pkts rx OOB", 2}},
         {{"dropped_by_hosts", 7}}},
        {"gve", {{"rx_no_buffers_posted[0]", 3}, {"rx_no_buffers_posted[1]", 4}}, {{"dropped_by_hosts", 7}}},
        {"fun",
         {{"mac_rx_CBFCPAUSE3", 4}, {"mac_rx_drop_events", 5}},
         {{"pause_frames_received", 4}, {"dropped_by_hosts", 5}}},
        {"bna",
         {{"bpc_rx_pause_3", 4},
          {"bpc_rx_first_pause_3", 1},
          {"bpc_rx_zero_pause_3", 9},
          {"rxf0_frame_drops", 3}},
         {{"pause_frames_received", 4}, {"pause_transitions_received", 1}, {"dropped_by_hosts", 3}}},
        {"fsl_dpaa2_eth",
         {{"[hw] rx nobuffer discards", 4}, {"[mac] rx pause", 5}, {"[mac] tx b-pause", 6}},
         {{"dropped_by_hosts", 4}, {"pause_frames_received", 5}, {"pause_frames_sent", 6}}},
        {"stmmac",
         {{"mmc_rx_fifo_overflow", 4}, {"mmc_rx_crc_error", 5}, {"mmc_rx_discard_octets_gb", 900}},
         {{"dropped_by_hosts", 4}, {"damaged_packets", 5}}},
        {"thunder-nicvf",
         {{"rx_drop_overrun", 4}, {"rx_drop_overrun_bytes", 4000}, {"rx_drop_mcast", 9}},
         {{"dropped_by_hosts", 4}}},
    };
    for (const Case& one : cases) {
        INFO(one.driver);
        const FamilySums sums = families_of(after(one.driver, one.rises));
        for (const auto& [family, sum] : one.sums) {
            INFO(family);
            CHECK((sum == 0 || sums.contains(family)));
            CHECK((sum == 0 || sums.at(family) == sum));
        }
        for (const auto& [family, sum] : sums) {
            INFO(family << " " << sum);
            CHECK((sum == 0 || one.sums.contains(family)));
        }
    }
}

TEST_CASE("By driver: what RDMA devices count") {
    const std::vector<std::pair<std::string, Case>> cases = {
        {"mlx5_0",
         {"mlx5_core",
          {{"out_of_sequence", 1},
           {"packet_seq_err", 2},
           {"local_ack_timeout_err", 3},
           {"rp_cnp_ignored", 99},
           {"np_ecn_marked_roce_packets", 4},
           {"rx_write_requests", 1000}},
          {{"out_of_sequence", 1}, {"sequence_errors", 2}, {"ack_timeouts", 3}, {"ecn_marked_packets", 4}}}},
        {"bnxt_re0",
         {"bnxt_en",
          {{"oos_drop_count", 1},
           {"to_retransmits", 2},
           {"rx_cnp_pkts", 3},
           {"active_qps", 12},
           {"rx_roce_discards", 4},
           {"rx_pkts", 1000}},
          {{"out_of_sequence", 1},
           {"ack_timeouts", 2},
           {"cnp_handled", 3},
           {"dropped_by_hosts", 4},
           {"received_packets", 1000}}}},
        {"ionic_0",
         {"ionic",
          {{"tx_rdma_retx_pkts", 1},
           {"tx_rdma_ack_timeout", 2},
           {"req_rx_pkt_seq_err", 3},
           {"resp_rx_outouf_seq", 4},
           {"rx_rdma_ecn_pkts", 5},
           {"resp_rx_outof_buf", 6},
           {"tx_rdma_retx_bytes", 4096},
           {"req_tx_retry_excd_err", 7},
           {"tx_rdma_cnp_pkts", 8}},
          {{"rdma_retransmissions", 1},
           {"ack_timeouts", 2},
           {"sequence_errors", 3},
           {"out_of_sequence", 4},
           {"ecn_marked_packets", 5},
           {"dropped_by_hosts", 6},
           {"rdma_given_up", 7},
           {"cnp_sent", 8}}}},
        {"rocep1s0f0",
         {"irdma",
          {{"Nak Sequence Error", 1},
           {"Rcvd Out of order packets", 2},
           {"RTO", 3},
           {"cnpSent", 4},
           {"RetransSegs", 5},
           {"ip4InOctets", 1000}},
          {{"sequence_errors", 1},
           {"out_of_sequence", 2},
           {"ack_timeouts", 3},
           {"cnp_sent", 4},
           {"rdma_retransmissions", 5}}}},
        {"mana_0",
         {"mana",
          {{"requester_timeout", 1},
           {"responder_oos", 2},
           {"requester_oos_nak", 3},
           {"received_cnps", 4},
           {"requester_retries_exceeded", 5},
           {"current_rate", 1000}},
          {{"ack_timeouts", 1},
           {"out_of_sequence", 2},
           {"sequence_errors", 3},
           {"cnp_handled", 4},
           {"rdma_given_up", 5}}}},
        {"efa_0",
         {"efa",
          {{"retrans_pkts", 1}, {"rx_drops", 2}, {"retrans_timeout_events", 3}, {"retrans_bytes", 8192}},
          {{"rdma_retransmissions", 1}, {"dropped_by_hosts", 2}, {"ack_timeouts", 3}}}},
        {"hns_0",
         {"hns3",
          {{"tx_cnp_pkt", 1}, {"rx_cnp_pkt", 2}, {"rx_pkt", 1000}},
          {{"cnp_sent", 1}, {"cnp_handled", 2}, {"received_packets", 1000}}}},
        {"erdma_0",
         {"erdma", {{"rx_bps_limit_drop_cnt", 1}, {"tx_pps_limit_drop_cnt", 2}}, {{"dropped_by_hosts", 3}}}},
        {"cxgb4_0", {"cxgb4", {{"ip4RetransSegs", 1}, {"ip4OutRsts", 9}}, {{"rdma_retransmissions", 1}}}},
        {"mlx4_0",
         {"mlx4_core", {{"rq_num_oos", 1}, {"sq_num_to", 2}}, {{"out_of_sequence", 1}, {"ack_timeouts", 2}}}},
        {"rxe0", {"rxe", {{"completer_retry_err", 1}, {"rcvd_rnr_err", 9}}, {{"rdma_retransmissions", 1}}}},
    };
    for (const auto& [device, one] : cases) {
        INFO(device);
        CHECK(families_of(after_rdma(device, one.driver, one.rises)) == one.sums);
    }
}

TEST_CASE("Counters of a whole RDMA device are read beside those of its only port") {
    const FakeTree tree;
    FakeCalls calls;
    tree.port("mana_0");
    tree.port_counter("mana_0", "hw_counters/responder_oos", "1");
    tree.port_counter("mana_0", "hw_counters/rate_inc_events", "1");
    tree.write("sys/class/infiniband/mana_0/hw_counters/received_ecns", "5\n");
    tree.write("sys/class/infiniband/mana_0/hw_counters/rate_inc_events", "5\n");
    CHECK(CounterTable::of_host(tree.root(), calls).columns() ==
          std::vector<std::string>{"mana_0.rate_inc_events", "mana_0.responder_oos", "mana_0.received_ecns"});
}

TEST_CASE("A bond and its members: packets and drops count once") {
    const FakeTree tree;
    FakeCalls calls;
    for (const char* name : {"bond0", "eth0", "eth1", "eth2"}) {
        tree.interface(name);
        tree.statistic(name, "rx_packets", 1000);
        tree.statistic(name, "rx_missed_errors", 0);
    }
    tree.write("sys/class/net/bond0/lower_eth0/x", "");
    tree.write("sys/class/net/bond0/lower_eth1/x", "");
    tree.write("sys/class/net/eth2/lower_elsewhere/x", "");
    auto table = CounterTable::of_host(tree.root(), calls);
    CHECK(table.made_of_others() == std::vector<std::string>{"bond0"});
    table.read();
    for (const auto& [name, rise] : Rises{{"bond0", 30}, {"eth0", 10}, {"eth1", 20}, {"eth2", 5}}) {
        tree.statistic(name, "rx_packets", 1000 + rise);
        tree.statistic(name, "rx_missed_errors", rise);
    }
    const weir::record::HostCounters host = counted(table, table.read());
    CHECK(families_of(host) == FamilySums{{"received_packets", 35}, {"dropped_by_hosts", 35}});
    CHECK(families_by_source(host).at("bond0").at("dropped_by_hosts") == 30);
}

TEST_CASE("Hostile lists of a driver: thousands of names, equal ones, and a wrap at 2^32") {
    Rises many;
    for (int i = 0; i < 10000; ++i) {
        many.emplace_back("dropped_by_thing_" + std::to_string(i), 1);
    }
    many.emplace_back("rx_prio3_pause", 5);
    many.emplace_back("rx_prio3_pause", 6);
    many.emplace_back(std::string(31, '\x7f'), 1);
    many.emplace_back("", 1);
    const weir::record::HostCounters host = after("mlx5_core", many);
    CHECK(host.sums.size() == 192);
    CHECK(host.sums.front().column == "eth0.rx_prio3_pause");
    CHECK(host.sums.front().sum == 11U);

    constexpr std::uint64_t nearly = 0xfffffff0;
    CHECK(families_of(after("be2net", {{"rx_drops_no_pbuf", std::uint64_t{0} - nearly + 4}}, nearly)) ==
          FamilySums{{"dropped_by_hosts", 20}});
    CHECK(families_of(after(
              "be2net",
              {{"rxq0: rx_drops_no_frags", 3}, {"rxq1: rx_drops_no_frags", std::uint64_t{0} - nearly + 4}},
              nearly)) == FamilySums{{"dropped_by_hosts", 23}});
}

}  // namespace driver_counters_test
