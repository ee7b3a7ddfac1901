#include "core/set_phase.hpp"

#include <algorithm>
#include <cmath>

#include "core/assertion.hpp"
#include "core/random.hpp"

namespace weir::core {

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

}  // namespace weir::core
