// The one table of the keys of a switch file. Reader, `weir help json`, run.json and the list in
// docs/simulating-a-switch.md are made from it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/option_values.hpp"
#include "config/switch_description.hpp"

namespace weir::config {

/// Wrapped because these types are the same.
struct MaskMember {
    core::PriorityMask& (*of)(SwitchDescription&);
};
struct PriorityMember {
    core::Priority& (*of)(SwitchDescription&);
};

template <typename Value>
using MemberOf = Value& (*)(SwitchDescription&);
using Weights = std::array<std::uint32_t, core::priority_count>;

/// Where a key's value is; its type decides what may be written.
using SwitchMember =
    std::variant<MemberOf<core::Bytes>, MemberOf<core::Duration>, MemberOf<core::BitRate>, MemberOf<double>,
                 MemberOf<std::uint32_t>, MemberOf<bool>, MemberOf<core::LossRecovery>,
                 MemberOf<core::CongestionControl>, MemberOf<core::TopologyKind>,
                 MemberOf<core::PlacementKind>, MemberOf<core::Arbitration>, MemberOf<core::BalancingKind>,
                 MemberOf<core::DcqcnRules>, MemberOf<core::WatchdogAction>, MemberOf<core::PairControl>,
                 MemberOf<Weights>, MemberOf<std::vector<std::uint32_t>>,
                 MemberOf<std::vector<core::OwnCables>>, MemberOf<std::string>, MaskMember, PriorityMember>;

inline constexpr Choice<core::LossRecovery> loss_recoveries[] = {
    {"go-back-n", core::LossRecovery::go_back_n}, {"selective", core::LossRecovery::selective}};

struct SwitchKey {
    std::string_view section;
    std::string_view name;
    SwitchMember member;
    // Bounds of quantities and numbers, in bytes, nanoseconds, bits per second.
    double least = 0;
    double most = 1e18;
    std::string_view help;
    std::string_view source = {};  ///< of the value of `shallow`; empty: a choice of weir
};

/// In the order of the built-in files.
std::span<const SwitchKey> switch_keys();

/// "size", "time", ...: what is written for this key.
std::string_view kind_of(const SwitchKey& key);
/// Throws UsageError without the key's name.
void set_value(const SwitchKey& key, SwitchDescription& description, std::string_view text);
/// Reading it back gives the same.
std::string value_text(const SwitchKey& key, const SwitchDescription& description);

}  // namespace weir::config
