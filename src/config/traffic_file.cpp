#include "config/traffic_file.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <tuple>

#include "config/input_file.hpp"
#include "config/limits.hpp"
#include "config/passes.hpp"
#include "config/toml_file.hpp"

namespace weir::config {

namespace {

using core::Duration;
using Form = TrafficDescription::Form;
using Entry = core::TrafficPlan::Entry;

constexpr std::array<std::pair<std::string_view, Form>, 4> forms = {{{"matrix:", Form::matrix},
                                                                     {"sequence:", Form::sequence},
                                                                     {"trace:", Form::trace},
                                                                     {"collectives:", Form::collectives}}};

/// Whether a file may use the text as a name of a phase.
bool is_phase_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               std::string_view::npos;
}

/// A transfer that its producer begins at the same time as another one to the same consumer; nothing if there
/// is none.
std::optional<Entry> find_simultaneous(std::span<const Entry> entries) {
    std::vector<std::tuple<core::ProducerId, Duration, core::ConsumerId>> times_of_pairs;
    times_of_pairs.reserve(entries.size());
    for (const Entry& entry : entries) {
        times_of_pairs.emplace_back(entry.from, entry.transfer.at, entry.transfer.to);
    }
    std::sort(times_of_pairs.begin(), times_of_pairs.end());
    const auto found = std::adjacent_find(times_of_pairs.begin(), times_of_pairs.end());
    if (found == times_of_pairs.end()) {
        return std::nullopt;
    }
    const auto [from, at, to] = *found;
    return Entry{from, {.at = at, .to = to, .bytes = {}}};
}

// Sequences

struct SequencePhase {
    std::string name;
    std::string matrix;
    Duration period;
    std::uint32_t repeat = 1;
};

Duration read_period(const TomlFile& toml, const toml::node& node) {
    return toml.within(node.source().begin, "period", [&] {
        const Duration period = parse_duration(toml.value("period", node));
        if (period <= Duration{} || period > longest_interval) {
            throw UsageError("a phase of {} is too short or too long; write up to {}", files::exact(period),
                             to_text(longest_interval));
        }
        return period;
    });
}

SequencePhase read_phase(const TomlFile& toml, const toml::table& table, const std::string& directory) {
    SequencePhase phase;
    for (const auto& [key, node] : table) {
        const std::string name(key.str());
        const auto begin = node.source().begin;
        if (name == "name") {
            phase.name = toml.text(name, node);
        } else if (name == "matrix") {
            phase.matrix = (std::filesystem::path(directory) / toml.text(name, node)).string();
        } else if (name == "period") {
            phase.period = read_period(toml, node);
        } else if (name == "repeat") {
            const auto repeat = node.value<std::int64_t>();
            if (!repeat || *repeat < 1 || *repeat > static_cast<std::int64_t>(phases_limit)) {
                toml.refuse(begin, "repeat: write a number from 1 to {}", phases_limit);
            }
            phase.repeat = static_cast<std::uint32_t>(*repeat);
        } else {
            toml.refuse(begin, "'{}' is no key of a phase; there are name, matrix, period, repeat",
                        shown(name));
        }
    }
    if (!is_phase_name(phase.name) || phase.matrix.empty() || phase.period == Duration{}) {
        toml.refuse(table.source().begin,
                    "a phase needs a name (letters, digits, . _ -), a matrix (the name of a file) and a "
                    "period (2ms)");
    }
    return phase;
}

void read_sequence(TrafficDescription& traffic) {
    const TomlFile toml(read_input_file(traffic.file, most_toml_bytes, "the name of a TOML file with phases"),
                        traffic.file);
    const toml::array* const phases = toml.table()["phase"].as_array();
    if (phases == nullptr || phases->empty() || toml.table().size() != 1 || !phases->is_array_of_tables()) {
        toml.refuse({1, 1},
                    "a sequence is a list of [[phase]] with name, matrix and period, and nothing else");
    }
    const std::string directory = std::filesystem::path(traffic.file).parent_path().string();
    for (const toml::node& node : *phases) {
        const SequencePhase phase = read_phase(toml, *node.as_table(), directory);
        const std::vector<Entry> entries = read_matrix(phase.matrix);
        for (std::uint32_t turn = 0; turn < phase.repeat; ++turn) {
            const auto number = static_cast<std::uint32_t>(traffic.phases.size());
            if (number >= phases_limit || traffic.entries.size() + entries.size() > transfers_limit) {
                toml.refuse(node.source().begin, "more than {} phases or {} transfers in all; write fewer",
                            phases_limit, transfers_limit);
            }
            traffic.phases.push_back({phase.name, traffic.length, phase.period});
            for (Entry entry : entries) {
                entry.transfer.at = traffic.length;
                entry.transfer.phase = number;
                traffic.entries.push_back(entry);
            }
            traffic.length = traffic.length + phase.period;
        }
    }
    if (traffic.length > longest_interval) {
        toml.refuse({1, 1}, "the phases take {}, and at most {} are possible; write fewer",
                    files::exact(traffic.length), files::exact(longest_interval));
    }
}

// Collectives

std::uint32_t read_number(const TomlFile& toml, const std::string& key, const toml::node& node,
                          std::int64_t least) {
    const auto number = node.value<std::int64_t>();
    if (!node.is_integer() || !number || *number < least ||
        *number > static_cast<std::int64_t>(nodes_limit)) {
        toml.refuse(node.source().begin, "{}: write a number from {} to {}", key, least, nodes_limit);
    }
    return static_cast<std::uint32_t>(*number);
}

/// A value that an option would take as well; `parse` throws UsageError.
template <typename Parse>
auto read_quantity(const TomlFile& toml, const std::string& key, const toml::node& node, const Parse& parse) {
    return toml.within(node.source().begin, key, [&] { return parse(toml.value(key, node)); });
}

struct DescribedCollective {
    std::string name;
    std::string trace;
    Duration at;
    core::Collective collective;
};

core::CollectiveKind read_kind(const TomlFile& toml, const toml::node& node) {
    const std::string text = toml.text("kind", node);
    for (const auto& [name, kind] : core::collective_kinds) {
        if (name == text) {
            return kind;
        }
    }
    toml.refuse(node.source().begin,
                "kind: '{}' is none of all-reduce, reduce-scatter, all-gather, all-to-all", shown(text));
}

Duration read_interval_part(const TomlFile& toml, const std::string& key, const toml::node& node) {
    const Duration time = read_quantity(toml, key, node, parse_duration);
    if (time < Duration{} || time > longest_interval) {
        toml.refuse(node.source().begin, "{}: {} is not from 0 to {}", key, files::exact(time),
                    files::exact(longest_interval));
    }
    return time;
}

void read_collective_key(const TomlFile& toml, const std::string& key, const toml::node& node,
                         DescribedCollective& into) {
    core::Collective& collective = into.collective;
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
        collective.size = read_quantity(toml, key, node, parse_bytes);
    } else if (key == "line_rate") {
        collective.line_rate = read_quantity(toml, key, node, parse_rate);
    } else if (key == "compute") {
        collective.compute = read_interval_part(toml, key, node);
    } else if (key == "at") {
        into.at = read_interval_part(toml, key, node);
    } else {
        toml.refuse(node.source().begin,
                    "'{}' is no key of a collective; there are name, trace, kind, algorithm, workers, size, "
                    "compute, first_worker, at, line_rate",
                    shown(key));
    }
}

DescribedCollective read_collective(const TomlFile& toml, const toml::table& table) {
    DescribedCollective described;
    for (const auto& [key, node] : table) {
        read_collective_key(toml, std::string(key.str()), node, described);
    }
    const bool complete = is_phase_name(described.name) && is_phase_name(described.collective.algorithm) &&
                          !described.trace.empty() && described.collective.workers > 0 &&
                          described.collective.size > core::Bytes{} && table.contains("kind");
    if (!complete) {
        toml.refuse(table.source().begin,
                    "a collective needs a name and an algorithm (letters, digits, . _ -), a trace (the name "
                    "of a file), a kind (all-reduce), a number of workers and a size (64MiB)");
    }
    return described;
}

/// Puts the trace of one collective behind those before it.
void add_trace(const TomlFile& toml, const toml::table& table, const DescribedCollective& described,
               TrafficDescription& traffic) {
    const std::string directory = std::filesystem::path(traffic.file).parent_path().string();
    const std::string file = (std::filesystem::path(directory) / described.trace).string();
    TraceLines trace = read_trace_lines(file);
    const auto phase = static_cast<std::uint32_t>(traffic.phases.size());
    const auto first = static_cast<std::uint32_t>(traffic.entries.size());
    const core::Collective& collective = described.collective;
    const toml::source_position& begin = table.source().begin;
    if (traffic.entries.size() + trace.entries.size() > transfers_limit || phase >= phases_limit) {
        toml.refuse(begin, "more than {} collectives or {} transfers in all; write fewer", phases_limit,
                    transfers_limit);
    }
    for (Entry& entry : trace.entries) {
        const std::uint32_t highest = std::max(entry.from.value, entry.transfer.to.value);
        if (highest >= collective.workers) {
            toml.refuse(begin, "{} has worker {}, but the collective has {} workers; write at least {}", file,
                        highest, collective.workers, highest + 1);
        }
        if (entry.transfer.at < collective.compute) {
            toml.refuse(begin, "{} begins a transfer at {}, before the time to compute of {} is over", file,
                        files::exact(entry.transfer.at), files::exact(collective.compute));
        }
        entry.from.value += collective.first_worker;
        entry.transfer.to.value += collective.first_worker;
        entry.transfer.at = entry.transfer.at + described.at;
        entry.transfer.phase = phase;
    }
    if (std::uint64_t{collective.first_worker} + collective.workers > nodes_limit) {
        toml.refuse(begin, "the last worker is above {}", nodes_limit);
    }
    if (described.at + trace.last_at >= traffic.length) {
        toml.refuse(begin, "the last transfer begins at {}, and the interval is {}; make it longer",
                    files::exact(described.at + trace.last_at), files::exact(traffic.length));
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

void read_collectives(TrafficDescription& traffic) {
    const TomlFile toml(
        read_input_file(traffic.file, most_toml_bytes, "the name of a TOML file with collectives"),
        traffic.file);
    const toml::array* const tables = toml.table()["collective"].as_array();
    const toml::node* const interval = toml.table().get("interval");
    if (tables == nullptr || tables->empty() || !tables->is_array_of_tables() || interval == nullptr ||
        toml.table().size() != 2) {
        toml.refuse({1, 1},
                    "collectives are an interval (from one iteration to the next, such as \"20ms\") and a "
                    "list of [[collective]], and nothing else");
    }
    traffic.length = read_interval_part(toml, "interval", *interval);
    for (const toml::node& node : *tables) {
        const DescribedCollective described = read_collective(toml, *node.as_table());
        const auto same = [&](const core::TrafficPhase& phase) { return phase.name == described.name; };
        if (std::any_of(traffic.phases.begin(), traffic.phases.end(), same)) {
            toml.refuse(node.source().begin, "two collectives are called {}; give each a name of its own",
                        described.name);
        }
        add_trace(toml, *node.as_table(), described, traffic);
    }
    if (const auto twice = find_simultaneous(traffic.entries)) {
        toml.refuse({1, 1},
                    "two collectives begin a transfer of worker {} to worker {} at the same {}; write at = "
                    "\"1us\" for one of them",
                    twice->from.value, twice->transfer.to.value, files::exact(twice->transfer.at));
    }
}

void read_single_trace(TrafficDescription& traffic) {
    TraceLines trace = read_trace_lines(traffic.file);
    traffic.entries = std::move(trace.entries);
    traffic.dependencies = std::move(trace.dependencies);
    traffic.length = trace.last_at;
    traffic.phases.push_back({"all", {}, {}});
}

/// Places of `entries` by pair, and by time for each.
std::vector<std::size_t> order_of_steps(std::span<const Entry> entries) {
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto place = [&](std::size_t index) {
        const auto& [from, transfer] = entries[index];
        return std::tuple(from, transfer.to, transfer.at);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    return order;
}

/// Transfers of a pair are told apart by the times at which they may begin, and weir-traffic writes steps
/// that are 1 ns apart: where scaled times are equal, they are so again. Returns the latest time.
Duration keep_apart(std::span<Entry> entries, std::span<const std::size_t> order) {
    Duration latest;
    const Entry* before = nullptr;
    for (const std::size_t index : order) {
        Entry& entry = entries[index];
        if (before != nullptr && before->from == entry.from && before->transfer.to == entry.transfer.to) {
            entry.transfer.at = std::max(entry.transfer.at, before->transfer.at + Duration{1});
        }
        latest = std::max(latest, entry.transfer.at);
        before = &entry;
    }
    return latest;
}

}  // namespace

bool names_traffic(std::string_view pattern) {
    return std::any_of(forms.begin(), forms.end(),
                       [&](const auto& form) { return pattern.starts_with(form.first); });
}

TrafficDescription read_traffic(std::string_view pattern) {
    TrafficDescription traffic;
    for (const auto& [prefix, form] : forms) {
        if (pattern.starts_with(prefix)) {
            traffic.form = form;
            traffic.file = std::string(pattern.substr(prefix.size()));
        }
    }
    switch (traffic.form) {
        case Form::matrix:
            traffic.entries = read_matrix(traffic.file);
            traffic.phases.push_back({"all", {}, {}});
            break;
        case Form::sequence:
            read_sequence(traffic);
            break;
        case Form::trace:
            read_single_trace(traffic);
            break;
        case Form::collectives:
            read_collectives(traffic);
            break;
        case Form::none:
            throw UsageError("'{}' is none of {}", shown(pattern), traffic_forms);
    }
    check_traffic_sum(traffic.file, traffic.entries);
    for (const Entry& entry : traffic.entries) {
        traffic.producers = std::max(traffic.producers, entry.from.value + 1);
        traffic.consumers = std::max(traffic.consumers, entry.transfer.to.value + 1);
    }
    return traffic;
}

std::string traffic_text(const TrafficDescription& traffic) {
    for (const auto& [prefix, form] : forms) {
        if (traffic.form == form) {
            return std::string(prefix) + traffic.file;
        }
    }
    return {};
}

void scale_traffic(TrafficDescription& traffic, const Ratio& bytes_factor, const Ratio& time_factor) {
    const auto time = [&](Duration at) {
        return Duration{static_cast<std::int64_t>(static_cast<core::WideInteger>(at.ns) *
                                                  time_factor.numerator / time_factor.denominator)};
    };
    const bool has_steps = !traffic.dependencies.empty();
    const std::vector<std::size_t> steps =
        has_steps ? order_of_steps(traffic.entries) : std::vector<std::size_t>{};
    for (Entry& entry : traffic.entries) {
        entry.transfer.bytes = scale_up(scale_up(entry.transfer.bytes, bytes_factor), time_factor);
        entry.transfer.at = time(entry.transfer.at);
    }
    for (core::TrafficPhase& phase : traffic.phases) {
        phase.at = time(phase.at);
        phase.period = time(phase.period);
    }
    for (core::Dependency& dependency : traffic.dependencies) {
        dependency.compute = time(dependency.compute);
    }
    for (core::Collective& collective : traffic.collectives) {
        collective.size = scale_up(scale_up(collective.size, bytes_factor), time_factor);
        collective.compute = time(collective.compute);
    }
    traffic.length = time(traffic.length);
    if (has_steps) {
        const Duration last = keep_apart(traffic.entries, steps);
        traffic.length = traffic.form == Form::trace ? last : std::max(traffic.length, last + Duration{1});
    }
    check_traffic_sum(traffic.file, traffic.entries);
}

}  // namespace weir::config
