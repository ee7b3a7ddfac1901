#include "cli/explain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "cli/twin_options.hpp"
#include "files/formatting.hpp"
#include "files/json.hpp"
#include "judge/answer.hpp"
#include "judge/cause_text.hpp"
#include "show/run_record.hpp"

namespace weir::cli {

namespace {

using Json = nlohmann::ordered_json;
using files::rate_text;
using files::seconds_text;
using twin::Figure;

std::string value_text(const Figure& figure, double value) {
    if (figure.unit == "b/s") {
        return rate_text(value);
    }
    if (figure.unit == "B") {
        return files::bytes_text(value);
    }
    return figure.unit == "s" ? seconds_text(value) : files::percent(value / 100);
}

std::string signed_text(const Figure& figure, double value) {
    if (figure.relative) {
        return files::change(1 + value);
    }
    const std::string size = value_text(figure, std::abs(value));
    return value == 0 || size.starts_with("below") ? size : (value < 0 ? "-" : "+") + size;
}

std::string tolerance_text(const Figure& figure) {
    return figure.relative ? files::percent(figure.tolerance) : value_text(figure, figure.tolerance);
}

/// What is too far from the run, beside what links need; empty: nothing.
std::string table_text(const std::vector<Figure>& figures) {
    std::vector<std::array<std::string, 5>> rows{{"", "run", "twin", "deviation", "tolerance"}};
    for (const Figure& figure : figures) {
        if (!figure.near() && !figure.is_of_links()) {
            rows.push_back({figure.name, value_text(figure, figure.run), value_text(figure, figure.twin),
                            signed_text(figure, figure.deviation), tolerance_text(figure)});
        }
    }
    if (rows.size() == 1) {
        return "";
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

/// "2.31 Gb/s", or "from 300 Mb/s (consumer 2 on eb03) to 2.31 Gb/s".
std::string links_text(const std::vector<double>& links, core::Role role, const twin::ShownRun& run) {
    const auto [least, most] = std::minmax_element(links.begin(), links.end());
    const auto wire_text = [](double payload) { return rate_text(payload / twin::payload_share); };
    if (*most - *least < 0.01 * *most) {
        return wire_text(*most);
    }
    const core::NodeId slowest{role, static_cast<std::uint32_t>(least - links.begin())};
    return fmt::format("from {} ({}) to {}", wire_text(*least),
                       files::node_text(slowest, run.host_of(slowest)), wire_text(*most));
}

std::string processing_text(const twin::ShownRun& run, const twin::Assumptions& assumptions) {
    if (run.processing.count == 0) {
        return "none";
    }
    std::string text = assumptions.processing_factor == 1
                           ? "as planned"
                           : files::number(assumptions.processing_factor) + " times as long as planned";
    for (const twin::SlowConsumer& slow : assumptions.slow_consumers) {
        text += fmt::format("; on consumer {} {} times as long", slow.consumer, files::number(slow.factor));
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
                       seconds_text(longest.length_s), files::node_text(longest.node));
}

std::string assumptions_text(const twin::ShownRun& run, const twin::Assumptions& assumptions) {
    std::string text = "What the run showed, and the twin assumes:\n";
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("  {:<22}{}\n", name, value);
    };
    const auto links = [&](bool limit, const std::vector<double>& speeds, core::Role role) {
        constexpr double any = 1e12;
        const bool known = *std::max_element(speeds.begin(), speeds.end()) < any;
        return !known ? "no limit"
                      : links_text(speeds, role, run) + (limit ? ", at least" : ", as interfaces say");
    };
    line("links of producers",
         links(assumptions.limits.producer_links, assumptions.producer_links, core::Role::producer));
    line("links of consumers",
         links(assumptions.limits.consumer_links, assumptions.consumer_links, core::Role::consumer));
    for (const twin::SlowedLink& link : assumptions.slowed_links) {
        line("a link that changed",
             fmt::format("{}: {} of its speed from {} to {}", files::node_text(link.node),
                         files::percent(link.factor), seconds_text(link.begin_s), seconds_text(link.end_s)));
    }
    for (const twin::ForeignTraffic& foreign : assumptions.foreign) {
        line("traffic of others",
             fmt::format("{} over the interface of {}", rate_text(foreign.bits_per_second),
                         files::node_text(foreign.node)));
    }
    line("control messages", seconds_text(assumptions.latency_s) + " one way");
    line("scheduler", seconds_text(assumptions.scheduler_s) + " for a message");
    line("processing", processing_text(run, assumptions));
    line("event-loop stalls", stalls_text(assumptions));
    if (!run.losses.empty()) {
        line("lost consumers", files::counted(run.losses.size(), "time"));
    }
    return text;
}

constexpr std::string_view nothing_to_remedy = "Every set was on time: there is nothing to remedy.";

/// How near the twin comes, in one line.
std::string nearness_text(const twin::TwinComparison& comparison, bool of_links) {
    if (comparison.near()) {
        return "A simulation with what this run showed, its twin, reproduces all of its figures.\n";
    }
    const Figure& worst = comparison.worst();
    if (worst.is_of_links()) {
        return fmt::format(
            "A simulation with what this run showed, its twin, is as slow with {} of {}, where interfaces "
            "have {}: {}.\n",
            worst.name, value_text(worst, worst.twin), value_text(worst, worst.run),
            of_links ? "a slower port or cable, cables between switches, or traffic of others"
                     : "it has no such fault, and cannot tell what a repair gains");
    }
    return fmt::format(
        "A simulation with what this run showed, its twin, differs most in: {}, {} in the run and {} in the "
        "twin (tolerance {}). So amounts are rough.{}\n",
        worst.name, value_text(worst, worst.run), value_text(worst, worst.twin), tolerance_text(worst),
        worst.name == twin::stalls_name ? " The hosts were busy with something else." : "");
}

/// What the run was, and what this found of its cause.
judge::ShortAnswer answer_of(const ExplainReport& report) {
    judge::ShortAnswer answer;
    const std::string& verdict = report.run.verdict;
    const std::size_t colon = std::min(verdict.find(": "), verdict.size());
    answer.word = std::string_view(verdict).substr(0, colon);
    answer.sentence = verdict.substr(std::min(colon + 2, verdict.size()));
    const bool too_short = report.was_good() && answer.word == "NOT JUDGED";
    judge::put_causes(report.found.causes, {},
                      too_short ? std::string(judge::longer_run) : judge::advice_text(report.found.causes),
                      report.run.simulated, answer);
    return answer;
}

/// Sentences, one in each line: what is said of causes rests on this.
std::string foundation_text(const ExplainReport& report) {
    const std::vector<judge::NamedCause>& causes = report.found.causes;
    std::string text;
    if (const Twin* const twin = report.twin()) {
        text += nearness_text(twin->comparison,
                              !causes.empty() && (causes.front().what == judge::CauseKind::producer_links ||
                                                  causes.front().what == judge::CauseKind::consumer_links ||
                                                  causes.front().what == judge::CauseKind::not_told));
    } else {
        text += fmt::format("From its rows alone: it has no twin, since {}.\n", report.found.no_twin);
    }
    if (report.found.cut_short) {
        text += "Not all was tried: it would take more time.\n";
    }
    return text;
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
    Json foreign = Json::array();
    for (const twin::ForeignTraffic& one : assumptions.foreign) {
        foreign.push_back({{"rank", files::node_text(one.node)}, {"bits_per_second", one.bits_per_second}});
    }
    Json slowed = Json::array();
    for (const twin::SlowedLink& link : assumptions.slowed_links) {
        slowed.push_back({{"rank", files::node_text(link.node)},
                          {"begin_s", link.begin_s},
                          {"end_s", link.end_s},
                          {"factor", link.factor}});
    }
    return {{"producer_links_bits_per_second", assumptions.producer_links},
            {"consumer_links_bits_per_second", assumptions.consumer_links},
            {"slowed_links", slowed},
            {"traffic_of_others", foreign},
            {"control_latency_s", assumptions.latency_s},
            {"scheduler_s", assumptions.scheduler_s},
            {"processing_factor", assumptions.processing_factor},
            {"slow_consumers", slow},
            {"stalls", stalls},
            {"left_out_stalls", assumptions.left_out_stalls}};
}

Json causes_json(const ExplainReport& report) {
    show::RunRecord record;
    for (std::size_t i = 0; i < report.run.ranks.size(); ++i) {
        record::RankRecord& rank = record.ranks.emplace_back();
        rank.rank = static_cast<int>(i);
        rank.summary.node = report.run.ranks[i].node;
    }
    record.verdict.causes = report.found.causes;
    return show::verdict_json(record)["causes"];
}

/// Each assumption about links, how near its twin comes, and what is enough there.
Json tried_json(const ExplainReport& report) {
    Json tried = Json::array();
    for (const WeighedTwin& weighed : report.found.twins) {
        const Figure& worst = weighed.twin.comparison.worst();
        Json off = Json::object();
        for (const Figure& figure : weighed.twin.comparison.figures) {
            if (!figure.near()) {
                off[figure.name] = {figure.run, figure.twin};
            }
        }
        Json enough = Json::array();
        for (const judge::NamedCause& cause : weighed.causes) {
            enough.push_back(judge::subject_of(cause));
        }
        tried.push_back({{"producer_links", weighed.twin.assumptions.limits.producer_links},
                         {"consumer_links", weighed.twin.assumptions.limits.consumer_links},
                         {"links_change", weighed.twin.assumptions.limits.change},
                         {"exceptions_only", weighed.twin.assumptions.limits.exceptions},
                         {"weight", weighed.weight},
                         {"near", weighed.twin.comparison.near()},
                         {"differs_most", worst.name},
                         {"off", std::move(off)},
                         {"enough", std::move(enough)},
                         {"simulations", weighed.twin.simulations}});
    }
    return tried;
}

}  // namespace

std::string explain_text(const ExplainReport& report, bool terminal) {
    std::string text = judge::answer_lines(answer_of(report), show::summary_subject_width, terminal) + "\n";
    const std::string further =
        report.was_good() ? std::string(nothing_to_remedy) : judge::further_causes_text(report.found.causes);
    std::istringstream lines(further + (further.empty() ? "" : "\n") + foundation_text(report));
    for (std::string line; std::getline(lines, line);) {
        text += files::wrapped(line);
    }
    const Twin* const twin = report.twin();
    if (twin == nullptr) {
        return text;
    }
    const std::string far = table_text(twin->comparison.figures);
    // In one line: it is there to be copied.
    return text +
           fmt::format(
               "\n{}{}{}\nThe twin, the nearest of {} (for its largest rate, write `weir-sweep find rate "
               "--simulate --` instead of `weir simulate`):\n  {}\n",
               far, far.empty() ? "" : "\n", assumptions_text(report.run, twin->assumptions),
               files::counted(report.found.simulations, "simulation"), shell_command(twin->options));
}

std::string explain_json(const ExplainReport& report) {
    const Twin* const twin = report.twin();
    const bool near = twin != nullptr && twin->comparison.near();
    const std::vector<judge::NamedCause>& causes = report.found.causes;
    Json json;
    json["schema"] = "weir-explain/1";
    json["near"] = near;
    json["differs_most"] = near || twin == nullptr ? Json() : Json(twin->comparison.worst().name);
    json["answer"] = show::answer_json(answer_of(report));
    const std::string advice = judge::advice_text(causes);
    json["text"] = (report.was_good() ? std::string(nothing_to_remedy) : judge::causes_text(causes)) + "\n" +
                   (advice.empty() ? "" : fmt::format("Remedy: {}.\n", advice)) + foundation_text(report);
    json["causes"] = causes_json(report);
    json["remedy"] = causes.empty() || causes.front().remedy.empty() ? Json() : Json(causes.front().remedy);
    json["figures"] = json["tried"] = json["twin"] = Json::array();
    if (twin != nullptr) {
        for (const Figure& figure : twin->comparison.figures) {
            json["figures"].push_back(figure_json(figure));
        }
        json["assumptions"] = assumptions_json(twin->assumptions);
        json["tried"] = tried_json(report);
        for (const config::GivenOption& option : twin->options) {
            json["twin"].push_back({{"option", option.name}, {"value", option.value}});
        }
    }
    json["simulations"] = report.found.simulations;
    return files::json_text(json, 2) + '\n';
}

}  // namespace weir::cli
