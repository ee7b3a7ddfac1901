#include "core/policies/policy_table.hpp"

#include "core/policies/matching_policy.hpp"
#include "core/policies/pairing_policies.hpp"

namespace weir::core {

namespace {

/// All producers are granted an event that they build together: they are one.
std::uint32_t sources(const Plan& plan) {
    return plan.builds() ? 1 : plan.producers;
}

}  // namespace

std::unique_ptr<Policy> make_balanced_policy(const Plan& plan, std::uint64_t /*seed*/) {
    return std::make_unique<BalancedPolicy>(sources(plan), plan.consumers);
}

std::unique_ptr<Policy> make_token_policy(const Plan& plan, std::uint64_t /*seed*/) {
    return std::make_unique<TokenPolicy>(sources(plan), plan.consumers, plan.slots);
}

std::unique_ptr<Policy> make_round_robin_policy(const Plan& plan, std::uint64_t /*seed*/) {
    return std::make_unique<RoundRobinPolicy>(sources(plan), plan.consumers);
}

std::unique_ptr<Policy> make_random_policy(const Plan& plan, std::uint64_t seed) {
    return std::make_unique<RandomPolicy>(sources(plan), plan.consumers,
                                          Random(seed, random_stream(RandomPurpose::policy, 0)));
}

std::unique_ptr<Policy> make_policy(const Plan& plan, std::uint64_t seed) {
    if (plan.addressed()) {
        const MatchRule rule = match_rule(plan.policy);
        return rule == MatchRule::none
                   ? nullptr
                   : std::make_unique<MatchingPolicy>(plan.traffic, rule, plan.streams, plan.slots);
    }
    const auto make = policy_row(plan.policy).make;
    return make != nullptr ? make(plan, seed) : nullptr;
}

}  // namespace weir::core
