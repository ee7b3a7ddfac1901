#include "core/plan_limits.hpp"

#include <algorithm>
#include <limits>

#include "core/ids.hpp"

namespace weir::core {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

bool is_amount(const Plan& plan, const Traffic& fragments) {
    const auto [events, bytes] = fragments;
    return bytes >= Bytes{0} && events <= static_cast<std::uint64_t>(bytes.count) &&
           bytes.count <= static_cast<WideInteger>(events) * plan.slot_size.count;
}

Bytes most_generated(const Plan& plan) {
    const Duration time = plan.warmup + plan.duration;
    switch (plan.generation) {
        case Generation::sets: {
            // Sets begin at multiples of the interval: one at either end of the time.
            const WideInteger sets = time.ns / std::max<std::int64_t>(1, plan.interval.ns) + 1;
            return {static_cast<std::int64_t>(std::min<WideInteger>(sets * plan.set_bytes().count, most))};
        }
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
