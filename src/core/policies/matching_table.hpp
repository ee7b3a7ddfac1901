// Policies for events with an address, one row each. Whatever has to do with each of them iterates over this
// table. Policy `none` has a row because it is a value of the same option; with it the scheduler does not
// grant.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/plan.hpp"

namespace weir::core {

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

}  // namespace weir::core
