// Names of what a key of a switch file may choose among.
#pragma once

#include "config/switch_keys.hpp"

namespace weir::config {

inline constexpr Choice<core::DcqcnRules> rules[] = {{"2015", core::DcqcnRules::paper},
                                                     {"hpcc", core::DcqcnRules::hpcc}};
inline constexpr Choice<core::WatchdogAction> actions[] = {{"drop", core::WatchdogAction::drop},
                                                           {"forward", core::WatchdogAction::forward}};
inline constexpr Choice<core::CongestionControl> controls[] = {{"newreno", core::CongestionControl::newreno},
                                                               {"cubic", core::CongestionControl::cubic},
                                                               {"dctcp", core::CongestionControl::dctcp}};
inline constexpr Choice<core::PairControl> pair_controls[] = {{"dcqcn", core::PairControl::dcqcn},
                                                              {"swift", core::PairControl::swift},
                                                              {"credits", core::PairControl::credits}};
inline constexpr Choice<core::TopologyKind> topologies[] = {
    {"star", core::TopologyKind::star},
    {"leaf-spine", core::TopologyKind::leaf_spine},
    {"three-tier", core::TopologyKind::three_tier},
    {"rail-optimized", core::TopologyKind::rail_optimized}};
inline constexpr Choice<core::PlacementKind> placements[] = {
    {"rows", core::PlacementKind::rows},       {"by-worker", core::PlacementKind::by_worker},
    {"by-rail", core::PlacementKind::by_rail}, {"explicit", core::PlacementKind::listed},
    {"random", core::PlacementKind::random},   {"auto", core::PlacementKind::rows}};
inline constexpr Choice<core::Arbitration> arbitrations[] = {
    {"fifo", core::Arbitration::fifo}, {"ingress-round-robin", core::Arbitration::ingress_round_robin}};
inline constexpr Choice<core::BalancingKind> balancings[] = {{"ecmp", core::BalancingKind::ecmp},
                                                             {"flowlets", core::BalancingKind::flowlets},
                                                             {"spray", core::BalancingKind::spray},
                                                             {"adaptive", core::BalancingKind::adaptive}};

/// What may be written for a member of these types.
constexpr const auto& choices_of(MemberOf<core::LossRecovery> /**/) {
    return loss_recoveries;
}
constexpr const auto& choices_of(MemberOf<core::DcqcnRules> /**/) {
    return rules;
}
constexpr const auto& choices_of(MemberOf<core::WatchdogAction> /**/) {
    return actions;
}
constexpr const auto& choices_of(MemberOf<core::CongestionControl> /**/) {
    return controls;
}
constexpr const auto& choices_of(MemberOf<core::PairControl> /**/) {
    return pair_controls;
}
constexpr const auto& choices_of(MemberOf<core::TopologyKind> /**/) {
    return topologies;
}
constexpr const auto& choices_of(MemberOf<core::PlacementKind> /**/) {
    return placements;
}
constexpr const auto& choices_of(MemberOf<core::Arbitration> /**/) {
    return arbitrations;
}
constexpr const auto& choices_of(MemberOf<core::BalancingKind> /**/) {
    return balancings;
}

}  // namespace weir::config
