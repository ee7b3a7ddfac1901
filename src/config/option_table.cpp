#include "config/option_table.hpp"

#include "config/near_name.hpp"

namespace weir::config {

std::span<const Option> option_table() {
    static const std::vector<Option> table = [] {
        std::vector<Option> all;
        for (std::size_t group = 0; group <= static_cast<std::size_t>(OptionGroup::testing); ++group) {
            for (Option option : row_of(static_cast<OptionGroup>(group)).options()) {
                option.group = static_cast<OptionGroup>(group);
                all.push_back(option);
            }
        }
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
