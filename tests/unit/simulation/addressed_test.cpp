// Simulated runs of events with an address: completion times that are known in advance, under every policy,
// and checkers that object to a scheduler that does not keep to the addresses.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "core/policies/matching_policy.hpp"
#include "core/policies/policy_table.hpp"
#include "participant/rank_node.hpp"
#include "ranks_in_order.hpp"
#include "simulation/address_checker.hpp"
#include "simulation/simulated_run.hpp"

using namespace weir::core;
using namespace weir::simulation;

namespace {

constexpr std::int64_t link_bytes_per_s = 1000000;

TrafficPlan::Entry entry(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    return {{from}, {.at = {}, .to = {to}, .bytes = {bytes}}};
}

/// Links of 1 MB/s, events of 5 kB, a set each second.
SimulatedRun addressed_run(std::uint32_t producers, std::uint32_t consumers,
                           const std::vector<TrafficPlan::Entry>& entries,
                           PolicyKind policy = PolicyKind::balanced) {
    SimulatedRun run;
    Plan& plan = run.run.plan;
    plan.producers = producers;
    plan.consumers = consumers;
    plan.interval = Duration::seconds(1);
    plan.traffic = std::make_shared<const TrafficPlan>(
        producers, consumers, std::vector<TrafficPhase>{{"all", {}, plan.interval}}, entries);
    plan.rate = {plan.traffic->total().count * 8 / producers};
    plan.policy = policy;
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 5000, .trace = {}};
    plan.slot_size = {5000};
    plan.chunk_size = {5000};
    plan.buffer = plan.traffic->largest_set();
    plan.window = 4;
    plan.slots = 8;
    plan.streams = 8;
    plan.duration = Duration::seconds(3);
    plan.drain = Duration::seconds(2);
    plan.seed = 1;
    run.network = {.producer_link = {link_bytes_per_s * 8},
                   .consumer_link = {link_bytes_per_s * 8},
                   .framing = Framing::none,
                   .mtu = {4096},
                   .latency = Duration::microseconds(1),
                   .scheduler_time = {}};
    weir::simulation::test::assign_ranks(run);
    return run;
}

/// The longest completion time of the only phase, in seconds.
double completion(SimulatedRun run) {
    const SimulationResult result = simulate(run);
    INFO(result.end.what);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    CHECK(result.record.ledger_differences.empty());
    CHECK(result.record.verdict.late_sets == 0);
    REQUIRE(result.record.phases.size() == 1);
    const auto& phase = result.record.phases[0];
    CHECK(phase.incomplete_transfers == 0);
    CHECK(phase.complete_phases == 3);
    REQUIRE(phase.longest);
    REQUIRE(phase.ideal);
    CHECK(*phase.longest >= *phase.ideal);
    return phase.longest->in_seconds();
}

/// The longest completion time of each entry, in seconds. All begin together.
std::vector<double> completion_of_each(SimulatedRun run, std::vector<TrafficPlan::Entry> entries) {
    Plan& plan = run.run.plan;
    std::vector<TrafficPhase> phases;
    for (TrafficPlan::Entry& entry : entries) {
        entry.transfer.phase = static_cast<std::uint32_t>(phases.size());
        phases.push_back({std::to_string(phases.size()), {}, plan.interval});
    }
    plan.traffic = std::make_shared<const TrafficPlan>(plan.producers, plan.consumers, phases, entries);
    const SimulationResult result = simulate(run);
    INFO(result.end.what);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    std::vector<double> times;
    for (const auto& phase : result.record.phases) {
        REQUIRE(phase.longest);
        times.push_back(phase.longest->in_seconds());
    }
    REQUIRE(times.size() == entries.size());
    return times;
}

/// Scheduler whose messages are spoiled.
class SpoiledNode final : public weir::participant::SchedulerNode {
  public:
    using Spoil = std::function<void(Actions&)>;
    SpoiledNode(const Plan& plan, Instant start, weir::participant::RowOutput& output, Spoil spoil)
        : SchedulerNode(plan, start, output), spoil_(std::move(spoil)) {}
    void on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out) override {
        SchedulerNode::on_message(now, from, message, out);
        spoil_(out);
    }

  private:
    Spoil spoil_;
};

std::string objection_to(SimulatedRun run, const SpoiledNode::Spoil& spoil) {
    run.scheduler = [&](Instant start, weir::participant::RowOutput& output) {
        return std::make_unique<SpoiledNode>(run.run.plan, start, output, spoil);
    };
    return simulate(run).end.what;
}

const std::vector<TrafficPlan::Entry> all_to_all_of_three{entry(0, 1, 50000), entry(0, 2, 50000),
                                                          entry(1, 0, 50000), entry(1, 2, 50000),
                                                          entry(2, 0, 50000), entry(2, 1, 50000)};

}  // namespace

TEST_CASE("A permutation takes what a link needs, under every policy") {
    for (const MatchingRow& row : matching_table) {
        CAPTURE(row.name);
        const double time = completion(addressed_run(
            4, 4, {entry(0, 2, 100000), entry(1, 3, 100000), entry(2, 0, 100000), entry(3, 1, 100000)},
            row.kind));
        CHECK(time == Approx(0.1).epsilon(0.02));
    }
}

TEST_CASE("Incast takes as many times longer as there are senders, under every policy") {
    for (const MatchingRow& row : matching_table) {
        CAPTURE(row.name);
        const double time =
            completion(addressed_run(5, 2,
                                     {entry(0, 1, 50000), entry(1, 1, 50000), entry(2, 1, 50000),
                                      entry(3, 1, 50000), entry(4, 1, 50000)},
                                     row.kind));
        CHECK(time == Approx(0.25).epsilon(0.02));
    }
}

TEST_CASE("Without a scheduler links are shared by max-min fairness") {
    // Producers 0 and 1 share the link of consumer 0, each with half of it until 0 has sent its 50 kB (0.1
    // s); producer 1 also sends to consumer 1, to which half of its own link is left. Its 100 kB for consumer
    // 0 have 50 kB left then, and both of its transfers go on with half a link: 0.1 s more. Consumer 1's 100
    // kB are through then, too.
    const double time = completion(addressed_run(
        2, 2, {entry(0, 0, 50000), entry(1, 0, 100000), entry(1, 1, 100000)}, PolicyKind::none));
    CHECK(time == Approx(0.2).epsilon(0.03));
}

TEST_CASE("A producer's transfers to several consumers go on together, under every policy that schedules") {
    for (const MatchingRow& row : matching_table) {
        for (const auto& [consumers, streams] : {std::pair(2U, 1U), {8U, 1U}, {8U, 4U}}) {
            if (row.kind == PolicyKind::none) {
                continue;
            }
            CAPTURE(row.name, consumers, streams);
            std::vector<TrafficPlan::Entry> entries;
            for (std::uint32_t consumer = 0; consumer < consumers; ++consumer) {
                entries.push_back(entry(0, consumer, 12 * 5000));
            }
            SimulatedRun run = addressed_run(1, consumers, entries, row.kind);
            run.run.plan.streams = streams;
            const std::vector<double> times = completion_of_each(run, entries);
            const auto [first, last] = std::minmax_element(times.begin(), times.end());
            // The last round: one event for each consumer, each 5 ms and two messages of a tenth of one.
            CHECK(*last == Approx(consumers * 12 * 0.005).epsilon(0.06));
            CHECK(*last - *first <= consumers * 0.0053);
        }
    }
}

TEST_CASE("Four streams and slots are enough for max-min shares, under the policies that are fair") {
    // Producer 0 has a quarter of its link for each of four consumers, and producer 1 three quarters of
    // consumer 3: all 400 events, and 1200 of producer 1, take 8 s. With more of both the first to come
    // hold more slots, and parts are less even.
    const std::vector<TrafficPlan::Entry> entries{entry(0, 0, 2000000), entry(0, 1, 2000000),
                                                  entry(0, 2, 2000000), entry(0, 3, 2000000),
                                                  entry(1, 3, 6000000)};
    for (const MatchingRow& row : matching_table) {
        for (const auto& [slots, tolerance] : {std::pair(4U, 0.03), {8U, 0.15}}) {
            if (!row.fair) {
                continue;
            }
            CAPTURE(row.name, slots);
            SimulatedRun run = addressed_run(2, 4, entries, row.kind);
            run.run.plan.interval = run.run.plan.duration = Duration::seconds(10);
            run.run.plan.streams = run.run.plan.slots = slots;
            for (const double time : completion_of_each(run, entries)) {
                CHECK(time == Approx(8).epsilon(tolerance));
            }
        }
    }
}

TEST_CASE("All-to-all is near its ideal under every policy, pull and push") {
    for (const MatchingRow& row : matching_table) {
        for (const Initiation initiation : {Initiation::push, Initiation::pull}) {
            if (row.kind == PolicyKind::none && initiation == Initiation::pull) {
                continue;
            }
            CAPTURE(row.name);
            SimulatedRun run = addressed_run(3, 3, all_to_all_of_three, row.kind);
            run.run.plan.initiation = initiation;
            run.run.plan.requests = 8;
            CHECK(completion(run) == Approx(0.1).epsilon(0.25));
        }
    }
}

TEST_CASE("The checker of addresses objects to grants and events that are not in the traffic plan") {
    const SimulatedRun run = addressed_run(3, 3, all_to_all_of_three);
    AddressChecker checker(run.run.plan);
    std::uint64_t more = 0;
    const auto two = [](std::uint32_t) { return 2U; };
    const auto none = [](std::uint32_t) { return 0U; };
    CHECK(checker.granted({0}, {1}, two));
    CHECK_FALSE(checker.offered({0}, {.offered = {2, {10000}}, .to = {1}}, more));
    CHECK(more == 2);
    CHECK_FALSE(checker.granted({0}, {1}, two));
    CHECK(checker.granted({0}, {2}, two));
    CHECK(checker.offered({0}, {.offered = {1, {5000}}, .to = {1}}, more));
    const auto yes = [](std::uint32_t) { return true; };
    CHECK(checker.decided(yes, two));
    CHECK_FALSE(checker.decided(yes, none));
    checker.drained({0});
    CHECK_FALSE(checker.decided(yes, two));
    CHECK(checker.generated({0}, scheduler_node(), {5000}));
    CHECK_FALSE(checker.generated({0}, {Role::consumer, 1}, {5000}));
    CHECK(checker.finished());  // much is missing
}

TEST_CASE("The checker of addresses objects to a producer that leaves a consumer out, and to starving") {
    for (const PolicyKind policy : {PolicyKind::round_robin, PolicyKind::longest_queue}) {
        AddressChecker checker(addressed_run(1, 2, {entry(0, 0, 5000), entry(0, 1, 5000)}, policy).run.plan);
        std::uint64_t more = 0;
        CHECK_FALSE(checker.offered({0}, {.offered = {1000, {1}}, .to = {0}}, more));
        CHECK_FALSE(checker.offered({0}, {.offered = {1000, {1}}, .to = {1}}, more));
        int accepted = 0;
        while (accepted < 500 && !checker.granted({0}, {0}, [](std::uint32_t) { return 2U; })) {
            ++accepted;
        }
        // Two rounds and one for each of 8 streams, of two consumers. Nobody promises it of longest-queue.
        CHECK(accepted == (policy == PolicyKind::round_robin ? 20 : 500));
    }
    AddressChecker checker(addressed_run(2, 2, {entry(0, 0, 5000), entry(0, 1, 5000), entry(1, 0, 5000)},
                                         PolicyKind::longest_queue)
                               .run.plan);
    std::uint64_t more = 0;
    for (const auto& [from, to] : {std::pair(0U, 0U), {0U, 1U}, {1U, 0U}}) {
        CHECK_FALSE(checker.offered({from}, {.offered = {1000, {1}}, .to = {to}}, more));
    }
    int accepted = 0;
    const auto one = [](std::uint32_t) { return 1U; };
    while (accepted < 500 && !checker.granted({0}, {1}, one) && !checker.granted({1}, {0}, one)) {
        ++accepted;
    }
    CHECK(accepted == 34 * 2 - 1);
}

TEST_CASE("A grant for another producer is noticed") {
    const std::string objection = objection_to(addressed_run(3, 3, all_to_all_of_three), [](Actions& out) {
        for (SendMessage& sent : out.messages) {
            if (std::holds_alternative<Grant>(sent.message)) {
                sent.to.index = std::get<Grant>(sent.message).consumer.value;  // pairs i to i do not exist
            }
        }
    });
    CHECK(objection.find("is granted a slot") != std::string::npos);
}

TEST_CASE("An event that waits although it could be granted is noticed") {
    const std::string objection =
        objection_to(addressed_run(3, 3, all_to_all_of_three), [count = 0](Actions& out) mutable {
            std::erase_if(out.messages, [&](const SendMessage& sent) {
                return std::holds_alternative<Grant>(sent.message) && ++count == 20;
            });
        });
    CHECK(objection.find("leaves") != std::string::npos);
    CHECK(objection.find("which both could transfer") != std::string::npos);
}

namespace {

/// Two transfers of a pair, the longer one a microsecond before, as packets; completion times of both.
std::vector<Duration> one_after_the_other(QueuePairs queue_pairs) {
    SimulatedRun run = addressed_run(1, 1, {entry(0, 0, 5000)}, PolicyKind::none);
    Plan& plan = run.run.plan;
    plan.producers = plan.consumers = 1;
    plan.traffic = std::make_shared<const TrafficPlan>(
        1, 1, std::vector<TrafficPhase>{{"all", {}, plan.interval}},
        std::vector<TrafficPlan::Entry>{
            {{0}, {.at = Duration::milliseconds(100), .to = {0}, .bytes = {1'000'000}}},
            {{0}, {.at = Duration::milliseconds(101), .to = {0}, .bytes = {4096}}}},
        true);
    plan.event_size.mean = 1'000'000;
    plan.slot_size = plan.chunk_size = {1'000'000};
    plan.buffer = plan.traffic->largest_set();
    run.network.producer_link = run.network.consumer_link = {100'000'000};
    run.network.model = NetworkModel::packet;
    run.network.separate_control = true;
    run.network.fabric.queue_pairs = queue_pairs;
    weir::simulation::test::assign_ranks(run);
    const SimulationResult result = simulate(run);
    INFO(result.end.what);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    CHECK(result.record.ledger_differences.empty());
    REQUIRE(result.record.size_classes.size() == 3);  // of all, and of each
    return {*result.record.size_classes[1].median, *result.record.size_classes[2].median};
}

}  // namespace

TEST_CASE("Behind a long transfer of its pair a short one waits, unless each has a queue pair") {
    // The long one takes 80 ms alone, the short one 2 x 0.33 ms: in turn with the other's packets 3 x 0.33.
    const auto together = one_after_the_other({});
    CHECK(together[0].in_seconds() > 0.079);
    CHECK(together[1].in_seconds() == Approx(0.0803).margin(0.0006));
    const auto apart = one_after_the_other({.of_events = true});
    CHECK(apart[0].in_seconds() < 0.0017);
    CHECK(apart[1].in_seconds() == Approx(0.0807).margin(0.0006));
}

TEST_CASE("Fluid transfers and packets go at the speed of a link that is slower than the others") {
    for (const NetworkModel model : {NetworkModel::fluid, NetworkModel::packet}) {
        SimulatedRun run = addressed_run(2, 2, {entry(0, 0, 5000), entry(1, 1, 5000)});
        run.network.model = model;
        run.network.own_consumer_links = {{1, 1, {link_bytes_per_s * 8 / 4}}};
        run.run.plan.traffic = std::make_shared<const TrafficPlan>(
            2, 2, std::vector<TrafficPhase>{{"all", {}, Duration::seconds(1)}},
            std::vector<TrafficPlan::Entry>{
                {{0}, {.at = Duration::milliseconds(100), .to = {0}, .bytes = {5000}}},
                {{1}, {.at = Duration::milliseconds(100), .to = {1}, .bytes = {5000}}}},
            true);
        const SimulationResult result = simulate(run);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        REQUIRE(result.record.size_classes.size() == 2);
        // Fluid: 5 ms and 20 ms. Packets: the switch stores one of 4096 bytes first, 4.1 ms, and the sender's
        // host may keep it for as long.
        const double slower = result.record.size_classes[0].p99->in_seconds();
        const bool fluid = model == NetworkModel::fluid;
        CHECK(slower >= (fluid ? 0.020 : 0.0241));
        CHECK(slower <= (fluid ? 0.021 : 0.0291));
        CHECK(*result.record.size_classes[0].slowdown_max < 1.3);
    }
}
