#include "config/switch_description.hpp"

#include <fmt/format.h>

#include "config/near_name.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

SwitchDescription load_switch(const std::string& name) {
    SwitchDescription description;
    if (name == "deep") {
        // Jericho: 4 GB for a chip, at most 125 MB for a queue to a port of 25 Gb/s.
        description.fabric.switches.pool = {4'000'000'000};
        description.fabric.switches.egress_threshold = {125'000'000};
    } else if (name == "plain") {
        description.drop_tail = true;
    } else if (name != "shallow") {
        throw UsageError(fmt::format("there is no switch '{}'; built in are: deep, plain, shallow", name));
    }
    return description;
}

std::string parse_control_class(std::string_view text) {
    if (text == "data" || text == "own") {
        return std::string(text);
    }
    try {
        return fmt::format("{}", parse_count(text, 0, core::priority_count - 1));
    } catch (const UsageError&) {
        throw UsageError(
            fmt::format("'{}' is not one of: data, own, 0 to {}", text, core::priority_count - 1));
    }
}

}  // namespace weir::config
