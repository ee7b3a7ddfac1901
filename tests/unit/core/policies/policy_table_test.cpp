#include "core/policies/policy_table.hpp"

#include "catch.hpp"
#include "core/policies/pairing_policies.hpp"

using namespace weir::core;

TEST_CASE("make_policy makes the policy that the plan names") {
    Plan plan;
    plan.producers = 3;
    plan.consumers = 4;
    plan.slots = 2;
    const auto make = [&](PolicyKind kind) {
        plan.policy = kind;
        return make_policy(plan, 1);
    };
    CHECK(dynamic_cast<BalancedPolicy*>(make(PolicyKind::balanced).get()) != nullptr);
    CHECK(dynamic_cast<TokenPolicy*>(make(PolicyKind::token).get()) != nullptr);
    CHECK(dynamic_cast<RoundRobinPolicy*>(make(PolicyKind::round_robin).get()) != nullptr);
    CHECK(dynamic_cast<RandomPolicy*>(make(PolicyKind::random).get()) != nullptr);
    CHECK(make(PolicyKind::none) == nullptr);
}
