#include "config/traffic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "config/amounts.hpp"
#include "config/characters.hpp"
#include "config/input_file.hpp"
#include "config/limits.hpp"
#include "config/toml_file.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using core::Duration;
using Form = TrafficDescription::Form;
using Entry = core::TrafficPlan::Entry;

constexpr auto here = UsageError::Reach::this_host;

constexpr std::array<std::pair<std::string_view, Form>, 3> forms = {
    {{"matrix:", Form::matrix}, {"sequence:", Form::sequence}, {"trace:", Form::trace}}};

struct TimeUnit {
    std::string_view column;
    std::int64_t ns = 1;
};
constexpr std::array<TimeUnit, 4> time_units = {
    {{"time_s", 1000000000}, {"time_ms", 1000000}, {"time_us", 1000}, {"time_ns", 1}}};

[[noreturn]] void refuse(const std::string& file, int line, const std::string& why) {
    throw UsageError(fmt::format("{}:{}: {}", file, line, why), here);
}

/// What a message repeats of a line that may be anything.
std::string shown(std::string_view text) {
    constexpr std::size_t most = 40;
    std::string plain(text.substr(0, most));
    std::replace_if(plain.begin(), plain.end(), [](char sign) { return sign < ' ' || sign > '~'; }, '?');
    return plain + (text.size() > most ? "..." : "");
}

/// The lines of a CSV file behind its header, one by one.
class CsvLines {
  public:
    CsvLines(std::string file, std::string_view expected)
        : file_(std::move(file)),
          content_(read_input_file(file_, trace_bytes_limit, expected)),
          rest_(content_) {}

    /// The next line that is neither empty nor a comment, without blanks around it.
    std::optional<std::string_view> next() {
        while (!rest_.empty()) {
            const std::string_view line = rest_.substr(0, rest_.find('\n'));
            rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
            ++number_;
            const std::string_view text = trimmed(line);
            if (!text.empty() && text.front() != '#') {
                return text;
            }
        }
        return std::nullopt;
    }
    /// The fields of a line, of which there must be so many.
    template <std::size_t count>
    std::array<std::string_view, count> fields(std::string_view line, std::string_view header) const {
        std::array<std::string_view, count> found{};
        std::size_t number = 0;
        for (std::string_view rest = line;; rest.remove_prefix(rest.find(',') + 1)) {
            if (number < count) {
                found[number] = trimmed(rest.substr(0, rest.find(',')));
            }
            ++number;
            if (rest.find(',') == std::string_view::npos) {
                break;
            }
        }
        if (number != count) {
            complain(fmt::format("'{}' has {} fields; write {}: {}", shown(line), number, count, header));
        }
        return found;
    }
    template <typename Number>
    Number number(std::string_view text, std::string_view what, Number least, Number most) const {
        Number value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
            complain(
                fmt::format("'{}' is no {}; write a number from {} to {}", shown(text), what, least, most));
        }
        return value;
    }
    [[noreturn]] void complain(const std::string& why) const { refuse(file_, number_, why); }
    [[nodiscard]] int line() const { return number_; }

  private:
    std::string file_;
    std::string content_;
    std::string_view rest_;
    int number_ = 0;
};

constexpr std::string_view matrix_header = "producer,consumer,bytes";

Entry read_entry(const CsvLines& lines, std::span<const std::string_view> fields) {
    constexpr auto last = static_cast<std::uint32_t>(nodes_limit - 1);
    constexpr std::int64_t most_in_transfer = std::int64_t{1} << 50;
    Entry entry;
    entry.from.value = lines.number<std::uint32_t>(fields[0], "index of a producer", 0, last);
    entry.transfer.to.value = lines.number<std::uint32_t>(fields[1], "index of a consumer", 0, last);
    entry.transfer.bytes.count =
        lines.number<std::int64_t>(fields[2], "number of bytes", 1, most_in_transfer);
    return entry;
}

void check_count(const CsvLines& lines, std::size_t entries) {
    if (entries > transfers_limit) {
        lines.complain(fmt::format("more than {} transfers; write fewer", transfers_limit));
    }
}

std::vector<Entry> read_matrix(const std::string& file) {
    CsvLines lines(file, "the name of a CSV file with the columns producer,consumer,bytes");
    const auto header = lines.next();
    if (header != matrix_header) {
        lines.complain(fmt::format("'{}' is not the header of a matrix; write {}", shown(header.value_or("")),
                                   matrix_header));
    }
    std::vector<Entry> entries;
    std::set<std::pair<core::ProducerId, core::ConsumerId>> pairs;
    while (const auto line = lines.next()) {
        entries.push_back(read_entry(lines, lines.fields<3>(*line, matrix_header)));
        check_count(lines, entries.size());
        if (!pairs.emplace(entries.back().from, entries.back().transfer.to).second) {
            lines.complain(fmt::format("producer {} has consumer {} twice; write one line with the sum",
                                       entries.back().from.value, entries.back().transfer.to.value));
        }
    }
    if (entries.empty()) {
        lines.complain(
            "the matrix has no line behind its header; write one for each pair, such as 0,1,1048576");
    }
    return entries;
}

/// Which column of time the header of a trace has.
TimeUnit time_unit(const CsvLines& lines, std::string_view header) {
    for (const TimeUnit& unit : time_units) {
        if (header == fmt::format("{},{}", unit.column, matrix_header)) {
            return unit;
        }
    }
    lines.complain(
        fmt::format("'{}' is not the header of a trace; write time_us,{} (or time_s, time_ms, time_ns)",
                    shown(header), matrix_header));
}

void read_trace_lines(TrafficDescription& traffic) {
    CsvLines lines(traffic.file, "the name of a CSV file with the columns time_us,producer,consumer,bytes");
    const TimeUnit unit = time_unit(lines, lines.next().value_or(""));
    const double most = static_cast<double>(longest_interval.ns) / static_cast<double>(unit.ns);
    while (const auto line = lines.next()) {
        const auto fields = lines.fields<4>(*line, fmt::format("{},{}", unit.column, matrix_header));
        const auto time = lines.number<double>(fields[0], "time", 0, most);
        Entry entry = read_entry(lines, std::span(fields).subspan(1));
        entry.transfer.at = Duration{std::llround(time * static_cast<double>(unit.ns))};
        if (entry.transfer.at < traffic.length) {
            lines.complain("this time is before that of the line above; sort the trace by time");
        }
        traffic.length = entry.transfer.at;
        traffic.entries.push_back(entry);
        check_count(lines, traffic.entries.size());
    }
    if (traffic.entries.empty()) {
        lines.complain(
            "the trace has no line behind its header; write one for each transfer, such as "
            "12.5,0,1,1048576");
    }
    traffic.phases.push_back({"all", {}, {}});
}

// Sequences

struct SequencePhase {
    std::string name;
    std::string matrix;
    Duration period;
    std::uint64_t repeat = 1;
};

Duration read_period(const TomlFile& toml, const toml::node& node) {
    try {
        const Duration period = parse_duration(toml.value("period", node));
        if (period <= Duration{} || period > longest_interval) {
            throw UsageError(fmt::format("a phase of {} is too short or too long; write up to {}",
                                         to_text(period), to_text(longest_interval)));
        }
        return period;
    } catch (const UsageError& error) {
        toml.refuse(node.source().begin, fmt::format("period: {}", error.what()));
    }
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
                toml.refuse(begin, fmt::format("repeat: write a number from 1 to {}", phases_limit));
            }
            phase.repeat = static_cast<std::uint64_t>(*repeat);
        } else {
            toml.refuse(begin,
                        fmt::format("'{}' is no key of a phase; there are name, matrix, period, repeat",
                                    shown(name)));
        }
    }
    const bool plain = !phase.name.empty() && phase.name.size() <= 64 &&
                       phase.name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789._-") == std::string::npos;
    if (!plain || phase.matrix.empty() || phase.period == Duration{}) {
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
        for (std::uint64_t turn = 0; turn < phase.repeat; ++turn) {
            const auto number = static_cast<std::uint32_t>(traffic.phases.size());
            if (number >= phases_limit || traffic.entries.size() + entries.size() > transfers_limit) {
                toml.refuse(node.source().begin,
                            fmt::format("more than {} phases or {} transfers in all; write fewer",
                                        phases_limit, transfers_limit));
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
        toml.refuse({1, 1}, fmt::format("the phases take {}, and at most {} are possible; write fewer",
                                        to_text(traffic.length), to_text(longest_interval)));
    }
}

/// Lines of a trace with the same time and pair are one transfer.
void join_equal(std::vector<Entry>& entries) {
    const auto key = [](const Entry& entry) {
        return std::tuple(entry.transfer.at, entry.transfer.phase, entry.from, entry.transfer.to);
    };
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
    std::vector<Entry> joined;
    joined.reserve(entries.size());
    for (const Entry& entry : entries) {
        if (!joined.empty() && key(joined.back()) == key(entry)) {
            joined.back().transfer.bytes += entry.transfer.bytes;
        } else {
            joined.push_back(entry);
        }
    }
    entries = std::move(joined);
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
            read_trace_lines(traffic);
            break;
        case Form::none:
            throw UsageError(fmt::format("'{}' is none of {}", shown(pattern), traffic_forms));
    }
    check_traffic_sum(traffic.file, traffic.entries);
    join_equal(traffic.entries);
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
    for (Entry& entry : traffic.entries) {
        entry.transfer.bytes = scale_up(scale_up(entry.transfer.bytes, bytes_factor), time_factor);
        entry.transfer.at = time(entry.transfer.at);
    }
    for (core::TrafficPhase& phase : traffic.phases) {
        phase.at = time(phase.at);
        phase.period = time(phase.period);
    }
    traffic.length = time(traffic.length);
    check_traffic_sum(traffic.file, traffic.entries);
}

}  // namespace weir::config
