#include "config/option_table.hpp"

#include "config/building_option_rows.hpp"
#include "config/datagram_options.hpp"
#include "config/near_name.hpp"
#include "config/network_option_rows.hpp"
#include "config/option_rows.hpp"

namespace weir::config {

const char* group_name(OptionGroup group) {
    switch (group) {
        case OptionGroup::layout:
            return "layout";
        case OptionGroup::data:
            return "data";
        case OptionGroup::transfer:
            return "transfer";
        case OptionGroup::building:
            return "building";
        case OptionGroup::busy:
            return "busy";
        case OptionGroup::run:
            return "run";
        case OptionGroup::output:
            return "output";
        case OptionGroup::network:
            return "network";
        case OptionGroup::testing:
            return "testing";
    }
    return "";
}

const char* group_title(OptionGroup group) {
    switch (group) {
        case OptionGroup::layout:
            return "which rank plays which part";
        case OptionGroup::data:
            return "what producers generate";
        case OptionGroup::transfer:
            return "how it travels";
        case OptionGroup::building:
            return "what an event is, who asks for it, and what bounds that";
        case OptionGroup::busy:
            return "how long consumers work on an event";
        case OptionGroup::run:
            return "which measurement, how long, and what must hold";
        case OptionGroup::output:
            return "what is written where";
        case OptionGroup::network:
            return "what a simulation assumes (only weir simulate)";
        case OptionGroup::testing:
            return "for weir's own tests";
    }
    return "";
}

std::span<const Option> option_table() {
    static const std::vector<Option> table = [] {
        std::vector<Option> all(option_rows().begin(), option_rows().end());
        all.insert(all.end(), building_option_rows().begin(), building_option_rows().end());
        all.insert(all.end(), datagram_option_rows().begin(), datagram_option_rows().end());
        all.insert(all.end(), network_option_rows().begin(), network_option_rows().end());
        return all;
    }();
    return table;
}

const Option* find_option(std::string_view name) {
    for (const Option& option : option_table()) {
        if (option.name == name) {
            return &option;
        }
    }
    return nullptr;
}

std::string near_option(std::string_view text) {
    while (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    text = text.substr(0, text.find('='));
    std::vector<std::string_view> names;
    for (const Option& option : option_table()) {
        if (option.group != OptionGroup::testing) {
            names.push_back(option.name);
        }
    }
    const auto near = near_names(text, names, 1);
    return near.empty() ? std::string{} : "--" + near.front();
}

std::vector<GivenOption> plan_values(const RunRequest& request) {
    std::vector<GivenOption> values;
    for (const Option& option : option_table()) {
        if (!option.in_plan || (option.group == simulation_group && !request.simulated)) {
            continue;
        }
        if (std::string value = option.get(request); !value.empty()) {
            values.push_back({std::string(option.name), std::move(value)});
        }
    }
    return values;
}

}  // namespace weir::config
