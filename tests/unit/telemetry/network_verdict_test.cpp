// What the network did, from made-up sums of hosts.
#include "telemetry/network_verdict.hpp"

#include <utility>

#include "catch.hpp"
#include "telemetry/counter_meaning.hpp"

using namespace weir::core;
using namespace weir::telemetry;

namespace {

using Sums = std::vector<CounterSum>;

/// A host on which everything is counted and nothing happened, but for `sums`.
HostCounters roce_host(std::string name, Sums sums) {
    HostCounters host;
    host.host = std::move(name);
    host.handed_in = true;
    host.seconds = 10;
    host.sums = {{"mlx5_0.port_rcv_bytes", 10'000'000'000},
                 {"mlx5_0.port_rcv_packets", 2'500'000},
                 {"mlx5_0.np_cnp_sent", 0},
                 {"mlx5_0.rp_cnp_handled", 0},
                 {"mlx5_0.out_of_sequence", 0},
                 {"eth0.rx_bytes", 5000},
                 {"eth0.rx_prio3_pause", 0},
                 {"tcp.retransmitted_segments", 0}};
    host.sums.insert(host.sums.end(), sums.begin(), sums.end());
    return host;
}

NetworkVerdict judged(const std::vector<HostCounters>& hosts) {
    return judge_network(hosts, {10'000'000'000});
}

using Mechanisms = std::vector<NetworkMechanism>;

void check_says(const NetworkVerdict& verdict, const std::vector<std::string>& parts) {
    INFO(verdict.evidence);
    for (const std::string& part : parts) {
        INFO(part);
        CHECK(verdict.evidence.find(part) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("Nothing happened: uncongested") {
    const NetworkVerdict verdict = judged({roce_host("eb01", {}), roce_host("eb02", {})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::uncongested});
    CHECK(verdict.evidence == "uncongested: no losses, pauses or marks in 16 counters of 2 hosts");
}

TEST_CASE("A few of anything are normal, and told") {
    const NetworkVerdict verdict = judged({roce_host("eb01", {{"tcp.timeouts", 9}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::uncongested});
    CHECK(verdict.evidence == "uncongested: no more than 9 tcp.timeouts (on eb01) in 9 counters of 1 host");
}

TEST_CASE("One in a million packets is few, too") {
    const Sums packets = {{"mlx5_1.port_rcv_packets", 100'000'000}, {"mlx5_1.rx_bytes", 0}};
    Sums few = packets;
    few.push_back({"mlx5_1.out_of_sequence", 102});
    CHECK(judged({roce_host("eb01", few)}).mechanisms == Mechanisms{NetworkMechanism::lossy});
    few.back().sum = 101;
    CHECK(judged({roce_host("eb01", few)}).mechanisms == Mechanisms{NetworkMechanism::uncongested});
}

TEST_CASE("Pauses: held back, with the time where it is known") {
    const NetworkVerdict verdict = judged(
        {roce_host("eb01", {{"eth0.rx_prio3_pause_duration", 1'500'000}, {"eth0.rx_prio4_pause", 700}}),
         roce_host("eb02", {{"eth1.rx_prio4_pause", 300}, {"eth1.tx_prio4_pause", 20}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::held_back_by_pfc});
    CHECK(verdict.evidence ==
          "held back by PFC: 1000 rx_prio4_pause (most on eb01: 700), 20 tx_prio4_pause (on eb02); "
          "1.50 s of rx_prio3_pause_duration (on eb01)");
}

TEST_CASE("Marks and notifications: controlled by ECN") {
    const NetworkVerdict verdict = judged({roce_host("eb01", {{"mlx5_1.np_cnp_sent", 400}}),
                                           roce_host("eb02", {{"mlx5_1.rp_cnp_handled", 390}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::controlled_by_ecn});
    check_says(verdict, {"controlled by ECN: 400 np_cnp_sent (on eb01), 390 rp_cnp_handled (on eb02)"});
}

TEST_CASE("Losses: lossy, the largest kinds named") {
    const NetworkVerdict verdict =
        judged({roce_host("fn07", {{"mlx5_0.packet_seq_err", 40}, {"eth0.rx_discards_phy", 5000}}),
                roce_host("fn08", {{"softnet.dropped", 12}, {"udp.receive_buffer_errors", 11}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(verdict.evidence ==
          "lossy: 5000 rx_discards_phy (on fn07), 40 packet_seq_err (on fn07), 12 softnet.dropped (on fn08) "
          "and 1 other kind");
}

TEST_CASE("Several at once: all are told, the worst first") {
    const NetworkVerdict verdict = judged({roce_host("eb01", {{"eth0.rx_prio3_pause_duration", 900},
                                                              {"eth1.rx_pause", 90000},
                                                              {"mlx5_0.rx_ecn_marked_pkts", 200},
                                                              {"mlx5_0.local_ack_timeout_err", 30}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy, NetworkMechanism::held_back_by_pfc,
                                           NetworkMechanism::controlled_by_ecn});
    check_says(verdict,
               {"lossy: 30 local_ack_timeout_err (on eb01); held back by PFC: 90000 rx_pause (on eb01)",
                "; controlled by ECN: 200 rx_ecn_marked_pkts (on eb01)"});
}

TEST_CASE("Without counters nothing is known") {
    CHECK(judged({}).mechanisms == Mechanisms{NetworkMechanism::unknown});
    HostCounters empty;
    empty.host = "eb01";
    CHECK(judged({empty}).mechanisms == Mechanisms{NetworkMechanism::unknown});
    empty.handed_in = true;
    empty.seconds = 10;
    empty.sums = {{"eth0.rx_bytes", 20'000'000'000}, {"tcp.timeouts", {}}};
    const NetworkVerdict verdict = judged({empty});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::unknown});
    CHECK(verdict.evidence == "unknown: no host has counters that would tell");
    CHECK(network_not_judged().mechanisms == Mechanisms{NetworkMechanism::unknown});
}

TEST_CASE("Data that did not come through the interfaces cannot be judged by them") {
    HostCounters host = roce_host("eb01", {{"tcp.timeouts", 500}});
    host.sums[0].sum = 99'000'000;
    NetworkVerdict verdict = judged({host});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::unknown});
    CHECK(verdict.evidence ==
          "unknown: interfaces took in 99.00 MB of 10.00 GB (ranks on one host go through its memory)");

    host.sums[0].sum = 100'000'000;
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::lossy});

    // What goes through a device that does not count bytes is not known.
    host.sums[0].sum = 0;
    host.sums.push_back({"rxe0.sent_pkts", 5});
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::lossy});
}

TEST_CASE("It is said where pauses would not have been seen") {
    HostCounters host;
    host.host = "a";
    host.handed_in = true;
    host.seconds = 1;
    host.sums = {{"veth0.rx_bytes", 10'000'000'000}, {"tcp.retransmitted_segments", 0}};
    check_says(judged({host}), {"uncongested: ", "; pause frames are not counted here"});
    check_says(judged({host, roce_host("b", {})}), {"; pause frames are not counted on 1 of 2 hosts"});
}

TEST_CASE("Names of counters: what each tells") {
    using M = CounterMeaning;
    const std::vector<std::pair<const char*, M>> known = {
        {"mlx5_0.out_of_sequence", M::lost},
        {"bnxt_re0.oos_drop_count", M::lost},
        {"bnxt_re0.tx_roce_discards", M::lost},
        {"rxe0.out_of_seq_request", M::lost},
        {"rxe0.completer_retry_err", M::lost},
        {"rxe0.rcvd_rnr_err", M::none},
        {"eth0.rx_prio3_buf_discard", M::lost},
        {"eth0.qdisc_drops", M::lost},
        {"tcp.retransmitted_segments", M::lost},
        {"ip.reassembly_failures", M::lost},
        {"eth0.rx_dropped", M::none},
        {"mlx5_0.rnr_nak_retry_err", M::none},
        {"mlx5_0.duplicate_request", M::none},
        {"tcp.loss_probes", M::none},
        {"mlx5_0.np_ecn_marked_roce_packets", M::marked},
        {"mlx5_0.rp_cnp_ignored", M::none},
        {"bnxt_re0.tx_cnp_pkts", M::marked},
        {"irdma0.cnpHandled", M::marked},
        {"irdma0.RxECNMrkd", M::marked},
        {"ip.received_ce_packets", M::marked},
        {"eth0.rx_prio3_marked", M::marked},
        {"eth0.rx_prio3_pause", M::pause_received},
        {"eth0.tx_global_pause", M::pause_sent},
        {"eth0.port_link_xoff_rx", M::pause_received},
        {"eth0.port_link_xon_rx", M::none},
        {"eth0.rx_pfc_ena_frames_pri3", M::pause_received},
        {"eth0.rx_prio3_pause_duration", M::pause_microseconds},
        {"eth0.tx_prio3_pause_duration", M::none},
        {"eth0.rx_prio3_pause_transition", M::none},
        {"eth0.tx_pause_storm_warning_events", M::none},
        {"eth0.100.rx_bytes", M::received_bytes},
        {"mlx5_0.port_rcv_bytes", M::received_bytes},
        {"mlx5_0.port_xmit_wait", M::none},
        {"rxe0.rcvd_pkts", M::received_packets},
    };
    for (const auto& [column, meaning] : known) {
        INFO(column);
        CHECK(meaning_of(column) == meaning);
    }
}
