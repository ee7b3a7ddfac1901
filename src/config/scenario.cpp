#include "config/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <iterator>

#include "config/embedded_scenarios.hpp"
#include "config/input_file.hpp"
#include "config/near_name.hpp"
#include "config/option_table.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

/// Longest scenario file that is read; a larger one is not a scenario.
constexpr std::size_t text_limit = 1000000;

class ScenarioReader {
  public:
    explicit ScenarioReader(std::string file) : file_(std::move(file)) {}

    Scenario read(std::string_view text) {
        Scenario scenario;
        scenario.text = std::string(text);
        const toml::table table = parse(text);
        for (const auto& [key, node] : table) {
            read_entry(scenario, std::string(key.str()), key.source().begin, node);
        }
        return scenario;
    }

  private:
    [[nodiscard]] std::string place(const toml::source_position& position) const {
        return fmt::format("{}:{}:{}", file_, position.line, position.column);
    }

    [[noreturn]] void refuse(const toml::source_position& position, const std::string& why) const {
        throw UsageError(place(position) + ": " + why);
    }

    [[nodiscard]] toml::table parse(std::string_view text) const {
        try {
            return toml::parse(text, file_);
        } catch (const toml::parse_error& error) {
            refuse(error.source().begin, fmt::format("this is not TOML: {}", error.description()));
        }
    }

    void read_entry(Scenario& scenario, const std::string& key, const toml::source_position& at,
                    const toml::node& node) const {
        for (const auto& [name, field] : {std::pair{"name", &Scenario::name},
                                          {"title", &Scenario::title},
                                          {"description", &Scenario::description},
                                          {"source", &Scenario::source},
                                          {"found", &Scenario::found}}) {
            if (key == name) {
                const auto* text = node.as_string();
                if (text == nullptr) {
                    refuse(node.source().begin, fmt::format("'{}' is text; write it in quotes", key));
                }
                scenario.*field = text->get();
                return;
            }
        }
        const Option* option = find_option(key);
        if (option == nullptr) {
            const std::string near = near_option(key);
            refuse(at, fmt::format("there is no option '{}'; {}", key,
                                   near.empty()
                                       ? "the options are those of `weir run --help`, without dashes in front"
                                       : fmt::format("did you mean {}?", near.substr(2))));
        }
        if (!option->in_scenario) {
            refuse(at, fmt::format("'{}' belongs on the command line; remove it here", key));
        }
        if (const auto* list = node.as_array(); list != nullptr && option->repeatable) {
            for (const toml::node& element : *list) {
                scenario.entries.push_back({key, value_of(key, element), place(element.source().begin)});
            }
            return;
        }
        scenario.entries.push_back({key, value_of(key, node), place(node.source().begin)});
    }

    [[nodiscard]] std::string value_of(const std::string& key, const toml::node& node) const {
        if (const auto* text = node.as_string()) {
            return text->get();
        }
        if (const auto* integer = node.as_integer()) {
            return fmt::format("{}", integer->get());
        }
        if (const auto* number = node.as_floating_point()) {
            return fmt::format("{}", number->get());
        }
        refuse(node.source().begin,
               fmt::format("the value of '{}' is neither text nor a number; write it in quotes", key));
    }

    std::string file_;
};

Scenario read_scenario_file(const std::string& file) {
    constexpr auto here = UsageError::Reach::this_host;
    constexpr std::string_view right =
        "lines such as rate = \"2Gb/s\" into it, or begin with `weir scenarios quickstart > FILE`";
    const std::string text =
        read_input_file(file, text_limit, "a built-in name or the name of a scenario file");
    if (text.empty()) {
        throw UsageError(fmt::format("'{}' is empty; write {}", file, right), here);
    }
    try {
        Scenario scenario = parse_scenario(text, file);
        if (scenario.entries.empty()) {
            throw UsageError(fmt::format("'{}' sets no option; write {}", file, right));
        }
        return scenario;
    } catch (const UsageError& error) {
        throw UsageError(error.what(), here);
    }
}

bool is_file_name(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".toml");
}

}  // namespace

Scenario parse_scenario(std::string_view text, const std::string& file) {
    return ScenarioReader(file).read(text);
}

Scenario load_scenario(const std::string& name_or_file) {
    if (is_file_name(name_or_file)) {
        return read_scenario_file(name_or_file);
    }
    std::vector<std::string_view> names;
    for (const EmbeddedScenario& embedded : embedded_scenarios()) {
        if (embedded.name == name_or_file) {
            return parse_scenario(embedded.text, fmt::format("{}.toml", embedded.name));
        }
        names.push_back(embedded.name);
    }
    const auto near = near_names(name_or_file, names, 6);
    throw UsageError(fmt::format(
        "there is no scenario '{}'; {}; a file's name has a / in it or ends with .toml", name_or_file,
        near.empty() ? fmt::format("built in are: {}", fmt::join(names, ", "))
                     : fmt::format("near: {}", fmt::join(near, ", "))));
}

std::vector<std::string> scenario_names() {
    std::vector<std::string> names;
    for (const EmbeddedScenario& embedded : embedded_scenarios()) {
        names.emplace_back(embedded.name);
    }
    return names;
}

}  // namespace weir::config
