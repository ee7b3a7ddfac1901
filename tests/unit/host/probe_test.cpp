// The probe: which pairs meet, what is in UCX's log, and what is concluded from rates and counters.
#include <set>

#include "catch.hpp"
#include "fake_cluster.hpp"
#include "host/probe.hpp"

using namespace weir::host;
using namespace weir::host::test;
using weir::core::Duration;

namespace {

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

/// All pairs of the first `rounds` rounds; every node at most once in a round, both sides agreeing.
Pairs pairs_of(const ProbeRounds& plan, std::uint32_t producers, std::uint32_t consumers,
               std::size_t rounds) {
    Pairs pairs;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::set<std::uint32_t> busy;
        for (std::uint32_t producer = 0; producer < producers; ++producer) {
            if (const auto consumer = plan.consumer_of(round, producer)) {
                CHECK(busy.insert(*consumer).second);
                CHECK(plan.producer_of(round, *consumer) == producer);
                CHECK(pairs.insert({producer, *consumer}).second);
            }
        }
        for (std::uint32_t consumer = 0; consumer < consumers; ++consumer) {
            CHECK(plan.producer_of(round, consumer).has_value() == busy.contains(consumer));
        }
    }
    return pairs;
}

/// Two producers and two consumers, each on a host of its own, that all had the same rate.
ProbeResult good_probe() {
    ProbeResult probe;
    probe.all_pairs = 4;
    for (std::uint32_t producer = 0; producer < 2; ++producer) {
        for (std::uint32_t consumer = 0; consumer < 2; ++consumer) {
            probe.pairs.push_back({.producer = producer,
                                   .consumer = consumer,
                                   .producer_host = producer == 0 ? "eb01" : "eb02",
                                   .consumer_host = consumer == 0 ? "fn01" : "fn02",
                                   .reached = true,
                                   .round_trip_us = 3,
                                   .bits_per_second = 90e9,
                                   .bytes = 500000000});
        }
    }
    for (const char* host : {"eb01", "eb02", "fn01", "fn02"}) {
        const bool sends = host[0] == 'e';
        probe.hosts.push_back(
            {.host = host,
             .message_layer = "ucx",
             .lanes = {{}, {"rc_mlx5/mlx5_0:1"}},
             .counters = {{sends ? "mlx5_0.port_xmit_bytes" : "mlx5_0.port_rcv_bytes", 1050000000},
                          {"mlx5_0.port_rcv_packets", 250000},
                          {"mlx5_0.out_of_sequence", 0},
                          {sends ? "eth1.tx_prio3_bytes" : "eth1.rx_prio3_bytes", 1050000000},
                          {sends ? "eth1.tx_prio0_bytes" : "eth1.rx_prio0_bytes", 3000}}});
    }
    return probe;
}

std::vector<HostView> hosts_of_probe() {
    std::vector<HostView> views;
    for (const char* host : {"eb01", "eb02"}) {
        views.push_back(view_of(roce_host(host), 1, 0));
    }
    for (const char* host : {"fn01", "fn02"}) {
        views.push_back(view_of(roce_host(host), 0, 1));
    }
    return views;
}

std::vector<Finding> worse_than_notes(const std::vector<Finding>& findings) {
    std::vector<Finding> found;
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(found),
                 [](const Finding& finding) { return finding.severity != Severity::note; });
    return found;
}

}  // namespace

TEST_CASE("The rounds of the probe are all pairs, each once", "[rounds]") {
    for (const auto& [producers, consumers] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {1, 1}, {3, 4}, {4, 3}, {5, 5}, {1, 7}, {14, 72}}) {
        CAPTURE(producers, consumers);
        const ProbeRounds rounds(producers, consumers, Duration::seconds(100));
        CHECK(pairs_of(rounds, producers, consumers, rounds.count()).size() == producers * consumers);
        CHECK(rounds.pairs() == rounds.all_pairs());
    }
}

TEST_CASE("A probe that is cut short has met every node") {
    const ProbeRounds rounds(500, 4000, Duration::milliseconds(1));
    CHECK(rounds.count() == 8);
    std::set<std::uint32_t> consumers;
    for (const auto& [producer, consumer] : pairs_of(rounds, 500, 4000, rounds.count())) {
        consumers.insert(consumer);
    }
    CHECK(consumers.size() == 4000);
    CHECK(rounds.pairs() == 4000);
    CHECK(rounds.slice() == Duration::milliseconds(20));
}

TEST_CASE("UCX's log has its transports, in the words of several versions") {
    const UcxLanes older = lanes_in(
        "[1.0] [vm:1 :0] ucp_worker.c:1763 UCX  INFO    ep_cfg[0]: tag(self/memory0 cma/memory)\n"
        "[1.0] [vm:1 :0] ucp_worker.c:1763 UCX  INFO    ep_cfg[1]: tag(rc_verbs/rxe0:1)\n"
        "[1.0] [vm:1 :0] ucp_worker.c:1763 UCX  INFO    ep_cfg[2]: tag(sysv/memory cma/memory)\n");
    CHECK(older.between == std::vector<std::string>{"rc_verbs/rxe0:1"});
    CHECK(older.within == std::vector<std::string>{"cma/memory", "sysv/memory"});
    const UcxLanes newer = lanes_in(
        "[1.0] [vm:1 :0] ucp_worker.c:1903 UCX  INFO    ucp_context_0 self cfg#0 tag(self/memory "
        "cma/memory)\n"
        "[1.0] [vm:1 :0] ucp_worker.c:1903 UCX  INFO    ucp_context_0 inter-node cfg#1 tag(tcp/eth0) "
        "am(tcp/eth0)\n");
    CHECK(newer.between == std::vector<std::string>{"tcp/eth0"});
    CHECK(lanes_in("").between.empty());
    CHECK(lanes_in("cfg#1 tag(").between.empty());
    CHECK(is_rdma_lane("rc_mlx5/mlx5_0:1"));
    CHECK_FALSE(is_rdma_lane("tcp/eth0"));
}

TEST_CASE("A probe in which all went well") {
    const auto findings = judge_probe(good_probe(), hosts_of_probe());
    CHECK(worse_than_notes(findings).empty());
    const ProbeSummary summary = summary_of(good_probe());
    CHECK(summary.reached == 4);
    CHECK(summary.median_bits_per_second == 90e9);
    REQUIRE(summary.slowest_pair);
}

TEST_CASE("Pairs without an answer point at the host that they share") {
    ProbeResult probe = good_probe();
    for (PairProbe& pair : probe.pairs) {
        pair.reached = pair.consumer_host != "fn02";
        pair.bytes = pair.reached ? pair.bytes : 0;
    }
    const auto found = about("reach", judge_probe(probe, hosts_of_probe()));
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::serious);
    CHECK(found[0].hosts == std::vector<std::string>{"fn02"});
    CHECK(says(found[0], "no answer in 2 of 4 pairs"));
}

TEST_CASE("Bytes that were counted in another priority, on either side") {
    ProbeResult probe = good_probe();
    std::swap(probe.hosts[3].counters[3].rise, probe.hosts[3].counters[4].rise);
    const auto found = about("priority", judge_probe(probe, hosts_of_probe()));
    REQUIRE(found.size() == 1);
    CHECK(found[0].hosts == std::vector<std::string>{"fn02"});
    CHECK(says(found[0], "received 1 GB, of which 3 kB were counted in the expected priority 3"));
    CHECK(says(found[0], "in priority 0"));
    // Drivers that do not count so show nothing.
    for (HostProbe& host : probe.hosts) {
        host.counters.resize(3);
    }
    CHECK(about("priority", judge_probe(probe, hosts_of_probe())).empty());
}

TEST_CASE("Transports that were not the expected ones") {
    ProbeResult probe = good_probe();
    probe.hosts[0].lanes.between = {"tcp/eth1"};
    probe.hosts[0].counters.clear();
    probe.hosts[1].counters[0].rise = 1000;
    probe.hosts[2].message_layer = "ob1";
    const auto found = about("transport", judge_probe(probe, hosts_of_probe()));
    REQUIRE(found.size() == 3);
    CHECK(says(found[0], "UCX transfers data between hosts over tcp/eth1"));
    CHECK(says(found[1], "of which the RDMA ports counted 1 kB"));
    CHECK(says(found[2], "Open MPI selected its message layer 'ob1'"));
}

TEST_CASE("A slow host, and rates below the plan") {
    ProbeResult probe;
    std::vector<HostView> views;
    for (std::uint32_t consumer = 0; consumer < 4; ++consumer) {
        const std::string host = "fn0" + std::to_string(consumer + 1);
        probe.pairs.push_back({.producer = 0,
                               .consumer = consumer,
                               .producer_host = "eb01",
                               .consumer_host = host,
                               .reached = true,
                               .round_trip_us = 3,
                               .bits_per_second = consumer == 2 ? 10e9 : 90e9,
                               .bytes = 1000});
        views.push_back(view_of(roce_host(host), 0, 1));
        views.back().part.receives_bits_per_second = 20e9;
    }
    const auto found = about("rate", judge_probe(probe, views));
    REQUIRE(found.size() == 2);
    CHECK(found[0].hosts == std::vector<std::string>{"fn03"});
    CHECK(says(found[0], "at most 10 Gb/s from any producer, but the median of 4 hosts is 90 Gb/s"));
    CHECK(says(found[1], "a consumer received at most 10 Gb/s with one partner, but the plan needs 20 Gb/s"));
}

TEST_CASE("Losses during the probe, and a probe that did not end") {
    ProbeResult probe = good_probe();
    probe.hosts[2].counters[2].rise = 500;
    probe.stopped = "no more messages from rank 3 on fn02";
    const auto findings = judge_probe(probe, hosts_of_probe());
    REQUIRE(about("loss", findings).size() == 1);
    CHECK(says(about("loss", findings)[0], "500 out_of_sequence"));
    REQUIRE(about("probe", findings).size() == 1);
    CHECK(about("probe", findings)[0].severity == Severity::serious);
}
