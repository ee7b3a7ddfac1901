// A producer in a test: messages and chunks that it sends for every input, seen from outside only.
#pragma once

#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "core/distribution.hpp"
#include "core/plan.hpp"
#include "core/producer.hpp"
#include "unit/core/messages_of.hpp"

namespace weir::core::test {

inline constexpr ProducerId self{1};

/// Sets of four events of 100 bytes each second, in chunks of 40, 40 and 20 bytes.
inline Plan small_plan() {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.rate = {3200};
    plan.interval = Duration::seconds(1);
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 100};
    plan.buffer = {400};
    plan.chunk_size = {40};
    plan.slot_size = {100};
    plan.window = 2;
    plan.slots = 2;
    plan.streams = 2;
    plan.duration = Duration::seconds(2);
    plan.drain = Duration::seconds(1);
    return plan;
}

inline Instant at_ms(std::int64_t milliseconds) {
    return Instant{} + Duration::milliseconds(milliseconds);
}

/// A producer whose every input returns what it led to.
class Driven {
  public:
    explicit Driven(const Plan& plan)
        : plan_(plan),
          producer_(plan, self,
                    EventGenerator(plan, Sampler(plan.event_size, Random(1, 1)), Instant{} - plan.warmup,
                                   Instant{plan.duration.ns}, set_phase(plan, self), self)) {}

    Actions time(Instant now) {
        Actions out;
        producer_.on_time(now, out);
        return checked(out);
    }
    Actions message(Instant now, NodeId from, const ControlMessage& message) {
        Actions out;
        producer_.on_message(now, from, message, out);
        return checked(out);
    }
    /// Several from the scheduler before anything of it is carried out.
    Actions messages(Instant now, const std::vector<ControlMessage>& all) {
        Actions out;
        for (const ControlMessage& message : all) {
            producer_.on_message(now, scheduler_node(), message, out);
        }
        return checked(out);
    }
    /// The next grant in order, as the plan's policy gives it.
    Actions grant(Instant now, std::uint32_t consumer, std::uint32_t slot) {
        const bool direct = plan_.consumers_grant();
        return message(now, direct ? NodeId{Role::consumer, consumer} : scheduler_node(),
                       Grant{{consumer}, {slot}, direct ? 0 : grants_++});
    }
    Actions finish(Instant now) { return message(now, scheduler_node(), Finish{}); }
    Actions sent(Instant now, std::uint32_t stream, std::uint32_t first, std::uint32_t count = 1) {
        Actions out;
        producer_.on_chunks_sent(now, {stream}, first, count, out);
        return checked(out);
    }
    Actions passed(std::uint32_t stream, std::uint32_t count) {
        Actions out;
        producer_.on_chunks_passed({stream}, count, out);
        return checked(out);
    }
    /// Grants one event and lets all of its chunks leave; only with no other transfer under way.
    void deliver_one(Instant now) {
        Actions out = grant(now, 0, 0);
        for (std::size_t chunk = 0; chunk < out.chunks.size(); ++chunk) {
            const auto more =
                sent(now, out.chunks[chunk].stream.value, out.chunks[chunk].chunk.sequence).chunks;
            out.chunks.insert(out.chunks.end(), more.begin(), more.end());
        }
    }

    const Producer& operator*() const { return producer_; }
    const Producer* operator->() const { return &producer_; }

  private:
    Actions checked(const Actions& out) const {
        const StreamUse use = producer_.stream_use();
        if (use.transferring + use.waiting_for_grant + use.waiting_for_data != plan_.streams) {
            FAIL_CHECK("the uses of streams do not sum to the number of streams");
        }
        return out;
    }

    Plan plan_;
    Producer producer_;
    std::uint64_t grants_ = 0;
};

inline std::vector<Observation> of_kind(const Actions& out, Observation::Kind kind) {
    std::vector<Observation> found;
    for (const Observation& observation : out.observations) {
        if (observation.kind == kind) {
            found.push_back(observation);
        }
    }
    return found;
}

inline std::vector<std::uint32_t> sequences(const Actions& out) {
    std::vector<std::uint32_t> found;
    for (const SendChunk& chunk : out.chunks) {
        found.push_back(chunk.chunk.sequence);
    }
    return found;
}

using Sequences = std::vector<std::uint32_t>;

}  // namespace weir::core::test
