// The checkers bite: schedulers that are wrong in one way each, run through random plans until a checker
// objects, which has to happen soon. The right scheduler passes the same plans.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "catch.hpp"
#include "core/policies/pairing_policies.hpp"
#include "core/policies/policy_table.hpp"
#include "core/random.hpp"
#include "core/scheduler.hpp"
#include "participant/rank_node.hpp"
#include "simulation/simulator.hpp"

using namespace weir::core;
using namespace weir::simulation;

namespace {

/// How a scheduler is made wrong.
struct Flaw {
    /// Changes a message before the scheduler gets it; false: it never gets it.
    std::function<bool(ControlMessage&)> before;
    /// Changes what it sends; called after each input.
    std::function<void(Scheduler&, Actions&)> after;
    std::function<std::unique_ptr<Policy>(const Plan&)> policy;
};

class FlawedNode final : public weir::participant::SchedulerNode {
  public:
    FlawedNode(const Plan& plan, Instant start, weir::participant::RowOutput& output, Flaw flaw)
        : SchedulerNode(plan, start, output,
                        plan.consumers_grant() ? nullptr
                        : flaw.policy          ? flaw.policy(plan)
                                               : make_policy(plan, plan.seed)),
          flaw_(std::move(flaw)) {}

    void on_time(Instant now, Actions& out) override {
        SchedulerNode::on_time(now, out);
        spoil(out);
    }
    void on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out) override {
        ControlMessage seen = message;
        if (!flaw_.before || flaw_.before(seen)) {
            SchedulerNode::on_message(now, from, seen, out);
        }
        spoil(out);
    }

  private:
    void spoil(Actions& out) {
        if (flaw_.after) {
            flaw_.after(scheduler(), out);
        }
    }
    Flaw flaw_;
};

Plan random_small_plan(std::uint64_t seed, PolicyKind policy) {
    Random random(seed, 1234);
    const auto pick = [&](std::uint64_t least, std::uint64_t most) {
        return static_cast<std::uint32_t>(least + random.below(most - least + 1));
    };
    Plan plan;
    plan.producers = pick(2, 5);
    plan.consumers = pick(1, 5);
    plan.interval = Duration::milliseconds(20);
    const std::int64_t event = 1000;
    plan.rate = {event * pick(2, 6) * 8 * 50};
    plan.event_size = {.kind = DistributionKind::fixed, .mean = static_cast<double>(event), .trace = {}};
    plan.slot_size = {event};
    plan.chunk_size = {400};
    plan.buffer = plan.set_bytes() * 2;
    plan.policy = policy;
    plan.window = 2;
    plan.slots = pick(1, 3);
    plan.streams = pick(1, 3);
    plan.duration = Duration::milliseconds(100);
    plan.drain = Duration::seconds(1);
    plan.seed = seed;
    return plan;
}

/// The objection of the first checker that has one, over some random plans; nothing if none has.
std::optional<std::string> objection_to(PolicyKind policy, const std::function<Flaw()>& flaw,
                                        int plans = 20) {
    weir::participant::RowOutput nowhere(nullptr, [](const weir::record::LiveSample&) {});
    for (int seed = 1; seed <= plans; ++seed) {
        const Plan plan = random_small_plan(static_cast<std::uint64_t>(seed), policy);
        Simulator simulator({.plan = plan,
                             .network = {.producer_link = {plan.rate.bits_per_second * 2},
                                         .consumer_link = {plan.rate.bits_per_second * 2},
                                         .framing = Framing::none,
                                         .mtu = {4096},
                                         .latency = Duration::microseconds(10),
                                         .scheduler_time = Duration::microseconds(1)},
                             .output = [&](NodeId) -> weir::participant::RowOutput& { return nowhere; },
                             .scheduler =
                                 [&](Instant start, weir::participant::RowOutput& output) {
                                     return std::make_unique<FlawedNode>(plan, start, output, flaw());
                                 }});
        const SimulationEnd end = simulator.run([](Instant) { return true; });
        if (end.kind != SimulationEnd::Kind::regular) {
            return end.what;
        }
    }
    return std::nullopt;
}

bool says(const std::optional<std::string>& objection, const std::string& part) {
    INFO((objection ? *objection : "no objection"));
    CHECK(objection);
    return objection && objection->find(part) != std::string::npos;
}

/// Balanced, but producer 0 is served only when nobody else can be.
class StarvingPolicy final : public Policy {
  public:
    explicit StarvingPolicy(const Plan& plan)
        : others_(plan.producers, plan.consumers), last_(plan.producers, plan.consumers) {}
    void update(ProducerId producer, const ProducerStanding& standing) override {
        (producer.value == 0 ? last_ : others_).update(producer, standing);
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        others_.update(consumer, standing);
        last_.update(consumer, standing);
    }
    std::optional<Pairing> choose() override {
        const auto chosen = others_.choose();
        return chosen ? chosen : last_.choose();
    }
    [[nodiscard]] bool producer_available() const override {
        return others_.producer_available() || last_.producer_available();
    }
    [[nodiscard]] bool consumer_available() const override { return others_.consumer_available(); }

  private:
    BalancedPolicy others_;
    BalancedPolicy last_;
};

/// Balanced among all consumers but the first, which is served only when nobody else can be.
class ConsumerStarvingPolicy final : public Policy {
  public:
    explicit ConsumerStarvingPolicy(const Plan& plan)
        : others_(plan.producers, plan.consumers), last_(plan.producers, plan.consumers) {}
    void update(ProducerId producer, const ProducerStanding& standing) override {
        others_.update(producer, standing);
        last_.update(producer, standing);
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        (consumer.value == 0 ? last_ : others_).update(consumer, standing);
    }
    std::optional<Pairing> choose() override {
        const auto chosen = others_.choose();
        return chosen ? chosen : last_.choose();
    }
    [[nodiscard]] bool producer_available() const override { return others_.producer_available(); }
    [[nodiscard]] bool consumer_available() const override {
        return others_.consumer_available() || last_.consumer_available();
    }

  private:
    BalancedPolicy others_;
    BalancedPolicy last_;
};

template <typename FlawedPolicy>
std::unique_ptr<Policy> make_flawed(const Plan& plan) {
    if constexpr (std::is_constructible_v<FlawedPolicy, const Plan&>) {
        return std::make_unique<FlawedPolicy>(plan);
    } else {
        return std::make_unique<FlawedPolicy>(plan.producers, plan.consumers);
    }
}

/// The objection of a checker to a policy when there is always something to send, in events of all sizes, and
/// consumers have one slot each, so that none is readier than another. The side that has more nodes is the
/// one whose nodes compete.
template <typename FlawedPolicy>
std::optional<std::string> objection_under_load(std::uint32_t producers, std::uint32_t consumers) {
    weir::participant::RowOutput nowhere(nullptr, [](const weir::record::LiveSample&) {});
    Plan plan = random_small_plan(1, PolicyKind::balanced);
    plan.producers = producers;
    plan.consumers = consumers;
    plan.slots = 1;
    plan.streams = 1;
    plan.event_size = {
        .kind = DistributionKind::normal, .mean = 500, .deviation = 100, .maximum = 1000, .trace = {}};
    plan.generation = Generation::saturate;
    plan.duration = Duration::seconds(1);
    Simulator simulator({.plan = plan,
                         .network = {.producer_link = {8000000},
                                     .consumer_link = {8000000},
                                     .framing = Framing::none,
                                     .mtu = {4096},
                                     .latency = Duration::microseconds(10),
                                     .scheduler_time = {}},
                         .output = [&](NodeId) -> weir::participant::RowOutput& { return nowhere; },
                         .scheduler =
                             [&](Instant start, weir::participant::RowOutput& output) {
                                 return std::make_unique<FlawedNode>(
                                     plan, start, output,
                                     Flaw{.before = {}, .after = {}, .policy = [](const Plan& asked) {
                                              return make_flawed<FlawedPolicy>(asked);
                                          }});
                             }});
    const SimulationEnd end = simulator.run([](Instant) { return true; });
    return end.kind == SimulationEnd::Kind::regular ? std::nullopt : std::optional(end.what);
}

}  // namespace

TEST_CASE("The right scheduler breaks no rule, under any policy") {
    for (const PolicyRow& policy : policy_table) {
        CHECK_FALSE(objection_to(policy.kind, [] { return Flaw{}; }));
    }
}

TEST_CASE("A lost credit is noticed") {
    for (const PolicyKind policy : {PolicyKind::balanced, PolicyKind::token, PolicyKind::random}) {
        const auto objection = objection_to(policy, [] {
            return Flaw{.before =
                            [count = 0](ControlMessage& message) mutable {
                                auto* const done = std::get_if<Done>(&message);
                                if (done != nullptr && ++count % 10 == 0) {
                                    done->credit = Done::Credit::kept;
                                }
                                return true;
                            },
                        .after = {},
                        .policy = {}};
        });
        CHECK(says(objection, "although it has a credit"));
    }
}

TEST_CASE("A double grant is noticed") {
    const auto objection = objection_to(PolicyKind::balanced, [] {
        return Flaw{.before = {},
                    .after =
                        [count = 0](Scheduler&, Actions& out) mutable {
                            for (std::size_t i = 0; i < out.messages.size(); ++i) {
                                if (std::holds_alternative<Grant>(out.messages[i].message) && ++count == 5) {
                                    SendMessage twice = out.messages[i];
                                    twice.to.index = twice.to.index == 0 ? 1 : 0;
                                    out.messages.push_back(twice);
                                    return;
                                }
                            }
                        },
                    .policy = {}};
    });
    CHECK(says(objection, "it is granted, but its credit is with a producer"));
}

TEST_CASE("A grant to the wrong consumer is noticed") {
    const auto swap_consumer = [](std::uint32_t node) {
        return Flaw{.before = {},
                    .after =
                        [node](Scheduler&, Actions& out) {
                            for (SendMessage& sent : out.messages) {
                                if (auto* const grant = std::get_if<Grant>(&sent.message)) {
                                    grant->consumer = {node};
                                }
                            }
                        },
                    .policy = {}};
    };
    CHECK(objection_to(PolicyKind::token, [&] { return swap_consumer(0); }));
    CHECK(objection_to(PolicyKind::round_robin, [&] { return swap_consumer(0); }));
    CHECK(objection_to(PolicyKind::balanced, [&] { return swap_consumer(0); }));
}

TEST_CASE("The right policy is fair under the same load") {
    CHECK_FALSE(objection_under_load<BalancedPolicy>(6, 3));
    CHECK_FALSE(objection_under_load<BalancedPolicy>(3, 6));
}

TEST_CASE("A policy that starves a producer is noticed") {
    CHECK(says(objection_under_load<StarvingPolicy>(6, 3), "producer 0 starves"));
}

TEST_CASE("A policy that starves a consumer is noticed") {
    CHECK(says(objection_under_load<ConsumerStarvingPolicy>(3, 6), "consumer 0 starves"));
}

TEST_CASE("A stop that comes one producer too early is noticed") {
    const auto objection = objection_to(PolicyKind::balanced, [] {
        return Flaw{.before = {},
                    .after =
                        [](Scheduler& scheduler, Actions& out) {
                            std::uint32_t left = 0;
                            for (std::uint32_t producer = 0; producer < 2; ++producer) {
                                left += scheduler.has_drained({producer}) ? 0U : 1U;
                            }
                            // Waits for all but one.
                            if (scheduler.state() == Scheduler::State::running && left == 1) {
                                scheduler.finish(out);
                            }
                        },
                    .policy = {}};
    });
    CHECK(says(objection, "although there is time left to send it"));
}

TEST_CASE("A scheduler that does not stop is noticed") {
    const auto objection = objection_to(PolicyKind::token, [] {
        return Flaw{
            .before = [](ControlMessage& message) { return !std::holds_alternative<Drained>(message); },
            .after =
                [](Scheduler&, Actions& out) {
                    std::erase_if(out.messages, [](const SendMessage& sent) {
                        return std::holds_alternative<Finish>(sent.message);
                    });
                },
            .policy = {}};
    });
    CHECK(says(objection, "does not end"));
}

TEST_CASE("A latency of less than no time is noticed") {
    Plan plan;
    plan.producers = plan.consumers = 1;
    Checker checker(plan);
    Observation granted{.kind = Observation::Kind::granted, .elapsed = Duration{}};
    checker.observed({}, {Role::producer, 0}, granted);
    CHECK_FALSE(checker.objection());
    granted.elapsed = Duration{-1};
    checker.observed({}, {Role::producer, 0}, granted);
    CHECK(checker.objection());
}
