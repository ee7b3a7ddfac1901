#include "config/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "config/embedded_files.hpp"
#include "config/input_file.hpp"
#include "config/option_table.hpp"
#include "config/toml_file.hpp"
#include "config/usage_error.hpp"
#include "config/words.hpp"

namespace weir::config {

namespace {

class ScenarioReader {
  public:
    ScenarioReader(std::string_view text, const std::string& file) : file_(text, file) {
        scenario_.text = std::string(text);
    }

    Scenario read() {
        for (const auto& [key, node] : file_.table()) {
            read_entry(std::string(key.str()), key.source().begin, node);
        }
        return std::move(scenario_);
    }

  private:
    void read_entry(const std::string& key, const toml::source_position& at, const toml::node& node) {
        for (const auto& [name, field] : {std::pair{"name", &Scenario::name},
                                          {"title", &Scenario::title},
                                          {"description", &Scenario::description},
                                          {"source", &Scenario::source},
                                          {"found", &Scenario::found}}) {
            if (key == name) {
                scenario_.*field = file_.text(key, node);
                return;
            }
        }
        const Option* option = find_option(key);
        if (option == nullptr) {
            const std::string near = near_option(key);
            file_.refuse(at, "there is no option '{}'; {}", key,
                         near.empty() ? "the options are those of `weir run --help`, without dashes in front"
                                      : fmt::format("did you mean {}?", near.substr(2)));
        }
        if (option->is(not_in_scenario)) {
            file_.refuse(at, "'{}' belongs on the command line; remove it here", key);
        }
        if (const auto* list = node.as_array(); list != nullptr && option->is(repeatable)) {
            for (const toml::node& element : *list) {
                add(key, element);
            }
            return;
        }
        add(key, node);
    }

    void add(const std::string& key, const toml::node& node) {
        scenario_.entries.push_back({key, file_.value(key, node), file_.place(node.source().begin)});
    }

    TomlFile file_;
    Scenario scenario_;
};

Scenario read_scenario_file(const std::string& file) {
    constexpr auto here = UsageError::Reach::this_host;
    constexpr std::string_view right =
        "lines such as rate = \"2Gb/s\" into it, or begin with `weir scenarios quickstart > FILE`";
    const std::string text =
        read_input_file(file, most_toml_bytes, "a built-in name or the name of a scenario file");
    if (text.empty()) {
        throw UsageError(here, "'{}' is empty; write {}", file, right);
    }
    try {
        Scenario scenario = parse_scenario(text, file);
        if (scenario.entries.empty()) {
            throw UsageError("'{}' sets no option; write {}", file, right);
        }
        return scenario;
    } catch (const UsageError& error) {
        throw UsageError(error.what(), here);
    }
}

}  // namespace

Scenario parse_scenario(std::string_view text, const std::string& file) {
    return ScenarioReader(text, file).read();
}

Scenario load_scenario(const std::string& name_or_file) {
    if (is_file_name(name_or_file)) {
        return read_scenario_file(name_or_file);
    }
    std::vector<std::string_view> names;
    for (const EmbeddedFile& embedded : embedded_scenarios()) {
        if (embedded.name == name_or_file) {
            return parse_scenario(embedded.text, fmt::format("{}.toml", embedded.name));
        }
        names.push_back(embedded.name);
    }
    const auto near = near_names(name_or_file, names, 6);
    throw UsageError("there is no scenario '{}'; {}; a file's name has a / in it or ends with .toml",
                     name_or_file,
                     near.empty() ? fmt::format("built in are: {}", fmt::join(names, ", "))
                                  : fmt::format("near: {}", fmt::join(near, ", ")));
}

std::vector<std::string> scenario_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& embedded : embedded_scenarios()) {
        names.emplace_back(embedded.name);
    }
    return names;
}

}  // namespace weir::config
