// A switch, the NICs and hosts around it and how they are connected, as a user describes them: a built-in
// file or one of the user's, and the options that replace parts of it. derive_packets makes the plan that a
// simulation uses from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/switch_plan.hpp"

namespace weir::config {

/// [class.NAME]: what differs for one priority. Nothing: as the other sections have it.
struct ClassDescription {
    std::string name;
    std::optional<core::Priority> priority{};  ///< must be there at the end
    std::optional<bool> lossless{};
    std::optional<bool> strict{};
    std::optional<std::uint32_t> weight{};
    std::optional<bool> ecn{};
    std::optional<core::Bytes> none_below{};
    std::optional<core::Bytes> all_above{};
    std::optional<double> probability{};
    // Of others.
    core::BackgroundPlan others{};

    bool operator==(const ClassDescription&) const = default;
};

struct SwitchDescription {
    /// All values but those that follow from the members below: lossless and control priorities, whether ECN
    /// is on in NICs and connections, and what follows from classes.
    core::FabricPlan fabric;
    bool pfc = false;
    bool drop_tail = false;  ///< no pool: each queue of a port holds --port-buffer
    bool dcqcn = true;       ///< NICs act on marks, if ECN is on, or on losses
    bool tcp_ecn = true;     ///< TCP acts on marks, if ECN is on
    // Classes: "data", "own" or a priority.
    std::string control = "data";
    std::string ack = "data";
    std::string cnp = "own";
    std::vector<ClassDescription> classes{};

    bool operator==(const SwitchDescription&) const = default;
};

/// What options set in a description; nullopt or empty: nothing.
struct PacketOptions {
    std::string switch_name = "shallow";
    std::vector<std::string> keys;  ///< SECTION.KEY=VALUE, in their order
    std::optional<bool> pfc;
    std::optional<bool> ecn;
    std::optional<core::LossRecovery> recovery;
    std::string control;
    std::optional<bool> separate_control;                    ///< from the links of data
    core::Duration row_length = core::Duration::seconds(1);  ///< of switch/NAME.csv
};

/// "data", "own" or a priority. Throws UsageError.
std::string parse_class(std::string_view text);

/// Sets one key: "ecn.none-below=50kB", "class.storage.rate=1Gb/s". Throws UsageError that names it.
void set_key(SwitchDescription& description, std::string_view text);

/// Replaces what options set. `keys` have been checked.
void apply_options(SwitchDescription& description, const PacketOptions& options);

/// Refuses values of one description that contradict each other, naming section and key. Throws UsageError.
void check_description(const SwitchDescription& description);

/// The plan of a description. `port_buffer`: of a switch without a pool. Throws UsageError.
core::FabricPlan fabric_of(const SwitchDescription& description, core::Bytes port_buffer);

}  // namespace weir::config
