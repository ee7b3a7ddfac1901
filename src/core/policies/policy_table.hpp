// All policies, one row each. Whatever has to do with every policy iterates over this table: the values of
// the option, random scenarios, the checker of simulations, fuzzers and property tests.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/plan.hpp"
#include "core/policy.hpp"

namespace weir::core {

// Policies for events with an address, one row each. Whatever has to do with each of them iterates over this
// table. Policy `none` has a row because it is a value of the same option; with it the scheduler does not
// grant.

/// Which of the pairs that could be served is served, when a producer or a consumer has become free.
enum class MatchRule : std::uint8_t {
    none,             ///< the scheduler does not grant
    fewest_occupied,  ///< the readiest consumer; the producer with most bytes for it
    first_credit,     ///< the consumer whose credit came first; producers in turn
    turn,             ///< consumers in turn, producers in turn
    longest_queue,    ///< the pair with most bytes waiting
    oldest,  ///< the pair that has waited longest since it was served or since it had nothing waiting
};

struct MatchingRow {
    PolicyKind kind;
    std::string_view name;  ///< as a value of the option
    MatchRule rule;
    /// Serves in rounds, so that all get their max-min share; the others only prevent starvation.
    bool fair = true;
};

inline constexpr std::array matching_table = {
    MatchingRow{PolicyKind::balanced, "balanced", MatchRule::fewest_occupied},
    MatchingRow{PolicyKind::token, "token", MatchRule::first_credit},
    MatchingRow{PolicyKind::round_robin, "round-robin", MatchRule::turn},
    MatchingRow{PolicyKind::longest_queue, "longest-queue", MatchRule::longest_queue, false},
    MatchingRow{PolicyKind::oldest, "oldest", MatchRule::oldest},
    MatchingRow{PolicyKind::none, "none", MatchRule::none, false}};

constexpr bool is_fair(MatchRule rule) {
    for (const MatchingRow& row : matching_table) {
        if (row.rule == rule) {
            return row.fair;
        }
    }
    return false;
}

/// The rule of a policy for events with an address; `none` also for policies that have none.
constexpr MatchRule match_rule(PolicyKind kind) {
    for (const MatchingRow& row : matching_table) {
        if (row.kind == kind) {
            return row.rule;
        }
    }
    return MatchRule::none;
}

/// By what a policy chooses the consumer, where that can be checked from outside.
enum class ConsumerRule : std::uint8_t {
    none,          ///< it cannot
    first_credit,  ///< the one whose credit came first
    turn,          ///< each in turn; without a credit of the next one no event is granted
    most_free,     ///< the one with the most free slots, or one that has waited for very long
};

struct PolicyRow {
    PolicyKind kind;
    std::string_view name;  ///< as a value of the option
    /// nullptr: the scheduler does not grant. `seed` is for policies that draw.
    std::unique_ptr<Policy> (*make)(const Plan& plan, std::uint64_t seed);
    ConsumerRule consumer_rule;
    bool serves_every_producer;  ///< no producer that could send is passed over without a bound
};

std::unique_ptr<Policy> make_balanced_policy(const Plan& plan, std::uint64_t seed);
std::unique_ptr<Policy> make_token_policy(const Plan& plan, std::uint64_t seed);
std::unique_ptr<Policy> make_round_robin_policy(const Plan& plan, std::uint64_t seed);
std::unique_ptr<Policy> make_random_policy(const Plan& plan, std::uint64_t seed);

/// In the order of PolicyKind.
inline constexpr std::array policy_table = {
    PolicyRow{PolicyKind::balanced, "balanced", make_balanced_policy, ConsumerRule::most_free, true},
    PolicyRow{PolicyKind::token, "token", make_token_policy, ConsumerRule::first_credit, true},
    PolicyRow{PolicyKind::round_robin, "round-robin", make_round_robin_policy, ConsumerRule::turn, true},
    PolicyRow{PolicyKind::random, "random", make_random_policy, ConsumerRule::none, false},
    PolicyRow{PolicyKind::none, "none", nullptr, ConsumerRule::none, false}};

constexpr const PolicyRow& policy_row(PolicyKind kind) {
    return policy_table[static_cast<std::size_t>(kind)];
}

static_assert([] {
    for (std::size_t i = 0; i < policy_table.size(); ++i) {
        if (policy_table[i].kind != static_cast<PolicyKind>(i)) {
            return false;
        }
    }
    return true;
}());

/// The policy that the plan names, for its numbers of producers and consumers; `none` has no policy object
/// and returns nullptr. `seed` feeds the random policy.
std::unique_ptr<Policy> make_policy(const Plan& plan, std::uint64_t seed);

}  // namespace weir::core
