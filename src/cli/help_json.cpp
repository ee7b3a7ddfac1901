// `weir --help json`: the help for programs. Manual pages and completions are made from it (tools/manual),
// and whoever drives weir can look up there which options there are.
#include "cli/command_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/commands.hpp"
#include "config/resolve.hpp"
#include "config/switch_description.hpp"
#include "config/switch_file.hpp"
#include "config/switch_keys.hpp"
#include "files/json.hpp"
#include "record/counter_meaning.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string_view text) {
    return text.empty() ? Json() : Json(std::string(text));
}

/// The words of "none|header|full" or "SIZE|none" that stand for themselves: those not in capitals.
Json listed_values(std::string_view syntax) {
    Json values = Json::array();
    if (syntax.starts_with('[')) {
        syntax = syntax.substr(1, syntax.size() - 2);
    }
    while (!syntax.empty()) {
        const std::string_view word = syntax.substr(0, syntax.find('|'));
        syntax.remove_prefix(std::min(syntax.size(), word.size() + 1));
        if (std::none_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
            values.push_back(std::string(word));
        }
    }
    return values;
}

Json scenarios() {
    return config::scenario_names();
}

/// What the argument of a command can be.
Json argument_values(const Command& command) {
    return command.name == "scenarios"  ? scenarios()
           : command.name == "switches" ? Json(config::switch_names())
                                        : Json::array();
}

Json json_of(const config::SwitchKey& key) {
    return {{"section", key.section},
            {"name", key.name},
            {"kind", config::kind_of(key)},
            {"default", config::value_text(key, config::load_switch("shallow").description)},
            {"help", key.help},
            {"source", key.source}};
}

Json json_of(const config::ClassKey& key) {
    return {{"section", "class.NAME"},      {"name", key.name}, {"kind", key.kind},
            {"default", key.used_if_unset}, {"help", key.help}, {"source", ""}};
}

Json json_of(const config::Option& option) {
    Json values = listed_values(option.completions.empty() ? option.syntax : option.completions);
    if (option.name == "scenario") {
        values = scenarios();
    } else if (option.name == "switch") {
        values = config::switch_names();
    }
    return {{"name", fmt::format("--{}", option.name)},        {"short", nullptr},
            {"syntax", text_or_null(option.syntax)},           {"help", option.help},
            {"default", text_or_null(option.shown_default())}, {"values", values},
            {"repeatable", option.is(config::repeatable)}};
}

Json json_of(const CommandOption& option) {
    return {{"name", fmt::format("--{}", option.name)},
            {"short", option.short_name.empty() ? Json() : Json(fmt::format("-{}", option.short_name))},
            {"syntax", text_or_null(option.syntax)},
            {"help", option.help},
            {"default", text_or_null(option.shown_default())},
            {"values", listed_values(option.syntax)},
            {"repeatable", false}};
}

Json json_of(const record::CounterFamily& family) {
    return {{"name", family.name}, {"unit", family.unit}, {"title", family.title}, {"remedy", family.remedy}};
}

/// A row for each count of a driver.
void add_counters(const record::CounterDriver& driver, Json& all) {
    for (const record::CounterNames& row : driver.rows) {
        all.push_back({{"driver", driver.name},
                       {"source", driver.source},
                       {"names", row.names},
                       {"unit", row.count->unit},
                       {"bits", row.bits},
                       {"what", row.count->what},
                       {"family", text_or_null(row.count->family)}});
    }
}

Json help_option(const Command& command, const Json& groups) {
    Json option = json_of(CommandOption{.name = "help", .short_name = "h", .help = "the first page of help"});
    if (command.has_run_options) {
        option["syntax"] = "[GROUP]";
        option["help"] = "the first page of help, or the page of a group of options, or all";
        for (const Json& group : groups) {
            option["values"].push_back(group["name"]);
        }
        option["values"].push_back("all");
    }
    return option;
}

Json groups_of(const Command& command) {
    Json groups = Json::array();
    for (const config::OptionGroup group : config::shown_groups) {
        Json options = Json::array();
        for (const config::Option& option : config::option_table()) {
            if (option.group == group && accepts(command, option)) {
                options.push_back(json_of(option));
            }
        }
        if (!options.empty()) {
            const config::OptionGroupRow& row = config::row_of(group);
            groups.push_back(
                {{"name", row.name}, {"title", row.title}, {"options", options}, {"note", row.note}});
        }
    }
    Json own = Json::array();
    for (const CommandOption& option : command.options) {
        own.push_back(json_of(option));
    }
    if (command.has_run_options) {
        for (const CommandOption& option : shorthand_options()) {
            own.push_back(json_of(option));
        }
    }
    if (&command != &program()) {
        own.push_back(help_option(command, groups));
    }
    groups.push_back({{"name", "more"}, {"title", "more"}, {"options", own}, {"note", ""}});
    return groups;
}

Json json_of(const Command& command) {
    Json arguments = Json::array();
    for (const CommandOption& argument : command.arguments) {
        arguments.push_back(
            {{"name", argument.name}, {"help", argument.help}, {"values", argument_values(command)}});
    }
    return {{"name", command.name},         {"summary", command.summary},
            {"usage", command.usage},       {"description", command.description},
            {"examples", command.examples}, {"exit_status", command.exit_status},
            {"arguments", arguments},       {"groups", groups_of(command)}};
}

}  // namespace

std::string help_json() {
    Json all = json_of(program());
    all["version"] = build_info::version;
    all["date"] = text_or_null(build_info::commit_date);
    all["commands"] = Json::array();
    for (const Command& command : commands()) {
        all["commands"].push_back(json_of(command));
    }
    all["switch_keys"] = Json::array();
    for (const config::SwitchKey& key : config::switch_keys()) {
        all["switch_keys"].push_back(json_of(key));
    }
    for (const config::ClassKey& key : config::class_keys()) {
        all["switch_keys"].push_back(json_of(key));
    }
    all["counter_families"] = Json::array();
    for (const record::CounterFamily& family : record::counter_families()) {
        all["counter_families"].push_back(json_of(family));
    }
    all["counters"] = Json::array();
    for (const auto drivers : {record::rdma_counters(), record::ethernet_counters()}) {
        for (const record::CounterDriver& driver : drivers) {
            add_counters(driver, all["counters"]);
        }
    }
    return files::json_text(all, 2) + '\n';
}

}  // namespace weir::cli
