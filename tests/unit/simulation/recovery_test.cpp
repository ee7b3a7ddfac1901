// Simulated runs that go on without consumers that are lost, and checkers that object when that is done
// wrong.
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "core/policies/policy_table.hpp"
#include "core/scheduler.hpp"
#include "participant/rank_node.hpp"
#include "ranks_in_order.hpp"
#include "record/recovery.hpp"
#include "show/run_record.hpp"
#include "simulation/simulated_run.hpp"

namespace simulation_recovery_test_file {

using namespace weir::core;
using namespace weir::simulation;

namespace {

constexpr Duration silence = Duration::seconds(1);
/// In outliving_run: 10 events a second of each producer, the first after a tenth of a second.
constexpr std::uint64_t all_events = 2 * (20 * 10 - 1);

Instant at_seconds(double seconds) {
    return {static_cast<std::int64_t>(seconds * 1e9)};
}

/// Two producers of 10 events of 100 kB a second each; a link carries twice what all of them make.
SimulatedRun outliving_run(PolicyKind policy = PolicyKind::balanced) {
    SimulatedRun run;
    Plan& plan = run.run.plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.interval = Duration::seconds(1);
    plan.rate = {8000000};
    plan.generation = Generation::steady;
    plan.policy = policy;
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 1e5, .trace = {}};
    plan.slot_size = {100000};
    plan.chunk_size = {10000};
    plan.buffer = {10000000};
    plan.window = 4;
    plan.slots = 2;
    plan.streams = 2;
    plan.duration = Duration::seconds(20);
    plan.drain = Duration::seconds(5);
    plan.seed = 1;
    plan.outlives_consumers = true;
    plan.detection_time = silence;
    run.silence_timeout = silence;
    run.network = {.producer_link = {32000000},
                   .consumer_link = {32000000},
                   .framing = Framing::none,
                   .mtu = {4096},
                   .latency = Duration::microseconds(10),
                   .scheduler_time = Duration::microseconds(1)};
    return run;
}

SimulationResult carried_out(SimulatedRun& run) {
    weir::simulation::test::assign_ranks(run);
    SimulationResult result = simulate(run);
    INFO(result.end.what);
    CHECK(result.end.kind == SimulationEnd::Kind::regular);
    for (const std::string& difference : result.record.ledger_differences) {
        FAIL_CHECK(difference);
    }
    return result;
}

Disturbance absence(Disturbance::Kind kind, std::uint32_t consumer, double from_s, double to_s) {
    const Instant from = at_seconds(from_s);
    return {.kind = kind,
            .node = {Role::consumer, consumer},
            .at = from,
            .length = to_s > from_s ? at_seconds(to_s) - from : Duration::max()};
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
    void on_consumer_lost(Instant now, ConsumerId consumer, Actions& out) override {
        SchedulerNode::on_consumer_lost(now, consumer, out);
        spoil_(out);
    }

  private:
    Spoil spoil_;
};

std::string objection_to(const SpoiledNode::Spoil& spoil) {
    SimulatedRun run = outliving_run();
    run.disturbances = {absence(Disturbance::Kind::die, 1, 3.03, 7)};
    run.scheduler = [&](Instant start, weir::participant::RowOutput& output) {
        return std::make_unique<SpoiledNode>(run.run.plan, start, output, spoil);
    };
    weir::simulation::test::assign_ranks(run);
    return simulate(run).end.what;
}

template <typename Body>
SpoiledNode::Spoil change(const std::function<void(Body&)>& spoil) {
    return [spoil](Actions& out) {
        for (SendMessage& sent : out.messages) {
            if (auto* const body = std::get_if<Body>(&sent.message)) {
                spoil(*body);
            }
        }
    };
}

bool says(const std::string& objection, const std::string& part) {
    INFO(objection);
    return objection.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a run goes on without a lost consumer, and takes it in again") {
    for (const PolicyRow& policy : policy_table) {
        if (policy.kind == PolicyKind::none) {
            continue;
        }
        INFO(policy.name);
        SimulatedRun run = outliving_run(policy.kind);
        run.disturbances = {absence(Disturbance::Kind::die, 1, 5.03, 9)};
        const SimulationResult result = carried_out(run);
        REQUIRE(result.record.recovery);
        const auto& recovery = *result.record.recovery;
        REQUIRE(recovery.losses.size() == 1);
        CHECK(recovery.losses[0].consumer == ConsumerId{1});
        CHECK(recovery.losses[0].silent_since == at_seconds(5.03));
        CHECK(recovery.losses[0].lost_at == at_seconds(6.03));
        REQUIRE(recovery.losses[0].back_at);
        CHECK(*recovery.losses[0].back_at - at_seconds(9) < Duration::milliseconds(1));
        CHECK(recovery.losses[0].revoked_grants > 0);
        CHECK(recovery.losses[0].recovery_time());
        CHECK(recovery.redelivered_events > 0);
        CHECK(recovery.without_ledger.empty());
        CHECK(result.record.verdict.lost_events == 0);
        CHECK(result.exit_status == 0);
        const auto totals = weir::show::totals_of(result.record);
        CHECK(totals.generated.events == all_events);
        CHECK(totals.sent.events == all_events);
        CHECK(totals.received.events == all_events);
        const auto json = weir::show::to_json(result.record)["recovery"];
        CHECK(json["losses"][0]["back_at_s"].get<double>() > 9);
        CHECK(json["broken_deliveries"].size() == recovery.redelivered_events);
    }
}

TEST_CASE("a consumer that does not come back is left out, and the scheduler's account stands in") {
    SimulatedRun run = outliving_run();
    run.disturbances = {absence(Disturbance::Kind::die, 2, 5, 0)};
    const SimulationResult result = carried_out(run);
    REQUIRE(result.record.recovery);
    CHECK(result.record.recovery->without_ledger == std::vector<ConsumerId>{{2}});
    CHECK(result.record.recovery->done_by_lost.events > 0);
    CHECK_FALSE(result.record.recovery->losses.at(0).back_at);
    CHECK(weir::show::totals_of(result.record).received.events == all_events);
    CHECK_FALSE(result.record.ranks.at(5).ended_regularly);
}

TEST_CASE("all consumers may be lost: what could not be delivered is lost by name") {
    SimulatedRun run = outliving_run();
    for (std::uint32_t consumer = 0; consumer < 3; ++consumer) {
        run.disturbances.push_back(absence(Disturbance::Kind::die, consumer, 4 + consumer, 0));
    }
    const SimulationResult result = carried_out(run);
    CHECK(result.record.recovery->losses.size() == 3);
    const auto totals = weir::show::totals_of(result.record);
    CHECK(totals.lost.events > 0);
    CHECK(totals.generated.events == totals.sent.events + totals.lost.events);
    CHECK(weir::judge::cause_name(result.record.verdict) == "lost-consumers");
}

TEST_CASE("who stands still or is cut off for less than the time-out is not lost, for more it is") {
    for (const auto kind : {Disturbance::Kind::pause, Disturbance::Kind::cut}) {
        SimulatedRun run = outliving_run();
        run.disturbances = {absence(kind, 1, 5, 5.9)};
        CHECK(carried_out(run).record.recovery->losses.empty());
        run.disturbances = {absence(kind, 1, 5, 7)};
        const SimulationResult result = carried_out(run);
        REQUIRE(result.record.recovery->losses.size() == 1);
        CHECK(result.record.recovery->losses[0].back_at);
        CHECK(weir::show::totals_of(result.record).received.events == all_events);
    }
}

TEST_CASE("a consumer that is back before anybody noticed is a new one all the same") {
    SimulatedRun run = outliving_run();
    run.disturbances = {absence(Disturbance::Kind::die, 0, 5.03, 5.04)};
    const SimulationResult result = carried_out(run);
    REQUIRE(result.record.recovery->losses.size() == 1);
    CHECK(result.record.recovery->losses[0].silent_since == at_seconds(5.03));
    CHECK(result.record.recovery->losses[0].lost_at > at_seconds(5.04));
    CHECK(result.record.recovery->losses[0].back_at == result.record.recovery->losses[0].lost_at);
}

TEST_CASE("the death of a producer ends a run that outlives consumers") {
    SimulatedRun run = outliving_run();
    run.disturbances = {{.kind = Disturbance::Kind::die, .node = {Role::producer, 0}, .at = at_seconds(4)}};
    weir::simulation::test::assign_ranks(run);
    const SimulationResult result = simulate(run);
    CHECK(result.end.kind == SimulationEnd::Kind::node_died);
    CHECK(result.end.node == NodeId{Role::producer, 0});
}

TEST_CASE("the right scheduler breaks no rule when a consumer is lost") {
    CHECK(objection_to([](Actions&) {}).empty());
}

TEST_CASE("a producer that is not informed of a loss is found") {
    CHECK(says(objection_to([](Actions& out) {
                   std::erase_if(out.messages, [](const SendMessage& sent) {
                       return std::holds_alternative<Revoke>(sent.message);
                   });
               }),
               "is not told that consumer 1 was lost"));
}

TEST_CASE("a revocation of the wrong consumer is noticed") {
    CHECK(says(objection_to(change<Revoke>([](Revoke& revoke) { revoke.consumer = {0}; })),
               "without an event for it"));
}

TEST_CASE("an admission to a life that is over is noticed") {
    CHECK(says(objection_to(change<Admit>([](Admit& admit) { admit.epoch = 0; })),
               "which is not its present one"));
}

TEST_CASE("a grant in a life that is over is noticed") {
    CHECK(says(objection_to(change<Grant>(
                   [](Grant& grant) { grant.epoch = grant.consumer.value == 1 ? Epoch{0} : grant.epoch; })),
               "which is over"));
}

TEST_CASE("an event that is called done and was not received is noticed") {
    CHECK(says(objection_to(change<Taken>([count = 0](Taken& taken) mutable {
                   if (++count == 20) {
                       taken.event = EventId::of(taken.event.producer(), taken.event.sequence() + 1);
                   }
               })),
               "which is not so"));
}

}  // namespace simulation_recovery_test_file
