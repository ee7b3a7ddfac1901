#include "core/plan.hpp"

#include <cmath>

#include "core/distribution.hpp"
#include "core/random.hpp"

namespace weir::core {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t ns_per_s = 1000000000;

/// Sets begin at multiples of the interval: one at either end of the time.
WideInteger most_sets(const Plan& plan) {
    return (plan.warmup + plan.duration).ns / std::max<std::int64_t>(1, plan.interval.ns) + 1;
}

}  // namespace

Duration set_phase(const Plan& plan, ProducerId producer) {
    if (!plan.is_staggered()) {
        return {};
    }
    WEIR_ASSERT(producer.value < plan.producers && plan.interval.ns > 0);
    if (plan.set_phase == SetPhase::spread) {
        return {static_cast<std::int64_t>(static_cast<WideInteger>(plan.interval.ns) * producer.value /
                                          plan.producers)};
    }
    Random random(plan.seed, random_stream(RandomPurpose::set_phase, producer.value));
    const double ns = std::floor(random.uniform() * static_cast<double>(plan.interval.ns));
    return {std::min(static_cast<std::int64_t>(ns), plan.interval.ns - 1)};
}

Duration last_of_set_after(const Plan& plan, ProducerId producer) {
    return plan.traffic ? plan.traffic->last_at(producer) : set_phase(plan, producer);
}

Bytes first_of_set_bytes(const Plan& plan, ProducerId producer) {
    return plan.traffic ? plan.traffic->first_bytes(producer) : plan.set_bytes();
}

bool fills_buffer_at_once(const Plan& plan, ProducerId producer) {
    const bool at_once = !plan.traffic || plan.traffic->last_at(producer) == Duration{};
    return plan.generation == Generation::sets && at_once &&
           plan.buffer <= first_of_set_bytes(plan, producer);
}

Bytes set_bytes_until(const Plan& plan, ProducerId producer, Instant end) {
    WEIR_ASSERT(plan.generation == Generation::sets && plan.interval.ns > 0);
    const Duration time = end - Instant{} - set_phase(plan, producer);
    return time.ns <= 0 ? Bytes{}
                        : (plan.traffic ? plan.traffic->set_bytes(producer) : plan.set_bytes()) *
                              ((time.ns - 1) / plan.interval.ns + 1);
}

bool is_amount(const Plan& plan, const Traffic& fragments) {
    const auto [events, bytes] = fragments;
    return bytes >= Bytes{0} && events <= static_cast<std::uint64_t>(bytes.count) &&
           bytes.count <= static_cast<WideInteger>(events) * plan.slot_size.count;
}

WideInteger bytes_of_run(const Plan& plan) {
    const Duration time = plan.warmup + plan.duration;
    const WideInteger each =
        plan.generation == Generation::sets
            ? most_sets(plan) * bytes_in(plan.rate, plan.interval).count
            : static_cast<WideInteger>(plan.rate.bits_per_second) / 8 * time.ns / ns_per_s;
    return plan.addressed() ? most_sets(plan) * plan.traffic->total().count : each * plan.producers;
}

double events_at_once(const Plan& plan) {
    const double event = std::max(1.0, expected_mean(plan.event_size));
    if (plan.generation != Generation::sets) {
        return 1;
    }
    if (!plan.addressed()) {
        return std::ceil(static_cast<double>(plan.set_bytes().count) / event);
    }
    double most_events = 0;
    for (std::uint32_t producer = 0; producer < plan.traffic->producers(); ++producer) {
        double events = 0;
        Duration at;
        for (const AddressedTransfer& transfer : plan.traffic->of({producer})) {
            events = transfer.at == at ? events : 0;
            at = transfer.at;
            events += std::ceil(static_cast<double>(transfer.bytes.count) / event);
            most_events = std::max(most_events, events);
        }
    }
    return most_events;
}

Bytes most_generated(const Plan& plan) {
    const Duration time = plan.warmup + plan.duration;
    switch (plan.generation) {
        case Generation::sets:
            return {static_cast<std::int64_t>(
                std::min<WideInteger>(most_sets(plan) * plan.set_bytes().count, most))};
        case Generation::steady:
            return bytes_in(plan.rate, time);
        case Generation::saturate:
            break;
    }
    return {most};
}

std::uint64_t most_events(const Plan& plan) {
    return std::min(static_cast<std::uint64_t>(most_generated(plan).count), EventId::sequence_limit);
}

bool is_generation_instant(const Plan& plan, Instant instant) {
    return instant >= Instant{} - plan.warmup && instant <= Instant{most / 2};
}

bool adds_up(Bytes a, Bytes b) {
    return a.count <= most - b.count;
}

}  // namespace weir::core
