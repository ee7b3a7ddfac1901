// A switch, the NICs and hosts around it and how they are connected, as a user describes them: a built-in
// file or one of the user's, and the options that replace parts of it. derive_packets makes the plan that a
// simulation uses from it.
#pragma once

#include <optional>
#include <span>
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

// The sections [class.NAME] of a switch file: what switches do with one priority, and what others send with
// it. The table of their keys is apart from that of the other sections (switch_keys.hpp), because a
// description has any number of classes.

struct ClassKey {
    std::string_view name;
    std::string_view kind;  ///< what is written
    /// Throws UsageError without the key's name.
    void (*set)(ClassDescription& one, std::string_view text);
    /// The value that a plan has, in which the class was entered.
    std::string (*text)(const ClassDescription& one, const core::FabricPlan& plan);
    std::string_view used_if_unset;  ///< for lists of keys
    std::string_view help;
};

std::span<const ClassKey> class_keys();

/// "storage" of "class.storage"; nothing: this is no such section. Throws UsageError if it cannot be a name.
std::optional<std::string_view> class_of_section(std::string_view section);

/// The class of this name, which is there from then on. Another call may move it.
ClassDescription& class_named(SwitchDescription& description, std::string_view name);

/// Throws UsageError that names the key, without section.
void set_class_key(ClassDescription& one, std::string_view key, std::string_view text);

/// Refuses classes that contradict each other or the rest of the description. Throws UsageError.
void check_traffic_classes(const SwitchDescription& description);

/// Enters all classes into the plan of the description, which has everything else.
void enter_traffic_classes(core::FabricPlan& fabric, const SwitchDescription& description);

}  // namespace weir::config
