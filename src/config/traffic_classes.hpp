// The sections [class.NAME] of a switch file: what switches do with one priority, and what others send with
// it. The table of their keys is apart from that of the other sections (switch_keys.hpp), because a
// description has any number of classes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/switch_description.hpp"

namespace weir::config {

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
