// What a measured run is advised, from made-up counters of hosts.
#include "judge/network_advice.hpp"

#include <string_view>
#include <utility>

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::core;
using namespace weir::judge;
using namespace weir::record;
using test::contains;

namespace {

using Sums = std::vector<CounterSum>;

/// A verdict in which transfers were too slow, on two RoCE hosts of which `eb12` counted `sums`.
Verdict verdict_with(Sums sums, std::string_view cause) {
    const Plan plan = test::small_plan();
    std::vector<RankRecord> ranks = test::good_ranks(plan);
    RankSummary& producer = ranks[1].summary;
    producer.max_occupancy = 2;
    producer.first_overflow_second = 1;
    producer.overflow_seconds = 9;
    producer.time = {};
    producer.time.transferring = Duration::seconds(10);
    std::vector<HostCounters> hosts(2);
    for (HostCounters& host : hosts) {
        host.host = "eb01";
        host.handed_in = true;
        host.seconds = 10;
        host.sums = {{"mlx5_0.port_rcv_bytes", 10'000'000'000},
                     {"mlx5_0.out_of_sequence", 0},
                     {"eth0.rx_prio3_pause", 0}};
    }
    hosts[1].host = "eb12";
    hosts[1].sums.insert(hosts[1].sums.end(), sums.begin(), sums.end());
    const NetworkVerdict network = judge_network(hosts, {10'000'000'000});
    RunFacts facts;
    facts.network = &network;
    Verdict verdict = judge_run(plan, ranks, facts);
    CHECK(cause_name(verdict) == cause);
    return verdict;
}

}  // namespace

TEST_CASE("Lost packets: the counts, and the ports to look at") {
    const Verdict verdict = verdict_with({{"mlx5_1.out_of_sequence", 2500}}, "switch-loss");
    CHECK(contains(verdict.text, "The network lost packets: 2500 out_of_sequence (on eb12)."));
    CHECK(contains(verdict.advice, "Read the drop counters of the switch's ports, first of that to eb12"));
    CHECK(contains(verdict.advice, "`weir check`"));
    CHECK_FALSE(contains(verdict.advice, "slots"));
}

TEST_CASE("What waited for too long and came twice is no loss") {
    constexpr const char* marked = "mlx5_0.np_ecn_marked_roce_packets";
    constexpr const char* timed_out = "mlx5_0.local_ack_timeout_err";
    constexpr const char* twice = "mlx5_0.duplicate_request";
    const Verdict slowed = verdict_with(
        {{"mlx5_0.port_rcv_packets", 1'000'000}, {marked, 20'000}, {timed_out, 130}, {twice, 120}}, "ecn");
    CHECK(contains(slowed.text, "ECN slowed senders down"));
    // The last packets of messages were lost: they come once.
    verdict_with({{"mlx5_0.port_rcv_packets", 1'000'000}, {marked, 20'000}, {timed_out, 130}, {twice, 3}},
                 "switch-loss");
}

TEST_CASE("What TCP sends again names no port, and a full sending queue no receive rings") {
    const Verdict resent = verdict_with({{"tcp.retransmitted_segments", 5000}}, "switch-loss");
    CHECK(contains(resent.text, "Packets were lost or overtook each other: 5000 tcp.retransmitted_segments"));
    CHECK_FALSE(contains(resent.advice, "to eb12"));
    const Verdict queue = verdict_with({{"eth0.qdisc_drops", 5000}}, "host-loss");
    CHECK(contains(queue.advice, "the queue before its interface (`tc -s qdisc`)"));
    CHECK_FALSE(contains(queue.advice, "ethtool"));
}

TEST_CASE("Marks of less than one packet in two thousand explain nothing") {
    constexpr const char* marked = "mlx5_0.np_ecn_marked_roce_packets";
    verdict_with({{"mlx5_0.port_rcv_packets", 10'000'000}, {marked, 20'000}}, "ecn");
    verdict_with({{"mlx5_0.port_rcv_packets", 10'000'000}, {marked, 3'000}}, "not-told");
}

TEST_CASE("What others lose is no loss of data where classes are counted apart") {
    NetworkPlan network{.model = NetworkModel::packet,
                        .producer_link = {100'000'000'000},
                        .consumer_link = {100'000'000'000},
                        .mtu = {4096},
                        .latency = {},
                        .scheduler_time = {}};
    SwitchTotals switches;
    switches.measured = Duration::seconds(10);
    for (const std::uint32_t priority : {1U, 3U}) {
        SwitchRow& row = switches.ports[{"switch-0", 0, priority}].row;
        row.priority = priority;
        row.sent_packets = 1000;
    }
    switches.ports[{"switch-0", 0, 1}].row.dropped_packets = 3000;
    const auto text = [&] {
        RunFacts facts;
        facts.simulated = &network;
        facts.switches = &switches;
        const NetworkVerdict lossy{{NetworkMechanism::lossy}, "lossy"};
        facts.network = &lossy;
        return advise_on_network(test::small_plan(), facts).text;
    };
    // Of all that came: more was dropped than sent.
    CHECK(contains(text(), "the switch dropped 60 % of them"));
    CHECK(contains(weir::record::switch_text(switches), "3000 packets dropped (60 %)"));
    switches.classes = {{.name = "storage", .priority = 1}, {.name = "data", .priority = 3}};
    CHECK(contains(text(), "none of the class of data was dropped by a switch"));
}

TEST_CASE("A host that drops is named, and not the switch") {
    const Verdict verdict = verdict_with({{"mlx5_0.out_of_buffer", 900}}, "host-loss");
    CHECK(contains(verdict.text, "900 out_of_buffer (on eb12)"));
    CHECK(contains(verdict.advice, "Look at eb12, which dropped packets itself"));
}

TEST_CASE("Pauses: the port with the longest queue, or the host that sends pauses") {
    Verdict verdict = verdict_with({{"eth1.rx_prio3_pause", 5000}}, "pfc");
    CHECK(contains(verdict.text, "Pause frames held hosts up: 5000 rx_prio3_pause (on eb12)."));
    CHECK(contains(verdict.advice, "longest queue"));
    verdict = verdict_with({{"eth1.rx_prio3_pause", 5000}, {"eth1.tx_prio3_pause", 7000}}, "pfc");
    CHECK(contains(verdict.advice, "Look at eb12, which sent pauses, so it receives too slowly"));
    verdict = verdict_with({{"eth1.tx_prio3_pause", 7000}}, "pfc");
    CHECK(contains(verdict.text, "7000 tx_prio3_pause"));
    CHECK(contains(verdict.advice, "receives too slowly"));
}

TEST_CASE("Marks and CNPs: thresholds and losses") {
    Verdict verdict = verdict_with({{"mlx5_0.np_ecn_marked_roce_packets", 40'000}}, "ecn");
    CHECK(contains(verdict.text, "ECN slowed senders down: 40000 np_ecn_marked_roce_packets (on eb12)."));
    CHECK(contains(verdict.advice, "Kmin, Kmax"));
    verdict = verdict_with({{"mlx5_0.np_cnp_sent", 40'000}}, "ecn");
    CHECK(contains(verdict.text, "CNPs slowed senders down: 40000 np_cnp_sent (on eb12)."));
    CHECK(contains(verdict.advice, "drop counters"));
}

TEST_CASE("A network of which nothing was counted, and one that is not known") {
    CHECK(contains(verdict_with({}, "not-told").text,
                   "Hosts counted no losses, pauses, marks or notifications"));
    CHECK_FALSE(contains(verdict_with({}, "not-told").text, "had room"));
    const Plan plan = test::small_plan();
    const NetworkAdvice unknown = advise_on_network(plan, {});
    CHECK(unknown.text.empty());
    CHECK(contains(unknown.advice, "`weir check`"));
    NetworkPlan fluid;
    fluid.producer_link = fluid.consumer_link = {10'000'000'000};
    fluid.mtu = {4096};
    RunFacts simulated;
    simulated.simulated = &fluid;
    CHECK_FALSE(contains(advise_on_network(plan, simulated).advice, "weir check"));
}
