// A switch and the NICs around it as a user describes them: by a built-in name, and by the options that
// replace parts of it. derive_packets makes the plan of it that a simulation uses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/switch_plan.hpp"

namespace weir::config {

struct SwitchDescription {
    /// Without what follows from the members below: lossless priorities, and whether ECN acts in NICs.
    core::FabricPlan fabric;
    bool pfc = false;
    bool drop_tail = false;  ///< no pool: each queue of a port holds --port-buffer
    /// Class of control messages: "data", "own" or a priority.
    std::string control = "data";
};

/// Throws UsageError for an unknown name.
SwitchDescription load_switch(const std::string& name);

/// What options say of the packet network; nullopt or empty: as the switch's description says. After
/// derive_packets: what is in force, or nothing where another model of the network is used.
struct PacketOptions {
    std::string switch_name = "shallow";
    std::optional<bool> pfc;
    std::optional<bool> ecn;
    std::optional<core::LossRecovery> recovery;
    std::string control;
};

/// "data", "own" or a priority. Throws UsageError.
std::string parse_control_class(std::string_view text);

}  // namespace weir::config
