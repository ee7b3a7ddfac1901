#include "core/plan_limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/distribution.hpp"
#include "core/ids.hpp"

namespace weir::core {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t ns_per_s = 1000000000;

/// Sets begin at multiples of the interval: one at either end of the time.
WideInteger most_sets(const Plan& plan) {
    return (plan.warmup + plan.duration).ns / std::max<std::int64_t>(1, plan.interval.ns) + 1;
}

}  // namespace

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
