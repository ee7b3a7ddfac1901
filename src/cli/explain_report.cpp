#include "cli/explain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "cli/twin_options.hpp"
#include "config/quantities.hpp"
#include "files/formatting.hpp"
#include "files/json_text.hpp"
#include "judge/cause_text.hpp"
#include "show/verdict_json.hpp"
#include "simulation/margin.hpp"

namespace weir::cli {

namespace {

using Json = nlohmann::ordered_json;
using files::readable;
using twin::Figure;

core::BitRate rate(double bits_per_second) {
    return {std::llround(std::min(bits_per_second, 9e18))};
}

core::Duration time(double seconds) {
    return {std::llround(std::clamp(seconds, -9e9, 9e9) * 1e9)};
}

std::string value_text(const Figure& figure, double value) {
    if (figure.unit == "b/s") {
        return readable(rate(value));
    }
    if (figure.unit == "B") {
        return readable(core::Bytes{std::llround(std::min(value, 9e18))});
    }
    if (figure.unit == "s") {
        return value < 0 ? "-" + readable(time(-value)) : readable(time(value));
    }
    return fmt::format("{:.1f} %", value);
}

std::string signed_text(const Figure& figure, double value) {
    if (figure.relative) {
        return std::abs(value) > 9.99 ? "> 999 %" : fmt::format("{:+.1f} %", 100 * value);
    }
    return (value < 0 ? "-" : "+") + value_text(figure, std::abs(value));
}

std::string tolerance_text(const Figure& figure) {
    return figure.relative ? fmt::format("{:.0f} %", 100 * figure.tolerance)
                           : value_text(figure, figure.tolerance);
}

std::string table_text(const std::vector<Figure>& figures) {
    std::vector<std::array<std::string, 5>> rows{{"", "run", "twin", "deviation", "tolerance"}};
    for (const Figure& figure : figures) {
        rows.push_back({figure.name, value_text(figure, figure.run), value_text(figure, figure.twin),
                        signed_text(figure, figure.deviation),
                        tolerance_text(figure) + (figure.near() ? "" : "  too far")});
    }
    std::array<std::size_t, 5> widths{};
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths.at(i) = std::max(widths.at(i), row.at(i).size());
        }
    }
    std::string text;
    for (const auto& row : rows) {
        text += fmt::format("{:{}}  {:>{}}  {:>{}}  {:>{}}  {}\n", row[0], widths[0], row[1], widths[1],
                            row[2], widths[2], row[3], widths[3], row[4]);
    }
    return text;
}

/// "2.31 Gb/s", or "from 0.30 Gb/s (consumer 2 on eb03) to 2.31 Gb/s".
std::string links_text(const std::vector<double>& links, core::Role role, const twin::ShownRun& run) {
    const auto [least, most] = std::minmax_element(links.begin(), links.end());
    if (*most - *least < 0.01 * *most) {
        return readable(rate(*most));
    }
    const core::NodeId slowest{role, static_cast<std::uint32_t>(least - links.begin())};
    std::string host;
    for (const twin::ShownRank& rank : run.ranks) {
        host = rank.node == slowest ? rank.host : host;
    }
    return fmt::format("from {} ({}) to {}", readable(rate(*least)), files::node_text(slowest, host),
                       readable(rate(*most)));
}

std::string processing_text(const twin::ShownRun& run, const twin::Assumptions& assumptions) {
    if (run.processing.count == 0) {
        return "none";
    }
    std::string text = assumptions.processing_factor == 1
                           ? "as planned"
                           : fmt::format("{:.2f} times as long as planned", assumptions.processing_factor);
    for (const twin::SlowConsumer& slow : assumptions.slow_consumers) {
        text += fmt::format("; on consumer {} {:.2f} times as long", slow.consumer, slow.factor);
    }
    return text;
}

std::string stalls_text(const twin::Assumptions& assumptions) {
    if (assumptions.stalls.empty()) {
        return assumptions.left_out_stalls == 0
                   ? "none"
                   : fmt::format("{}, too short to be simulated",
                                 files::counted(assumptions.left_out_stalls, "stall"));
    }
    const twin::ShownStall& longest = assumptions.stalls.front();
    return fmt::format("{}, the longest of {}: {}", files::counted(assumptions.stalls.size(), "stall"),
                       readable(time(longest.length_s)), files::node_text(longest.node));
}

std::string assumptions_text(const twin::ShownRun& run, const twin::Assumptions& assumptions) {
    std::string text = "What the run showed, and the twin assumes:\n";
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("  {:<22}{}\n", name, value);
    };
    const auto links = [&](bool limit, const std::vector<double>& speeds, core::Role role) {
        return limit ? links_text(speeds, role, run) + " of payload, at least" : "no limit";
    };
    line("links of producers",
         links(assumptions.limits.producer_links, assumptions.producer_links, core::Role::producer));
    line("links of consumers",
         links(assumptions.limits.consumer_links, assumptions.consumer_links, core::Role::consumer));
    line("control messages", readable(time(assumptions.latency_s)) + " one way");
    line("scheduler", readable(time(assumptions.scheduler_s)) + " for a message");
    line("processing", processing_text(run, assumptions));
    line("event-loop stalls", stalls_text(assumptions));
    if (!run.losses.empty()) {
        line("lost consumers", files::counted(run.losses.size(), "time"));
    }
    return text;
}

/// Sentences, one a line.
std::string headline(const ExplainReport& report) {
    const twin::TwinComparison& comparison = report.twin->comparison;
    if (comparison.near()) {
        return "Near: a simulation with what this run showed, its twin, reproduces it within the "
               "tolerances.\n";
    }
    const Figure& worst = comparison.worst();
    if (worst.name == twin::producer_links_name || worst.name == twin::consumer_links_name) {
        return fmt::format(
            "Not reproduced: the nearest simulation has {} of {}, and their interfaces have {}. "
            "So something else held data up, which a twin does not have, and nothing is concluded.\n",
            worst.name, value_text(worst, worst.twin), value_text(worst, worst.run));
    }
    return fmt::format(
        "Not reproduced: a simulation with what this run showed differs from it, so nothing is concluded.\n"
        "Most differs: {}, {} in the run and {} in the twin (tolerance {}).{}\n",
        worst.name, value_text(worst, worst.run), value_text(worst, worst.twin), tolerance_text(worst),
        worst.name == twin::interface_bytes_name
            ? " Beyond the payload, that is traffic of others, or headers and messages of small events."
        : worst.name == twin::stalls_name ? " The hosts were busy with something else."
                                          : "");
}

bool was_good(const twin::ShownRun& run) {
    return run.on_time && run.sustained && run.lost_events == 0;
}

/// Four digits, downwards: what holds, holds with less.
std::string rate_down(double bits_per_second) {
    const double grain = std::pow(10.0, std::floor(std::log10(std::max(bits_per_second, 1.0))) - 3);
    return readable(rate(std::floor(bits_per_second / grain) * grain));
}

std::string largest_rate_text(const LargestRate& largest) {
    if (!largest.unknown.empty()) {
        return fmt::format("Largest rate: not looked for: {}\n", largest.unknown);
    }
    if (!largest.best) {
        return "Largest rate without a remedy: with none that was tried every set would have been on time.\n";
    }
    const auto per_producer = [](const FindPoint& point) {
        return rate_down(static_cast<double>(config::parse_rate(point.text).bits_per_second));
    };
    // That the next one does not hold in the twin, and with a margin, does not say that it would be late.
    return fmt::format("Largest rate without a remedy: at least {} per producer.\n",
                       per_producer(*largest.best));
}

/// The report on a run whose twin is near.
std::string answer_text(const ExplainReport& report) {
    std::string text;
    if (was_good(*report.run)) {
        text = "Every set was on time: there is nothing to remedy.\n";
    } else {
        const std::string advice = judge::advice_text(report.causes);
        text = judge::causes_text(report.causes) + "\n";
        if (report.seen_links != nullptr) {
            text += fmt::format(
                "This is so if links are faster than what they were seen to carry: {} of producers, {} of "
                "consumers.\n",
                links_text(report.seen_links->producer_links, core::Role::producer, *report.run),
                links_text(report.seen_links->consumer_links, core::Role::consumer, *report.run));
        }
        if (report.either) {
            text +=
                "Whether links of producers or of consumers were the limit, the run does not tell: the twin "
                "is near with either. So a remedy of links has both.\n";
        }
        text += advice.empty() ? "No remedy that was simulated puts every set on time.\n"
                               : fmt::format("Remedy: {}.\n", advice);
    }
    return text + largest_rate_text(report.largest_rate) +
           fmt::format("Each holds with a margin: links {0:.0f} % slower, times {0:.0f} % longer, {1}.\n",
                       100 * simulation::margin, files::counted(simulation::margin_seeds, "seed"));
}

Json point_json(const std::optional<FindPoint>& point) {
    return point ? Json(point->text) : Json();
}

Json figure_json(const Figure& figure) {
    return {{"name", figure.name},         {"unit", figure.unit},           {"run", figure.run},
            {"twin", figure.twin},         {"deviation", figure.deviation}, {"tolerance", figure.tolerance},
            {"relative", figure.relative}, {"near", figure.near()}};
}

Json assumptions_json(const twin::Assumptions& assumptions) {
    Json stalls = Json::array();
    for (const twin::ShownStall& stall : assumptions.stalls) {
        stalls.push_back(
            {{"rank", files::node_text(stall.node)}, {"end_s", stall.end_s}, {"length_s", stall.length_s}});
    }
    Json slow = Json::array();
    for (const twin::SlowConsumer& one : assumptions.slow_consumers) {
        slow.push_back({{"consumer", one.consumer}, {"factor", one.factor}});
    }
    const auto links = [](bool limit, const std::vector<double>& speeds) {
        return limit ? Json(speeds) : Json();
    };
    return {{"producer_links_bits_per_second",
             links(assumptions.limits.producer_links, assumptions.producer_links)},
            {"consumer_links_bits_per_second",
             links(assumptions.limits.consumer_links, assumptions.consumer_links)},
            {"control_latency_s", assumptions.latency_s},
            {"scheduler_s", assumptions.scheduler_s},
            {"processing_factor", assumptions.processing_factor},
            {"slow_consumers", slow},
            {"stalls", stalls},
            {"left_out_stalls", assumptions.left_out_stalls}};
}

/// Each assumption about links, and how near its twin comes.
Json tried_json(const std::vector<Twin>& twins) {
    Json tried = Json::array();
    for (const Twin& twin : twins) {
        const Figure& worst = twin.comparison.worst();
        tried.push_back({{"producer_links", twin.assumptions.limits.producer_links},
                         {"consumer_links", twin.assumptions.limits.consumer_links},
                         {"near", twin.comparison.near()},
                         {"differs_most", worst.name},
                         {"tolerances", worst.excess()},
                         {"simulations", twin.simulations}});
    }
    return tried;
}

Json causes_json(const ExplainReport& report) {
    show::RunRecord record = report.twin->record;
    record.verdict.causes = report.causes;
    return show::verdict_json(record)["causes"];
}

}  // namespace

std::string explain_text(const ExplainReport& report) {
    const bool near = report.twin->comparison.near();
    std::string text;
    std::istringstream lines(headline(report) + (near ? answer_text(report) : ""));
    for (std::string line; std::getline(lines, line);) {
        text += files::wrapped(line);
    }
    // In one line: it is there to be copied.
    return text +
           fmt::format("\n{}\n{}\nThe twin, of {}:\n  {}\n", table_text(report.twin->comparison.figures),
                       assumptions_text(*report.run, report.twin->assumptions),
                       files::counted(report.simulations, "simulation"), shell_command(report.twin->options));
}

std::string explain_json(const ExplainReport& report) {
    const twin::TwinComparison& comparison = report.twin->comparison;
    const bool near = comparison.near();
    Json json;
    json["schema"] = "weir-explain/1";
    json["near"] = near;
    json["differs_most"] = near ? Json() : Json(comparison.worst().name);
    json["text"] = headline(report) + (near ? answer_text(report) : "");
    auto& figures = json["figures"] = Json::array();
    for (const Figure& figure : comparison.figures) {
        figures.push_back(figure_json(figure));
    }
    json["assumptions"] = assumptions_json(report.twin->assumptions);
    json["tried"] = tried_json(*report.tried);
    json["whose_links_is_not_told"] = report.either;
    json["causes"] = causes_json(report);
    const std::string advice = judge::advice_text(report.causes);
    json["remedy"] =
        advice.empty() || report.causes.front().remedy.empty() ? Json() : Json(report.causes.front().remedy);
    json["largest_rate"] = near && report.largest_rate.unknown.empty()
                               ? Json{{"limit", point_json(report.largest_rate.best)},
                                      {"beyond", point_json(report.largest_rate.beyond)}}
                               : Json();
    auto& options = json["twin"] = Json::array();
    for (const config::GivenOption& option : report.twin->options) {
        options.push_back({{"option", option.name}, {"value", option.value}});
    }
    json["simulations"] = report.simulations;
    return files::json_text(json, 2) + '\n';
}

}  // namespace weir::cli
