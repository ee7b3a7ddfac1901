#include "core/policy.hpp"

#include "core/assertion.hpp"
#include "core/balanced_policy.hpp"
#include "core/random_policy.hpp"
#include "core/round_robin_policy.hpp"
#include "core/token_policy.hpp"

namespace weir::core {

std::unique_ptr<Policy> make_policy(const Plan& plan, std::uint64_t seed) {
    // All producers are granted an event that they build together: they are one.
    const std::uint32_t producers = plan.builds() ? 1 : plan.producers;
    switch (plan.policy) {
        case PolicyKind::balanced:
            return std::make_unique<BalancedPolicy>(producers, plan.consumers);
        case PolicyKind::token:
            return std::make_unique<TokenPolicy>(producers, plan.consumers, plan.slots);
        case PolicyKind::round_robin:
            return std::make_unique<RoundRobinPolicy>(producers, plan.consumers);
        case PolicyKind::random:
            return std::make_unique<RandomPolicy>(producers, plan.consumers,
                                                  Random(seed, random_stream(RandomPurpose::policy, 0)));
        case PolicyKind::none:
            return nullptr;
    }
    WEIR_ASSERT(false);
    return nullptr;
}

}  // namespace weir::core
