// `weir scenarios` and `weir switches`: what is built in.
#include "cli/command_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/resolve.hpp"
#include "config/switch_file.hpp"

namespace weir::cli {

namespace {

using TableRow = std::array<std::string, 3>;

TableRow row_of(const std::string& name) {
    const config::GivenOption option{"scenario", name};
    const config::RunRequest request = config::resolve({&option, 1});
    const auto count = [](std::uint32_t number) { return number == 0 ? "any" : fmt::format("{}", number); };
    std::string layout = "any";
    if (request.plan.producers + request.plan.consumers != 0) {
        layout = fmt::format("{} -> {}", count(request.plan.producers), count(request.plan.consumers));
    }
    return {name, layout, request.scenario_found.empty() ? request.scenario_title : request.scenario_found};
}

}  // namespace

std::string scenarios_text(const std::string& name) {
    if (!name.empty()) {
        return config::load_scenario(name).text;
    }
    std::vector<TableRow> rows{{"NAME", "LAYOUT", "WHAT IT IS; OF PAPERS: WHAT THEY FOUND"}};
    for (const std::string& scenario : config::scenario_names()) {
        rows.push_back(row_of(scenario));
    }
    std::array<std::size_t, 3> widths{};
    for (const TableRow& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const TableRow& row : rows) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            text += fmt::format("{:{}}  ", row[i], widths[i]);
        }
        text += row.back() + '\n';
    }
    return text +
           "\nLAYOUT is producers -> consumers.\n"
           "Print one: weir scenarios NAME. Look at it: weir run --scenario NAME --dry-run\n";
}

std::string switches_text(const std::string& name) {
    if (!name.empty()) {
        return config::load_switch(name).text;
    }
    constexpr const char* row = "{:14}{}\n";
    std::string text = fmt::format(row, "NAME", "WHAT IT IS");
    for (const std::string& known : config::switch_names()) {
        text += fmt::format(row, known, config::load_switch(known).title);
    }
    return text + "\nPrint one: weir switches NAME. Use it: weir simulate --network packet --switch NAME\n";
}

}  // namespace weir::cli
