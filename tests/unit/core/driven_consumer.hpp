// A consumer in a test: what every input leads to, seen from outside only.
#pragma once

#include <limits>
#include <vector>
#include "catch.hpp"
#include "core/actions.hpp"
#include "core/consumer.hpp"

namespace weir::core::consumer_test {

inline constexpr ConsumerId self{1};
inline constexpr NodeId producer_0{Role::producer, 0};
inline constexpr NodeId producer_1{Role::producer, 1};

/// Slots of 100 bytes that take chunks of 40, 40 and 20 bytes.
inline Plan small_plan() {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.chunk_size = {40};
    plan.slot_size = {100};
    plan.window = 2;
    plan.slots = 2;
    plan.streams = 2;
    plan.duration = Duration::seconds(2);
    return plan;
}

inline Plan busy_plan(Duration each) {
    Plan plan = small_plan();
    plan.busy = {.kind = DistributionKind::fixed, .mean = static_cast<double>(each.ns)};
    return plan;
}

inline Instant at_ms(std::int64_t milliseconds) {
    return Instant{} + Duration::milliseconds(milliseconds);
}

/// Chunk `number` of an event of `bytes`, as it should arrive.
inline ArrivedChunk chunk(EventId event, std::int64_t bytes, std::uint32_t number) {
    const std::int64_t offset = 40 * std::int64_t{number};
    return {.source = node_of(event.producer()),
            .chunk = {.event = event,
                      .event_bytes = {bytes},
                      .offset = {offset},
                      .length = {std::min<std::int64_t>(40, bytes - offset)},
                      .sequence = number,
                      .generated_at = at_ms(1)}};
}

inline constexpr EventId event_a = EventId::of({0}, 7);
inline constexpr EventId event_b = EventId::of({1}, 3);

/// A consumer whose every input returns what it led to.
class Driven {
  public:
    explicit Driven(const Plan& plan, ConsumerId id = self)
        : plan_(plan), consumer_(plan, id, Sampler(plan.busy, Random(1, 1))) {}

    Actions start() {
        Actions out;
        consumer_.on_start(at_ms(0), out);
        return checked(out);
    }
    Actions arrive(Instant now, std::uint32_t slot, const ArrivedChunk& arrived) {
        Actions out;
        consumer_.on_chunk(now, {slot}, arrived, out);
        return checked(out);
    }
    /// All chunks of an event; returns what the last one led to.
    Actions whole_event(Instant now, std::uint32_t slot, EventId event, std::int64_t bytes = 100) {
        const auto chunks = static_cast<std::uint32_t>((bytes + 39) / 40);
        for (std::uint32_t number = 0; number + 1 < chunks; ++number) {
            arrive(now, slot, chunk(event, bytes, number));
        }
        return arrive(now, slot, chunk(event, bytes, chunks - 1));
    }
    Actions time(Instant now) {
        Actions out;
        consumer_.on_time(now, out);
        return checked(out);
    }
    Actions message(NodeId from, const ControlMessage& message) {
        Actions out;
        consumer_.on_message(at_ms(0), from, message, out);
        return checked(out);
    }

    void die() { consumer_.die(); }
    Actions begin_again() {
        Actions out;
        consumer_.begin_again(out);
        return checked(out);
    }

    const Consumer* operator->() const { return &consumer_; }

  private:
    Actions checked(const Actions& out) const {
        const SlotUse use = consumer_.slot_use();
        const std::uint32_t used = use.free + use.receiving + use.queued;
        if (used != plan_.slots && !(plan_.outlives_consumers && used == 0)) {
            FAIL_CHECK("the uses of slots do not sum to the number of slots");
        }
        return out;
    }

    Plan plan_;
    Consumer consumer_;
};

inline void check_fault(const Actions& out, Fault::Kind kind, const ArrivedChunk& arrived) {
    REQUIRE(out.faults.size() == 1);
    const Fault& fault = out.faults[0];
    CHECK(fault.kind == kind);
    CHECK(fault.source == arrived.source);
    CHECK(fault.destination == node_of(self));
    CHECK(fault.event == arrived.chunk.event);
    CHECK(fault.offset == arrived.chunk.offset);
    CHECK(fault.sequence == arrived.chunk.sequence);
}

using Places = std::vector<PlaceId>;

}  // namespace weir::core::consumer_test
