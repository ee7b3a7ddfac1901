// What the network did, from made-up sums of hosts.
#include "judge/network_verdict.hpp"

#include <utility>

#include "catch.hpp"
#include "judge/network_findings.hpp"
#include "record/counter_meaning.hpp"

using namespace weir::core;
using namespace weir::judge;
using namespace weir::record;

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

NetworkVerdict judged(const std::vector<HostCounters>& hosts, const OwnLosses& own = {}) {
    return judge_network(hosts, {10'000'000'000}, own);
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

TEST_CASE("Nothing happened: nothing was counted") {
    const NetworkVerdict verdict = judged({roce_host("eb01", {}), roce_host("eb02", {})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
    CHECK(verdict.evidence ==
          "no loss, pause, mark or notification was counted in 10 known counters of 2 hosts");
}

TEST_CASE("A few counts of anything are normal, and reported") {
    const NetworkVerdict verdict = judged({roce_host("eb01", {{"tcp.timeouts", 9}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
    CHECK(verdict.evidence ==
          "no losses, pauses, marks or notifications to speak of were counted: 9 tcp.timeouts (each for a "
          "burst, "
          "on eb01) in 6 known counters of 1 host");
}

TEST_CASE(
    "An unknown counter that moved is named, and one that sounds like losses leaves the question open") {
    const Sums few = {{"nic9_0.tx_rtx_frags", 3}, {"nic9_0.rx_ok", 500'000}, {"nic9_0.rx_idle", 0}};
    NetworkVerdict verdict = judged({roce_host("eb01", few), roce_host("eb02", {})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
    CHECK(verdict.evidence ==
          "no loss, pause, mark or notification was counted in 10 known counters of 2 hosts; 2 counters of "
          "nic9_0 on "
          "eb01 moved whose meaning is not known: 500000 rx_ok, 3 tx_rtx_frags");
    for (const char* name :
         {"nic9_0.tx_retx_pkts", "nic9_0.rx_seq_err", "nic9_0.outof_window", "nic9_0.rx_Dropping",
          "nic9_0.rx_pause_ns", "nic9_0.ecn_seen", "nic9_0.cnp_rate", "nic9_0.pkt_discarded"}) {
        INFO(name);
        Sums sums = few;
        sums.push_back({name, 20});
        verdict = judged({roce_host("eb01", sums), roce_host("eb02", sums)});
        CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::unknown});
        check_says(
            verdict,
            {"unknown: no loss, pause, mark or notification was counted in 10 known counters of 2 hosts",
             "3 counters of nic9_0 on 2 hosts moved whose meaning is not known: 40 " +
                 std::string(counter_of(name)) + ", 1000000 rx_ok, 6 tx_rtx_frags"});
        sums.back().sum = 4;
        CHECK(judged({roce_host("eb01", sums)}).mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
    }
}

TEST_CASE("Beside a mechanism unknown counters are named only if they sound like another") {
    const Sums lost = {{"mlx5_0.out_of_sequence", 1000}, {"nic9_0.rx_ok", 50'000}};
    CHECK(judged({roce_host("eb01", lost)}).evidence.find("not known") == std::string::npos);
    Sums paused = lost;
    for (const char* name : {"nic9_0.rx_pause", "nic9_1.pause_a", "nic9_1.pause_b", "nic9_1.pause_c"}) {
        paused.push_back({name, 3000});
    }
    paused[2].column = "nic9_0.pause_z";
    const NetworkVerdict verdict = judged({roce_host("eb01", paused)});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    check_says(
        verdict,
        {"5 counters of 2 devices on eb01 moved whose meaning is not known: 3000 pause_a, 3000 pause_b, "
         "3000 pause_c and 2 others"});
}

TEST_CASE(
    "Counters that are gone or were reset leave it open what was counted, and sums are of part of the run") {
    HostCounters host = roce_host("eb02", {});
    for (CounterSum& counter : host.sums) {
        if (source_of(counter.column) == "mlx5_0") {
            counter.gone_from = -2;
        }
    }
    NetworkVerdict verdict = judged({roce_host("eb01", {}), host});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::unknown});
    check_says(verdict, {"unknown: no loss, pause, mark or notification was counted in 10 known counters",
                         "; the counters of mlx5_0 on eb02 are missing from second 0 on"});
    host = roce_host("eb02", {});
    host.sums[4] = {"mlx5_0.out_of_sequence", 40000};
    host.sums[4].gone_from = 2;
    host.sums[6].reset_in = 3;
    verdict = judged({roce_host("eb01", {}), host});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    check_says(verdict,
               {"40000 out_of_sequence (on eb02, in part of the run)",
                "; the counter of eth0 on eb02 was reset in second 3; 1 counter of mlx5_0 on eb02 is missing "
                "from second 2 on: out_of_sequence"});
    HostCounters other = host;
    other.host = "eb03";
    other.sums[4].gone_from = 1;
    check_says(judged({roce_host("eb01", {}), host, other}),
               {"; the counter of eth0 on eb02 and 1 other host was reset, first in second 3; 1 counter of "
                "mlx5_0 on "
                "eb03 and 1 other host is missing, first from second 1 on: out_of_sequence"});
    host.sums[0].sum.reset();
    host.sums.resize(5);
    check_says(judge_network(std::vector{host}, {10'000'000'000}, {}),
               {"unknown: ", "is missing from second 2 on"});
}

TEST_CASE("What a bond counts is what its members count") {
    HostCounters host = roce_host("eb01", {{"bond0.rx_missed_errors", 100},
                                           {"bond0.rx_bytes", 20'000'000'000},
                                           {"eth0.rx_missed_errors", 70},
                                           {"eth1.rx_missed_errors", 30},
                                           {"bond0.qdisc_drops", 50}});
    host.made_of_others = {"bond0"};
    CHECK(find_in_counters(std::vector{host}, false).bytes == 10'000'000'000);
    check_says(judged({host}), {"hosts dropped 100 rx_missed_errors (on eb01), 50 qdisc_drops"});
    CHECK(families_of(host).at("dropped_by_hosts") == 150);
}

TEST_CASE("A full link without losses has no room: how full the busiest one was is said") {
    // 10 GB in 10 s are 8 Gb/s.
    HostCounters full = roce_host("eb01", {});
    HostCounters idle = roce_host("eb02", {});
    idle.sums[0].sum = 1'000'000'000;
    std::vector hosts{full, idle};
    CHECK(busiest_link(hosts).text ==
          "the busiest interface, mlx5_0 on eb01, received 8 Gb/s, and its speed is not known");
    CHECK_FALSE(busiest_link(hosts).use);
    for (HostCounters& host : hosts) {
        host.settings =
            R"({"interfaces": [{"name": "eth0", "speed_bits_per_second": 10000000000}],
                "rdma_ports": [{"device": "mlx5_0", "port": 1, "speed_bits_per_second": 10000000000}]})";
    }
    CHECK(busiest_link(hosts).text ==
          "the busiest interface, mlx5_0 on eb01, received 8 Gb/s, 80 % of its 10 Gb/s");
    CHECK(busiest_link(hosts).use == 0.8);
    const NetworkVerdict verdict = judge_network(hosts, {10'000'000'000}, {}, busiest_link(hosts).text);
    CHECK(verdict.evidence ==
          "no loss, pause, mark or notification was counted in 10 known counters of 2 hosts; the busiest "
          "interface, "
          "mlx5_0 on eb01, received 8 Gb/s, 80 % of its 10 Gb/s");
}

TEST_CASE("A slow link counts before a fast one that carries more, in both directions") {
    HostCounters fast = roce_host("eb01", {});
    fast.sums = {{"eth0.rx_bytes", 10'000'000'000}, {"tcp.retransmitted_segments", 0}};
    fast.settings = R"({"interfaces": [{"name": "eth0", "speed_bits_per_second": 100000000000}]})";
    HostCounters slow = fast;
    slow.host = "eb02";
    slow.sums[0] = {"eth0.tx_bytes", 1'200'000'000};
    slow.settings = R"({"interfaces": [{"name": "eth0", "speed_bits_per_second": 1000000000}]})";
    CHECK(busiest_link(std::vector{fast, slow}).text ==
          "the busiest interface, eth0 on eb02, sent 960 Mb/s, 96 % of its 1 Gb/s");
    // One speed that is not known: the most bytes.
    slow.settings =
        R"({"interfaces": [{"name": 7, "speed_bits_per_second": "fast"}, null], "rdma_ports": 3})";
    CHECK(busiest_link(std::vector{fast, slow}).text.find("eth0 on eb01, received 8 Gb/s, 8 %") !=
          std::string::npos);
    fast.seconds = 0;
    slow.handed_in = false;
    CHECK(busiest_link(std::vector{fast, slow}).text.empty());
}

TEST_CASE("One in a million packets is few, too") {
    const Sums packets = {{"mlx5_1.port_rcv_packets", 100'000'000}, {"mlx5_1.rx_bytes", 0}};
    Sums few = packets;
    few.push_back({"mlx5_1.out_of_sequence", 102});
    CHECK(judged({roce_host("eb01", few)}).mechanisms == Mechanisms{NetworkMechanism::lossy});
    few.back().sum = 101;
    CHECK(judged({roce_host("eb01", few)}).mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
}

TEST_CASE("Pauses: held back, with the time where it is known") {
    const NetworkVerdict verdict = judged(
        {roce_host("eb01", {{"eth0.rx_prio3_pause_duration", 1'500'000}, {"eth0.rx_prio4_pause", 700}}),
         roce_host("eb02", {{"eth1.rx_prio4_pause", 300}, {"eth1.tx_prio4_pause", 20}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::held_back_by_pfc});
    CHECK(verdict.evidence ==
          "PFC paused senders: hosts were stopped by 1000 rx_prio4_pause (most on eb01: 700); 1.5 s of "
          "rx_prio3_pause_duration (on eb01); hosts sent 20 tx_prio4_pause (on eb02)");
}

TEST_CASE("Pauses that were only sent: not known whether the switch stopped") {
    const Sums sent = {{"eth0.tx_prio3_pause", 5000}, {"eth0.tx_prio3_pause_duration", 250'000}};
    const NetworkVerdict verdict = judged({roce_host("fn01", sent), roce_host("eb01", {})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::pauses_sent});
    CHECK(verdict.evidence ==
          "pauses sent: 5000 tx_prio3_pause (on fn01); 250 ms of tx_prio3_pause_duration (on fn01); hosts "
          "received few or none, so it is not known whether the switch obeyed them");

    const NetworkVerdict lost =
        judged({roce_host("fn01", sent), roce_host("eb01", {{"mlx5_0.packet_seq_err", 40}})});
    CHECK(lost.mechanisms == Mechanisms{NetworkMechanism::lossy, NetworkMechanism::pauses_sent});
    check_says(lost, {"whether the switch obeyed them, and packets were lost"});
}

TEST_CASE("Marks, and the notifications that answer them: controlled by ECN") {
    const NetworkVerdict verdict =
        judged({roce_host("eb01", {{"mlx5_1.np_ecn_marked_roce_packets", 4000}, {"mlx5_1.np_cnp_sent", 400}}),
                roce_host("eb02", {{"mlx5_1.rp_cnp_handled", 390}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::controlled_by_ecn});
    CHECK(verdict.evidence ==
          "ECN slowed senders: 4000 np_ecn_marked_roce_packets (on eb01), 400 np_cnp_sent (on eb01), 390 "
          "rp_cnp_handled (on eb02)");
}

TEST_CASE("Notifications are no proof that the switch marks") {
    const HostCounters heeding = roce_host("eb02", {{"mlx5_1.rp_cnp_handled", 390}});
    NetworkVerdict verdict = judged({roce_host("eb01", {{"mlx5_1.np_cnp_sent", 400}}), heeding});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::slowed_by_cnp});
    CHECK(
        verdict.evidence ==
        "CNPs slowed senders: 400 np_cnp_sent (on eb01), 390 rp_cnp_handled (on eb02); marks are not counted "
        "on these hosts, so the switch may not mark at all: receivers also send CNPs when packets arrive "
        "out of order");
    verdict =
        judged({roce_host("eb01", {{"mlx5_1.np_cnp_sent", 400}, {"mlx5_1.np_ecn_marked_roce_packets", 0}}),
                heeding});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::slowed_by_cnp});
    check_says(verdict, {"; few or no marks are counted, so the switch may not mark at all"});
}

TEST_CASE("Losses at hosts and traces of losses are distinguished, the largest kinds named") {
    const NetworkVerdict verdict =
        judged({roce_host("fn07", {{"mlx5_0.packet_seq_err", 40}, {"eth0.rx_discards_phy", 5000}}),
                roce_host("fn08", {{"softnet.dropped", 12},
                                   {"udp.receive_buffer_errors", 11},
                                   {"eth0.rx_missed_errors", 10}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(verdict.evidence ==
          "lossy: hosts dropped 5000 rx_discards_phy (on fn07), 12 softnet.dropped (on fn08), 11 "
          "udp.receive_buffer_errors (on fn08) and 1 other kind; out of order or retransmitted: 40 "
          "packet_seq_err (each for a burst, on fn07)");
}

TEST_CASE("What a switch drops shows with the hosts as out of order or sent again") {
    const NetworkVerdict verdict = judged({roce_host("fn07", {{"mlx5_1.out_of_sequence", 800}}),
                                           roce_host("eb01", {{"mlx5_0.packet_seq_err", 11}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(
        verdict.evidence ==
        "lossy: out of order or retransmitted: 800 out_of_sequence (on fn07), 11 packet_seq_err (each for a "
        "burst, "
        "on eb01); no host dropped packets, so they were lost between hosts or overtook each other");
}

TEST_CASE("A NAK stands for a burst, so few of them are not few") {
    Sums sums = {{"mlx5_1.port_rcv_packets", 1'000'000'000}, {"mlx5_1.rx_bytes", 0}};
    sums.push_back({"mlx5_1.packet_seq_err", 20});
    CHECK(judged({roce_host("eb01", sums)}).mechanisms == Mechanisms{NetworkMechanism::lossy});
    sums.back() = {"mlx5_1.out_of_sequence", 20};
    CHECK(judged({roce_host("eb01", sums)}).mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
}

TEST_CASE("Time-outs are no losses where what was sent again had come before, and no packet was missing") {
    const Sums late{{"mlx5_0.local_ack_timeout_err", 60}, {"mlx5_0.duplicate_request", 40}};
    const NetworkVerdict verdict = judged({roce_host("eb01", late)});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
    check_says(verdict, {"acknowledgements did not come within the time-out", "60 local_ack_timeout_err"});
    Sums lost = late;
    lost.push_back({"mlx5_0.packet_seq_err", 20});
    CHECK(judged({roce_host("eb01", lost)}).mechanisms == Mechanisms{NetworkMechanism::lossy});
    // Too few among so many packets to be named, but some were lost.
    Sums some = late;
    some.push_back({"mlx5_1.port_rcv_packets", 100'000'000});
    some.push_back({"mlx5_1.out_of_sequence", 50});
    check_says(judged({roce_host("eb01", some)}),
               {"out of order or retransmitted: 60 local_ack_timeout_err"});
    Sums once{{"mlx5_0.local_ack_timeout_err", 60}, {"mlx5_0.duplicate_request", 20}};
    CHECK(judged({roce_host("eb01", once)}).mechanisms == Mechanisms{NetworkMechanism::lossy});
    once[1].sum = 0;
    CHECK(judged({roce_host("eb01", once)}).mechanisms == Mechanisms{NetworkMechanism::lossy});
}

TEST_CASE("The run's own losses are always reported") {
    const std::vector<HostCounters> quiet = {roce_host("eb01", {})};
    NetworkVerdict verdict =
        judged(quiet, {.datagrams = true, .missing_datagrams = 128, .dropped_at_sockets = 100});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(verdict.evidence ==
          "lossy: 128 datagrams of the run did not arrive, 100 of them dropped at full sockets of consumers");
    verdict = judged(quiet, {.datagrams = true, .given_up_events = 92});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(verdict.evidence == "lossy: consumers gave up 92 events");
    // One is not few here: it is the run's own, and no noise of the host.
    CHECK(judged(quiet, {.datagrams = true, .missing_datagrams = 1}).mechanisms ==
          Mechanisms{NetworkMechanism::lossy});
    CHECK(judged(quiet, {.datagrams = true}).mechanisms == Mechanisms{NetworkMechanism::nothing_counted});

    // Over a reliable transport, not the network has lost what never became complete.
    CHECK(judged(quiet, {.given_up_events = 92}).mechanisms == Mechanisms{NetworkMechanism::nothing_counted});

    // Also where counters show nothing.
    verdict = judge_network({}, {0}, {.datagrams = true, .missing_datagrams = 5, .given_up_events = 2});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(verdict.evidence ==
          "lossy: 5 datagrams of the run did not arrive; consumers gave up 2 events; counters do not show "
          "where: no host has counters of lost packets");
}

TEST_CASE("Pauses that stopped no host for long are shown, and are no mechanism") {
    const Sums few = {{"eth0.rx_prio3_pause", 400}, {"eth0.rx_prio3_pause_duration", 9'999}};
    NetworkVerdict verdict = judged({roce_host("eb01", few)});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
    check_says(verdict, {"to speak of were counted: ", "400 rx_prio3_pause", "of rx_prio3_pause_duration"});

    Sums marked = few;
    marked.push_back({"mlx5_0.np_ecn_marked_roce_packets", 5000});
    verdict = judged({roce_host("eb01", marked)});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::controlled_by_ecn});
    check_says(verdict, {"; pauses were too short to matter: 400 rx_prio3_pause (on eb01); "});

    // Ten seconds: a thousandth.
    verdict =
        judged({roce_host("eb01", {{"eth0.rx_prio3_pause", 400}, {"eth0.rx_prio3_pause_duration", 10'000}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::held_back_by_pfc});
}

TEST_CASE("Several at once: all are reported, the worst first") {
    const NetworkVerdict verdict = judged({roce_host("eb01", {{"eth0.rx_prio3_pause_duration", 900},
                                                              {"eth1.rx_pause", 90000},
                                                              {"mlx5_0.rx_ecn_marked_pkts", 200},
                                                              {"mlx5_0.local_ack_timeout_err", 30}})});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::lossy, NetworkMechanism::held_back_by_pfc,
                                           NetworkMechanism::controlled_by_ecn});
    check_says(
        verdict,
        {"lossy: out of order or retransmitted: 30 local_ack_timeout_err (each for a burst, on eb01); ",
         "; PFC paused senders: hosts were stopped by 90000 rx_pause (on eb01); 900 us of",
         "; ECN slowed senders: 200 rx_ecn_marked_pkts (on eb01)"});
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
    CHECK(verdict.evidence == "unknown: no host has counters of lost packets");
    CHECK(network_not_judged().mechanisms == Mechanisms{NetworkMechanism::unknown});
}

TEST_CASE("Data that did not come through the interfaces cannot be judged by them") {
    HostCounters host = roce_host("eb01", {{"tcp.timeouts", 500}});
    host.sums[0].sum = 99'000'000;
    NetworkVerdict verdict = judged({host});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::unknown});
    CHECK(verdict.evidence ==
          "unknown: only 99 MB of 10 GB came through interfaces (ranks on one host exchange data "
          "through memory)");

    host.sums[0].sum = 100'000'000;
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::lossy});

    // For a device that does not count bytes, packets tell how much it can have been; without these, nothing
    // is known of it.
    host.sums[0].sum = 0;
    host.sums.push_back({"rxe0.sent_pkts", 5});
    check_says(judged({host}),
               {"unknown: only 5 kB of 10 GB came through interfaces (rxe0 on eb01 does not count"});
    host.sums.push_back({"rxe0.rcvd_pkts", 2'000'000});
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::lossy});
    host.sums.back().sum = 100;
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::unknown});
}

TEST_CASE("A run that went through memory shows nothing of the network") {
    HostCounters host = roce_host("eb01", {});
    host.sums[0].sum = 10'000'000'000 / 12;
    const NetworkVerdict verdict = judged({host});
    CHECK(verdict.mechanisms == Mechanisms{NetworkMechanism::unknown});
    CHECK(verdict.evidence ==
          "unknown: only 833 MB of 10 GB came through interfaces, without losses, pauses or marks (ranks "
          "on one host exchange data through memory)");
    host.sums[0].sum = 5'000'000'000;
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::nothing_counted});

    // A run that received nothing shows nothing of the network.
    CHECK(judge_network(std::vector{host}, {0}).mechanisms == Mechanisms{NetworkMechanism::unknown});
}

TEST_CASE("An RDMA device that does not count lost packets does not prove that there are none") {
    HostCounters host;
    host.host = "a";
    host.handed_in = true;
    host.seconds = 1;
    host.sums = {{"irdma0.port_rcv_bytes", 10'000'000'000},
                 {"irdma0.cnpHandled", 0},
                 {"eth0.rx_bytes", 4000},
                 {"tcp.retransmitted_segments", 0}};
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::unknown});
    check_says(judged({host, roce_host("b", {})}), {"no loss, pause, mark or notification was counted",
                                                    "; lost packets are not counted on 1 of 2 hosts"});
    host.sums.push_back({"irdma0.Nak_Sequence_Error", 0});
    CHECK(judged({host}).mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
}

TEST_CASE("Hosts without counters of pauses are named") {
    HostCounters host;
    host.host = "a";
    host.handed_in = true;
    host.seconds = 1;
    host.sums = {{"veth0.rx_bytes", 10'000'000'000}, {"tcp.retransmitted_segments", 0}};
    check_says(judged({host}), {"no loss, pause, mark or notification was counted",
                                "; pause frames are not counted on these hosts"});
    check_says(judged({host, roce_host("b", {})}), {"; pause frames are not counted on 1 of 2 hosts"});
}

TEST_CASE("Names of counters and what they measure") {
    using M = CounterMeaning;
    const std::vector<std::pair<const char*, M>> known = {
        {"mlx5_0.out_of_sequence", M::resent},
        {"mlx5_0.vport_out_of_sequence", M::resent},
        {"mlx5_0.packet_seq_err", M::resent_burst},
        {"mlx5_0.roce_adp_retrans", M::resent_burst},
        {"mlx5_0.local_ack_timeout_err", M::timed_out},
        {"mlx5_0.out_of_buffer", M::dropped},
        {"mlx5_0.rx_icrc_encapsulated", M::dropped},
        {"bnxt_re0.oos_drop_count", M::resent},
        {"bnxt_re0.seq_err_naks_rcvd", M::resent_burst},
        {"bnxt_re0.tx_roce_discards", M::dropped},
        {"irdma0.Rcvd_Out_of_order_packets", M::resent},
        {"irdma0.Nak_Sequence_Error", M::resent_burst},
        {"irdma0.RTO", M::timed_out},
        {"irdma0.RetransSegs", M::resent},
        {"cxgb4_0.ip4RetransSegs", M::resent},
        {"rdmap0s6.retrans_pkts", M::resent},
        {"rdmap0s6.retrans_timeout_events", M::timed_out},
        {"rdmap0s6.rx_drops", M::dropped},
        {"rxe0.out_of_seq_request", M::resent},
        {"rxe0.completer_retry_err", M::resent_burst},
        {"rxe0.rcvd_rnr_err", M::none},
        {"eth0.rx_prio3_buf_discard", M::dropped},
        {"eth0.brb_discards", M::dropped},
        {"eth0.mac_filter_discards", M::none},
        {"eth0.qdisc_drops", M::dropped},
        {"tcp.retransmitted_segments", M::resent},
        {"tcp.timeouts", M::resent_burst},
        {"ip.reassembly_failures", M::dropped},
        {"softnet.dropped", M::dropped},
        {"eth0.rx_dropped", M::none},
        {"mlx5_0.rnr_nak_retry_err", M::none},
        {"mlx5_0.duplicate_request", M::received_twice},
        {"tcp.loss_probes", M::none},
        {"mlx5_0.np_ecn_marked_roce_packets", M::marked},
        {"mlx5_0.cc_rx_ce_pkts", M::marked},
        {"mlx5_0.np_cnp_sent", M::notified},
        {"mlx5_0.rp_cnp_handled", M::notified},
        {"mlx5_0.rp_cnp_ignored", M::none},
        {"mlx5_0.roce_slow_restart_cnps", M::none},
        {"bnxt_re0.tx_cnp_pkts", M::notified},
        {"bnxt_re0.rx_ecn_marked_pkts", M::marked},
        {"irdma0.cnpHandled", M::notified},
        {"irdma0.RxECNMrkd", M::marked},
        {"ip.received_ce_packets", M::marked},
        {"eth0.rx_prio3_marked", M::marked},
        {"eth0.rx_prio3_pause", M::pause_received},
        {"eth0.tx_global_pause", M::pause_sent},
        {"eth0.port_link_xoff_rx", M::pause_received},
        {"eth0.port_link_xon_rx", M::none},
        {"eth0.tx_priority_3_xoff_nic", M::pause_sent},
        {"eth0.port_rx_priority_3_xon_2_xoff", M::pause_transitions},
        {"eth0.rx_pfc_ena_frames_pri3", M::pause_received},
        {"eth0.tx_pfc_frames", M::pause_sent},
        {"eth0.rx_ppp3_frames", M::pause_received},
        {"eth0.rx_pfc_frames", M::pause_received},
        {"eth0.rx_prio3_pause_duration", M::pause_received_us},
        {"eth0.tx_prio3_pause_duration", M::pause_sent_us},
        {"eth0.pfc_pri3_tx_duration_us", M::pause_sent_us},
        {"eth0.pfc_pri3_rx_transitions", M::pause_transitions},
        {"eth0.rx_prio3_pause_transition", M::pause_transitions},
        {"eth0.tx_pause_storm_warning_events", M::none},
        {"eth0.100.rx_bytes", M::received_bytes},
        {"mlx5_0.port_rcv_bytes", M::received_bytes},
        {"irdma0.ip4InOctets", M::received_bytes},
        {"mlx5_0.port_xmit_wait", M::none},
        {"rxe0.rcvd_pkts", M::received_packets},
    };
    for (const auto& [column, meaning] : known) {
        INFO(column);
        CHECK(meaning_of(column) == meaning);
    }
}

TEST_CASE("Drivers call the same by many names") {
    const std::vector<std::pair<const char*, const char*>> known = {
        {"mlx5_0.np_cnp_sent", "cnp_sent"},
        {"bnxt_re0.tx_cnp_pkts", "cnp_sent"},
        {"bnxt_re0.rx_cnp_pkts", "cnp_handled"},
        {"irdma0.cnpHandled", "cnp_handled"},
        {"mlx5_0.rp_cnp_ignored", ""},
        {"mlx5_0.vport_out_of_sequence", "out_of_sequence"},
        {"irdma0.Nak_Sequence_Error", "sequence_errors"},
        {"irdma0.RxECNMrkd", "ecn_marked_packets"},
        {"ip.received_ce_packets", "ecn_marked_packets"},
        {"tcp.delivered_ce_segments", "ecn_echoes"},
        {"rdmap0s6.retrans_pkts", "rdma_retransmissions"},
        {"cxgb4_0.ip4RetransSegs", "rdma_retransmissions"},
        {"mlx5_0.local_ack_timeout_err", "ack_timeouts"},
        {"rxe0.retry_exceeded_err", "rdma_given_up"},
        {"tcp.retransmitted_segments", "tcp_retransmissions"},
        {"eth0.tx_priority_3_xoff_nic", "pause_frames_sent"},
        {"eth0.rx_ppp3_frames", "pause_frames_received"},
        {"eth0.rx_pfc_frames", "pause_frames_received"},
        {"eth0.pfc_pri3_tx_duration_us", "pause_time_sent_us"},
        {"eth0.pfc_pri3_rx_transitions", "pause_transitions_received"},
        {"eth0.rx_prio3_buf_discard", "dropped_by_hosts"},
        {"eth0.tx_discards_phy", "dropped_by_hosts"},
        {"eth0.rx_filter_discards", ""},
        {"eth0.rx_crc_errors", "damaged_packets"},
        {"eth0.rx_priority_3_xon_nic", ""},
        {"tcp.received_segments", ""},
        {"eth0.", ""},
    };
    for (const auto& [column, family] : known) {
        INFO(column);
        CHECK(known_column(column).family() == family);
    }
}
