#include "host/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "files/formatting.hpp"

namespace weir::host {

namespace {

constexpr std::size_t page_width = 100;

/// Breaks a text into lines that fit behind `indent` blanks. The first line is not indented.
std::string wrapped(const std::string& text, std::size_t indent) {
    std::string result;
    std::size_t column = indent;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::size_t length = end - begin;
        if (column > indent && column + 1 + length > page_width) {
            result += fmt::format("\n{:{}}", "", indent);
            column = indent;
        } else if (column > indent) {
            result += ' ';
            ++column;
        }
        result.append(text, begin, length);
        column += length;
        begin = end + 1;
    }
    return result;
}

/// "9000 B", or "9000 B; 1500 B on fn03"
std::string values_text(const ComparedFact& fact, const HostListText& host_list) {
    std::string text;
    for (const ComparedFact::Value& value : fact.values) {
        const std::string shown = value.value.empty() ? "unknown" : value.value;
        if (text.empty()) {
            text = shown;
        } else {
            text += fmt::format("; {} on {}", shown, host_list(value.hosts));
        }
    }
    return text;
}

std::string facts_text(const CheckResult& result, const HostListText& host_list) {
    std::string text;
    constexpr std::size_t indent = 36;
    std::string unknown;
    for (const ComparedFact& fact : result.facts) {
        if (fact.values.size() == 1 && fact.values.front().value.empty()) {
            unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", fact.name);
            continue;
        }
        const bool long_name = fact.name.size() + 4 > indent;
        text += fmt::format(
            "  {}{}{}\n", fact.name,
            long_name ? fmt::format("\n{:{}}", "", indent) : std::string(indent - 2 - fact.name.size(), ' '),
            wrapped(values_text(fact, host_list), indent));
    }
    if (!unknown.empty()) {
        text += fmt::format("  {:<{}}{}\n", "unknown on all hosts", indent - 2, wrapped(unknown, indent));
    }
    return text;
}

std::string joined(const std::set<std::string>& names) {
    return names.empty() ? "unknown" : fmt::format("{}", fmt::join(names, ", "));
}

std::string probe_text(const ProbeResult& probe) {
    const ProbeSummary summary = summary_of(probe);
    std::string text = fmt::format("Probe: {} of {} pairs of the plan tried, {} answered\n",
                                   probe.pairs.size(), probe.all_pairs, summary.reached);
    if (summary.slowest_pair) {
        const PairProbe& slowest = probe.pairs[*summary.slowest_pair];
        text += fmt::format("  {:<34}{} .. {}, median {}\n", "rate of a pair",
                            files::rate_text(summary.slowest_bits_per_second),
                            files::rate_text(summary.fastest_bits_per_second),
                            files::rate_text(summary.median_bits_per_second));
        text += fmt::format("  {:<34}producer {} on {} to consumer {} on {}\n", "slowest pair",
                            slowest.producer, slowest.producer_host, slowest.consumer, slowest.consumer_host);
        text += fmt::format("  {:<34}median {}, longest {}\n", "round trip of an empty message",
                            files::seconds_text(summary.median_round_trip_us * 1e-6),
                            files::seconds_text(summary.longest_round_trip_us * 1e-6));
    }
    std::set<std::string> layers;
    std::set<std::string> between;
    std::set<std::string> within;
    std::map<std::string, std::size_t> listening;  // by address, without the port
    for (const HostProbe& host : probe.hosts) {
        for (const std::string& socket : host.listening) {
            ++listening[socket.substr(0, socket.rfind(':'))];
        }
        if (!host.message_layer.empty()) {
            layers.insert(host.message_layer);
        }
        between.insert(host.lanes.between.begin(), host.lanes.between.end());
        within.insert(host.lanes.within.begin(), host.lanes.within.end());
    }
    text += fmt::format("  {:<34}{}\n", "message layer of MPI", joined(layers));
    std::vector<std::string> sockets;
    sockets.reserve(listening.size());
    for (const auto& [address, count] : listening) {
        sockets.push_back(fmt::format("{} ({})", address, count));
    }
    if (!sockets.empty()) {
        constexpr std::size_t most = 8;
        text += fmt::format("  {:<34}{}\n", "listening sockets", wrapped(files::listed(sockets, most), 36));
    }
    if (layers.contains("ucx")) {
        if (!between.empty()) {
            text += fmt::format("  {:<34}{}\n", "UCX between hosts", joined(between));
        }
        if (!within.empty()) {
            text += fmt::format("  {:<34}{}\n", "UCX within a host", joined(within));
        }
    }
    return text;
}

/// For people and for programs.
constexpr std::array<std::pair<const char*, const char*>, 3> severity_names{
    {{"SERIOUS", "serious"}, {"WARNING", "warning"}, {"note", "note"}}};

const auto& names_of(Severity severity) {
    return severity_names[static_cast<std::size_t>(severity)];
}

std::string finding_text(const Finding& finding, const HostListText& host_list, bool colours) {
    constexpr std::size_t indent = 9;
    std::string label = fmt::format("{:<{}}", names_of(finding.severity).first, indent);
    if (colours && finding.severity == Severity::serious) {
        label = fmt::format("{}{}{}", files::colour_red, label, files::colour_none);
    }
    const std::string where = finding.hosts.empty() ? "" : host_list(finding.hosts) + ": ";
    std::string text = label + wrapped(where + finding.what, indent) + '\n';
    if (!finding.advice.empty()) {
        text += fmt::format("{:{}}-> {}\n", "", indent, wrapped(finding.advice, indent + 3));
    }
    return text;
}

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(),
                      [&](const Finding& finding) { return finding.severity == severity; }));
}

std::string conclusion(const CheckResult& result, bool colours) {
    const std::size_t serious = count_of(result.findings, Severity::serious);
    const std::size_t warnings = count_of(result.findings, Severity::warning);
    if (serious > 0) {
        return fmt::format("{}{} and {}.{} Fix serious findings before you trust a run.\n",
                           colours ? files::colour_red : "", files::counted(serious, "serious finding"),
                           files::counted(warnings, "warning"), colours ? files::colour_none : "");
    }
    return fmt::format("{}No serious findings, {}.{}\n", colours ? files::colour_green : "",
                       files::counted(warnings, "warning"), colours ? files::colour_none : "");
}

}  // namespace

std::vector<Finding> in_order(std::vector<Finding> findings) {
    std::vector<Finding> merged;
    for (Finding& finding : findings) {
        const auto same = std::find_if(merged.begin(), merged.end(), [&](const Finding& other) {
            return other.severity == finding.severity && other.topic == finding.topic &&
                   other.what == finding.what && other.advice == finding.advice;
        });
        if (same == merged.end()) {
            merged.push_back(std::move(finding));
            continue;
        }
        for (std::string& host : finding.hosts) {
            if (std::find(same->hosts.begin(), same->hosts.end(), host) == same->hosts.end()) {
                same->hosts.push_back(std::move(host));
            }
        }
    }
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return merged;
}

void judge_hosts(CheckResult& result) {
    std::vector<Finding> findings;
    result.facts = compare(result.hosts, findings);
    for (const std::string& line : result.told_apart) {
        findings.push_back({.severity = Severity::warning,
                            .topic = "host_name",
                            .hosts = {},
                            .what = line,
                            .advice = "give each its own name (hostnamectl, or the container's --hostname)"});
    }
    const auto append = [&](const std::vector<Finding>& more) {
        findings.insert(findings.end(), more.begin(), more.end());
    };
    for (const HostView& host : result.hosts) {
        append(judge_host(host));
    }
    if (result.probe) {
        append(judge_probe(*result.probe, result.hosts));
    }
    result.findings = in_order(std::move(findings));
}

std::string check_text(const CheckResult& result, const HostListText& host_list, bool colours) {
    int producers = 0;
    int consumers = 0;
    int schedulers = 0;
    for (const HostView& host : result.hosts) {
        producers += host.part.producers;
        consumers += host.part.consumers;
        schedulers += host.part.schedulers;
    }
    std::string text = fmt::format("weir check: {}", files::counted(result.hosts.size(), "host"));
    if (producers + consumers > 0) {
        text +=
            fmt::format(" with {}, {}, {}", files::counted(static_cast<std::uint64_t>(producers), "producer"),
                        files::counted(static_cast<std::uint64_t>(consumers), "consumer"),
                        files::counted(static_cast<std::uint64_t>(schedulers), "scheduler"));
    }
    text += "\n\nSettings (the most common value first, then the hosts that differ)\n" +
            facts_text(result, host_list);
    std::set<std::string> reasons;
    for (const HostView& host : result.hosts) {
        reasons.insert(host.choice.why);
    }
    text += fmt::format("  {:<34}{}\n", "reason for these devices", wrapped(joined(reasons), 36));
    if (result.probe) {
        text += '\n' + probe_text(*result.probe);
    }
    text += "\nFindings, worst first\n";
    for (const Finding& finding : result.findings) {
        text += finding_text(finding, host_list, colours);
    }
    if (result.findings.empty()) {
        text += "  none\n";
    }
    return text + '\n' + conclusion(result, colours);
}

nlohmann::ordered_json check_json(const CheckResult& result) {
    using Json = nlohmann::ordered_json;
    Json findings = Json::array();
    for (const Finding& finding : result.findings) {
        findings.push_back({{"severity", names_of(finding.severity).second},
                            {"topic", finding.topic},
                            {"hosts", finding.hosts},
                            {"what", finding.what},
                            {"advice", finding.advice}});
    }
    Json facts = Json::array();
    for (const ComparedFact& fact : result.facts) {
        Json values = Json::array();
        for (const ComparedFact::Value& value : fact.values) {
            values.push_back(
                {{"value", value.value.empty() ? Json(nullptr) : Json(value.value)}, {"hosts", value.hosts}});
        }
        facts.push_back({{"name", fact.name}, {"values", std::move(values)}});
    }
    Json hosts = Json::array();
    for (const HostView& host : result.hosts) {
        hosts.push_back(Json(to_json(host.settings, host.choice)));
    }
    return {{"schema", "weir-check/1"},
            {"serious", count_of(result.findings, Severity::serious)},
            {"warnings", count_of(result.findings, Severity::warning)},
            {"findings", std::move(findings)},
            {"facts", std::move(facts)},
            {"probe", result.probe ? Json(to_json(*result.probe)) : Json(nullptr)},
            {"hosts", std::move(hosts)}};
}

}  // namespace weir::host
