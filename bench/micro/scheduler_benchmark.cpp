// What one event costs the scheduler: its `offer`, the `ready` of a slot, the decision with the `grant`, and
// the `done`. Half of the nodes are producers. A scheduler that leaves nothing waiting always runs short of
// one side: of credits, so that each choice is among all producers, or of events, so that it is among all
// consumers. `allocations` are per event, in the steady state: they must be 0.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "allocation_count.hpp"
#include "core/policies/policy_table.hpp"
#include "core/ring_queue.hpp"
#include "core/scheduler.hpp"

namespace {

using namespace weir::core;

constexpr std::int64_t event_bytes = 1 << 20;
constexpr std::uint32_t slots = 8;

Plan plan_of(PolicyKind policy, std::uint32_t nodes) {
    Plan plan;
    plan.producers = nodes / 2;
    plan.consumers = nodes - plan.producers;
    plan.policy = policy;
    plan.generation = Generation::saturate;  // as many events as there is time for
    plan.slots = slots;
    plan.streams = slots;
    plan.slot_size = {event_bytes};
    plan.chunk_size = {event_bytes};
    plan.duration = Duration::seconds(1000000);
    return plan;
}

enum class Short { of_credits, of_events };

/// A scheduler among nodes that answer at once.
class Traffic {
  public:
    Traffic(PolicyKind policy, Short what, std::uint32_t nodes)
        : plan_(plan_of(policy, nodes)), scheduler_(plan_, make_policy(plan_, 1)), offered_(plan_.producers) {
        const std::uint32_t credits = what == Short::of_credits ? slots / 2 : slots;
        for (std::uint32_t slot = 0; slot < credits; ++slot) {
            for (std::uint32_t consumer = 0; consumer < plan_.consumers; ++consumer) {
                ready(consumer, slot);
            }
        }
        for (std::uint32_t producer = 0; producer < plan_.producers; ++producer) {
            offer(producer, what == Short::of_credits ? 2 * slots : 1);
        }
        for (std::uint32_t event = 0; event < 4 * nodes; ++event) {
            one_event();
        }
    }

    void one_event() {
        const Granted granted = under_way_.pop();
        const EventId event = EventId::of({granted.producer}, offered_[granted.producer]);
        handle({Role::consumer, granted.consumer}, Done{.slot = {granted.slot},
                                                        .fragments = 1,
                                                        .bytes = {event_bytes},
                                                        .hash = ledger_mix(event, {event_bytes}),
                                                        .event = event});
        ready(granted.consumer, granted.slot);
        offer(granted.producer, 1);
    }

  private:
    struct Granted {
        std::uint32_t producer = 0;
        std::uint32_t consumer = 0;
        std::uint32_t slot = 0;
    };

    void offer(std::uint32_t producer, std::uint64_t more) {
        offered_[producer] += more;
        handle({Role::producer, producer},
               Offer{{offered_[producer], {event_bytes * static_cast<std::int64_t>(offered_[producer])}}});
    }
    void ready(std::uint32_t consumer, std::uint32_t slot) {
        handle({Role::consumer, consumer}, Ready{{slot}});
    }
    void handle(NodeId from, const ControlMessage& message) {
        now_ = now_ + Duration{100};
        scheduler_.on_message(now_, from, message, out_);
        for (const SendMessage& sent : out_.messages) {
            const auto& grant = std::get<Grant>(sent.message);
            under_way_.push({sent.to.index, grant.consumer.value, grant.place.value});
        }
        out_.clear();
    }

    Plan plan_;
    Scheduler scheduler_;
    std::vector<std::uint64_t> offered_;
    RingQueue<Granted> under_way_{std::size_t{1} << 20U};
    Actions out_;
    Instant now_;
};

void one_event(benchmark::State& state, PolicyKind policy, Short what) {
    Traffic traffic(policy, what, static_cast<std::uint32_t>(state.range(0)));
    const std::uint64_t before = allocation_count();
    for (auto _ : state) {
        traffic.one_event();
    }
    state.counters["allocations"] = benchmark::Counter(static_cast<double>(allocation_count() - before),
                                                       benchmark::Counter::kAvgIterations);
}

}  // namespace

BENCHMARK_CAPTURE(one_event, balanced_short_of_credits, PolicyKind::balanced, Short::of_credits)
    ->Arg(8)
    ->Arg(86)
    ->Arg(512)
    ->Arg(4500)
    ->Arg(32768);
BENCHMARK_CAPTURE(one_event, balanced_short_of_events, PolicyKind::balanced, Short::of_events)
    ->Arg(8)
    ->Arg(86)
    ->Arg(512)
    ->Arg(4500)
    ->Arg(32768);
BENCHMARK_CAPTURE(one_event, token_short_of_credits, PolicyKind::token, Short::of_credits)
    ->Arg(86)
    ->Arg(4500);
BENCHMARK_CAPTURE(one_event, round_robin_short_of_credits, PolicyKind::round_robin, Short::of_credits)
    ->Arg(86)
    ->Arg(4500);
BENCHMARK_CAPTURE(one_event, random_short_of_credits, PolicyKind::random, Short::of_credits)
    ->Arg(86)
    ->Arg(4500);
