#include "config/option_table.hpp"

#include <algorithm>
#include <iterator>

#include "config/near_name.hpp"
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
        case OptionGroup::switches:
            return "switch";
        case OptionGroup::testing:
            return "testing";
    }
    return "";
}

const char* group_title(OptionGroup group) {
    switch (group) {
        case OptionGroup::layout:
            return "which rank has which role";
        case OptionGroup::data:
            return "what producers generate";
        case OptionGroup::transfer:
            return "how data is transferred";
        case OptionGroup::building:
            return "event building, pull, and limits on credits";
        case OptionGroup::busy:
            return "how long consumers work on an event";
        case OptionGroup::run:
            return "what to measure, how long, and what must hold";
        case OptionGroup::output:
            return "what is written, and where";
        case OptionGroup::network:
            return "what a simulation assumes (only weir simulate)";
        case OptionGroup::switches:
            return "switch and NICs with --network packet (only weir simulate)";
        case OptionGroup::testing:
            return "for weir's own tests";
    }
    return "";
}

namespace {

std::span<const Option> options_of(OptionGroup group) {
    switch (group) {
        case OptionGroup::layout:
            return layout_options();
        case OptionGroup::data:
            return data_options();
        case OptionGroup::transfer:
            return transfer_options();
        case OptionGroup::building:
            return building_options();
        case OptionGroup::busy:
            return busy_options();
        case OptionGroup::run:
            return run_options();
        case OptionGroup::output:
            return output_options();
        case OptionGroup::network:
            return network_options();
        case OptionGroup::switches:
            return switch_options();
        case OptionGroup::testing:
            return testing_options();
    }
    return {};
}

}  // namespace

std::span<const Option> option_table() {
    static const std::vector<Option> table = [] {
        std::vector<Option> all;
        const auto add = [&all](OptionGroup group) {
            for (Option option : options_of(group)) {
                option.group = group;
                all.push_back(option);
            }
        };
        std::for_each(std::begin(shown_groups), std::end(shown_groups), add);
        add(OptionGroup::testing);
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
        if (!option.in_plan || (is_for_simulations(option.group) && !request.simulated) ||
            (option.only_measured && request.simulated)) {
            continue;
        }
        if (std::string value = option.get(request); !value.empty()) {
            values.push_back({std::string(option.name), std::move(value)});
        }
    }
    return values;
}

}  // namespace weir::config
