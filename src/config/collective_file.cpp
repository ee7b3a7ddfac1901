#include "config/collective_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "config/input_file.hpp"
#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/toml_file.hpp"
#include "config/traffic_lines.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using core::Collective;
using core::Duration;
using Entry = core::TrafficPlan::Entry;

struct Described {
    std::string name;
    std::string trace;
    Duration at;
    Collective collective;
};

core::CollectiveKind read_kind(const TomlFile& toml, const toml::node& node) {
    const std::string text = toml.text("kind", node);
    for (const auto& [name, kind] : core::collective_kinds) {
        if (name == text) {
            return kind;
        }
    }
    toml.refuse(
        node.source().begin,
        fmt::format("kind: '{}' is none of all-reduce, reduce-scatter, all-gather, all-to-all", shown(text)));
}

std::uint32_t read_number(const TomlFile& toml, const std::string& key, const toml::node& node,
                          std::int64_t least) {
    const auto number = node.value<std::int64_t>();
    if (!node.is_integer() || !number || *number < least ||
        *number > static_cast<std::int64_t>(nodes_limit)) {
        toml.refuse(node.source().begin,
                    fmt::format("{}: write a number from {} to {}", key, least, nodes_limit));
    }
    return static_cast<std::uint32_t>(*number);
}

/// A value that an option would take as well; `parse` throws UsageError.
template <typename Parse>
auto read_quantity(const TomlFile& toml, const std::string& key, const toml::node& node, const Parse& parse) {
    try {
        return parse(toml.value(key, node));
    } catch (const UsageError& error) {
        toml.refuse(node.source().begin, fmt::format("{}: {}", key, error.what()));
    }
}

Duration read_interval_part(const TomlFile& toml, const std::string& key, const toml::node& node) {
    const Duration time =
        read_quantity(toml, key, node, [](const std::string& text) { return parse_duration(text); });
    if (time < Duration{} || time > longest_interval) {
        toml.refuse(node.source().begin,
                    fmt::format("{}: {} is not from 0 to {}", key, to_text(time), to_text(longest_interval)));
    }
    return time;
}

void read_key(const TomlFile& toml, const std::string& key, const toml::node& node, Described& into) {
    Collective& collective = into.collective;
    if (key == "name") {
        into.name = toml.text(key, node);
    } else if (key == "trace") {
        into.trace = toml.text(key, node);
    } else if (key == "kind") {
        collective.kind = read_kind(toml, node);
    } else if (key == "algorithm") {
        collective.algorithm = toml.text(key, node);
    } else if (key == "workers") {
        collective.workers = read_number(toml, key, node, 2);
    } else if (key == "first_worker") {
        collective.first_worker = read_number(toml, key, node, 0);
    } else if (key == "size") {
        collective.size =
            read_quantity(toml, key, node, [](const std::string& text) { return parse_bytes(text); });
    } else if (key == "line_rate") {
        collective.line_rate =
            read_quantity(toml, key, node, [](const std::string& text) { return parse_rate(text); });
    } else if (key == "compute") {
        collective.compute = read_interval_part(toml, key, node);
    } else if (key == "at") {
        into.at = read_interval_part(toml, key, node);
    } else {
        toml.refuse(node.source().begin,
                    fmt::format("'{}' is no key of a collective; there are name, trace, kind, algorithm, "
                                "workers, size, compute, first_worker, at, line_rate",
                                shown(key)));
    }
}

Described read_table(const TomlFile& toml, const toml::table& table) {
    Described described;
    for (const auto& [key, node] : table) {
        read_key(toml, std::string(key.str()), node, described);
    }
    const bool complete = is_phase_name(described.name) && is_phase_name(described.collective.algorithm) &&
                          !described.trace.empty() && described.collective.workers > 0 &&
                          described.collective.size > core::Bytes{} && table.contains("kind");
    if (!complete) {
        toml.refuse(
            table.source().begin,
            "a collective needs a name and an algorithm (letters, digits, . _ -), a trace (the name of "
            "a file), a kind (all-reduce), a number of workers and a size (64MiB)");
    }
    return described;
}

/// Puts the trace of one collective behind those before it.
void add_trace(const TomlFile& toml, const toml::table& table, const Described& described,
               TrafficDescription& traffic) {
    const std::string directory = std::filesystem::path(traffic.file).parent_path().string();
    const std::string file = (std::filesystem::path(directory) / described.trace).string();
    TraceLines trace = read_trace_lines(file);
    const auto phase = static_cast<std::uint32_t>(traffic.phases.size());
    const auto first = static_cast<std::uint32_t>(traffic.entries.size());
    const Collective& collective = described.collective;
    const auto refuse = [&](const std::string& why) { toml.refuse(table.source().begin, why); };
    if (traffic.entries.size() + trace.entries.size() > transfers_limit || phase >= phases_limit) {
        refuse(fmt::format("more than {} collectives or {} transfers in all; write fewer", phases_limit,
                           transfers_limit));
    }
    for (Entry& entry : trace.entries) {
        const std::uint32_t highest = std::max(entry.from.value, entry.transfer.to.value);
        if (highest >= collective.workers) {
            refuse(fmt::format("{} has worker {}, but the collective has {} workers; write at least {}", file,
                               highest, collective.workers, highest + 1));
        }
        if (entry.transfer.at < collective.compute) {
            refuse(fmt::format("{} begins a transfer at {}, before the time to compute of {} is over", file,
                               to_text(entry.transfer.at), to_text(collective.compute)));
        }
        entry.from.value += collective.first_worker;
        entry.transfer.to.value += collective.first_worker;
        entry.transfer.at = entry.transfer.at + described.at;
        entry.transfer.phase = phase;
    }
    if (std::uint64_t{collective.first_worker} + collective.workers > nodes_limit) {
        refuse(fmt::format("the last worker is above {}", nodes_limit));
    }
    if (described.at + trace.last_at >= traffic.length) {
        refuse(fmt::format("the last transfer begins at {}, and the interval is {}; make it longer",
                           to_text(described.at + trace.last_at), to_text(traffic.length)));
    }
    for (core::Dependency& dependency : trace.dependencies) {
        dependency.transfer += first;
        dependency.input += first;
    }
    traffic.phases.push_back({described.name, described.at, {}});
    traffic.collectives.push_back(collective);
    traffic.entries.insert(traffic.entries.end(), trace.entries.begin(), trace.entries.end());
    traffic.dependencies.insert(traffic.dependencies.end(), trace.dependencies.begin(),
                                trace.dependencies.end());
}

}  // namespace

void read_collectives(TrafficDescription& traffic) {
    const TomlFile toml(
        read_input_file(traffic.file, most_toml_bytes, "the name of a TOML file with collectives"),
        traffic.file);
    const toml::array* const tables = toml.table()["collective"].as_array();
    const toml::node* const interval = toml.table().get("interval");
    if (tables == nullptr || tables->empty() || !tables->is_array_of_tables() || interval == nullptr ||
        toml.table().size() != 2) {
        toml.refuse(
            {1, 1},
            "collectives are an interval (from one iteration to the next, such as \"20ms\") and a list of "
            "[[collective]], and nothing else");
    }
    traffic.length = read_interval_part(toml, "interval", *interval);
    for (const toml::node& node : *tables) {
        const Described described = read_table(toml, *node.as_table());
        const auto same = [&](const core::TrafficPhase& phase) { return phase.name == described.name; };
        if (std::any_of(traffic.phases.begin(), traffic.phases.end(), same)) {
            toml.refuse(
                node.source().begin,
                fmt::format("two collectives are called {}; give each a name of its own", described.name));
        }
        add_trace(toml, *node.as_table(), described, traffic);
    }
    if (const auto twice = find_simultaneous(traffic.entries)) {
        toml.refuse(
            {1, 1},
            fmt::format("two collectives begin a transfer of worker {} to worker {} at the same {}; write "
                        "at = \"1us\" for one of them",
                        twice->from.value, twice->transfer.to.value, to_text(twice->transfer.at)));
    }
}

}  // namespace weir::config
