#include "config/traffic_file.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "config/input_file.hpp"
#include "config/limits.hpp"
#include "config/passes.hpp"
#include "config/words.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

using core::Duration;
using Entry = core::TrafficPlan::Entry;

constexpr std::size_t most_fields = 6;
using Fields = std::array<std::string_view, most_fields>;

struct TimeUnit {
    std::string_view column;
    std::int64_t ns = 1;
};
constexpr std::array<TimeUnit, 4> time_units = {
    {{"time_s", 1000000000}, {"time_ms", 1000000}, {"time_us", 1000}, {"time_ns", 1}}};

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
    /// The fields of a line, of which there must be as many as in the header.
    [[nodiscard]] Fields fields(std::string_view line, std::string_view header) const {
        const auto count = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
        Fields found{};
        std::size_t number = 0;
        for (std::string_view rest = line;; rest.remove_prefix(rest.find(',') + 1)) {
            if (number < std::min(count, found.size())) {
                found[number] = trimmed(rest.substr(0, rest.find(',')));
            }
            ++number;
            if (rest.find(',') == std::string_view::npos) {
                break;
            }
        }
        if (number != count) {
            complain("'{}' has {} fields; write {}: {}", shown(line), number, count, header);
        }
        return found;
    }
    template <typename Number>
    Number number(std::string_view text, std::string_view what, Number least, Number most) const {
        const std::optional<Number> value = files::number_in<Number>(text);
        if (!value || !(*value >= least && *value <= most)) {
            complain("'{}' is no {}; write a number from {} to {}", shown(text), what, least, most);
        }
        return *value;
    }
    template <typename... Arguments>
    [[noreturn]] void complain(fmt::format_string<Arguments...> why, Arguments&&... arguments) const {
        throw UsageError(UsageError::Reach::this_host, "{}:{}: {}", file_, number_,
                         fmt::format(why, std::forward<Arguments>(arguments)...));
    }

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
        lines.complain("more than {} transfers; write fewer", transfers_limit);
    }
}

constexpr std::string_view after_column = "after";

/// The header of a trace.
struct TraceColumns {
    TimeUnit unit;
    std::string header;
    bool after = false;
    bool compute = false;
};

TraceColumns trace_columns(const CsvLines& lines, std::string_view header) {
    for (const TimeUnit& unit : time_units) {
        const std::string plain = fmt::format("{},{}", unit.column, matrix_header);
        const std::string after = fmt::format("{},{}", plain, after_column);
        const std::string compute = fmt::format("{},compute_{}", after, unit.column.substr(5));
        if (header == plain || header == after || header == compute) {
            return {unit, std::string(header), header != plain, header == compute};
        }
    }
    lines.complain(
        "'{}' is not the header of a trace; write time_us,{} (or time_s, time_ms, time_ns), and where "
        "transfers wait for others time_us,{},after or time_us,{},after,compute_us",
        shown(header), matrix_header, matrix_header, matrix_header);
}

Duration read_time(const CsvLines& lines, std::string_view text, const TimeUnit& unit) {
    const double most = static_cast<double>(longest_interval.ns) / static_cast<double>(unit.ns);
    return Duration{std::llround(lines.number<double>(text, "time", 0, most) * static_cast<double>(unit.ns))};
}

/// Numbers of transfers, with blanks between them, that the last transfer of the trace waits for.
void read_inputs(const CsvLines& lines, std::string_view text, Duration compute, TraceLines& trace) {
    const auto self = static_cast<std::uint32_t>(trace.entries.size() - 1);
    const core::ProducerId worker = trace.entries[self].from;
    if (text.empty() && compute > Duration{}) {
        lines.complain(
            "a time to compute without a transfer to wait for; name one in the column after, or begin the "
            "transfer later");
    }
    const std::size_t first = trace.dependencies.size();
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest = trimmed(rest.substr(word.size()));
        const auto input = lines.number<std::uint32_t>(word, "number of a transfer", 0,
                                                       static_cast<std::uint32_t>(transfers_limit));
        if (input >= self) {
            lines.complain(
                "transfer {} waits for transfer {}, which is not above it; a transfer waits for some of "
                "those above it, counted from 0",
                self, input);
        }
        const core::ConsumerId receiver = trace.entries[input].transfer.to;
        if (receiver.value != worker.value) {
            lines.complain(
                "producer {} waits for transfer {}, which goes to consumer {}; it can only wait for what "
                "consumer {} receives",
                worker.value, input, receiver.value, worker.value);
        }
        const auto same = [&](const core::Dependency& other) { return other.input == input; };
        if (std::any_of(trace.dependencies.begin() + static_cast<std::ptrdiff_t>(first),
                        trace.dependencies.end(), same)) {
            lines.complain("transfer {} stands twice in the column after; write it once", input);
        }
        trace.dependencies.push_back({self, input, compute});
        if (trace.dependencies.size() > transfers_limit) {
            lines.complain("transfers wait for more than {} others in all; write fewer", transfers_limit);
        }
    }
}

/// In a trace whose transfers have numbers, each differs from all others in pair or time.
void check_unique(const CsvLines& lines, const TraceLines& trace,
                  std::set<std::pair<core::ProducerId, core::ConsumerId>>& at_this_time) {
    const Entry& entry = trace.entries.back();
    const std::size_t count = trace.entries.size();
    if (count > 1 && trace.entries[count - 2].transfer.at != entry.transfer.at) {
        at_this_time.clear();
    }
    if (!at_this_time.emplace(entry.from, entry.transfer.to).second) {
        lines.complain(
            "producer {} begins two transfers to consumer {} at the same time; with a column after, write "
            "this one 1 ns later",
            entry.from.value, entry.transfer.to.value);
    }
}

/// Lines of a trace with the same time and pair are one transfer.
void join_equal(std::vector<Entry>& entries) {
    const auto key = [](const Entry& entry) {
        return std::tuple(entry.transfer.at, entry.from, entry.transfer.to);
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

std::string shown(std::string_view text) {
    constexpr std::size_t most = 40;
    std::string plain(text.substr(0, most));
    std::replace_if(plain.begin(), plain.end(), [](char sign) { return sign < ' ' || sign > '~'; }, '?');
    return plain + (text.size() > most ? "..." : "");
}

std::vector<Entry> read_matrix(const std::string& file) {
    CsvLines lines(file, "the name of a CSV file with the columns producer,consumer,bytes");
    const auto header = lines.next();
    if (header != matrix_header) {
        lines.complain("'{}' is not the header of a matrix; write {}", shown(header.value_or("")),
                       matrix_header);
    }
    std::vector<Entry> entries;
    std::set<std::pair<core::ProducerId, core::ConsumerId>> pairs;
    while (const auto line = lines.next()) {
        entries.push_back(read_entry(lines, lines.fields(*line, matrix_header)));
        check_count(lines, entries.size());
        if (!pairs.emplace(entries.back().from, entries.back().transfer.to).second) {
            lines.complain("producer {} has consumer {} twice; write one line with the sum",
                           entries.back().from.value, entries.back().transfer.to.value);
        }
    }
    if (entries.empty()) {
        lines.complain(
            "the matrix has no line behind its header; write one for each pair, such as 0,1,1048576");
    }
    return entries;
}

TraceLines read_trace_lines(const std::string& file) {
    CsvLines lines(file, "the name of a CSV file with the columns time_us,producer,consumer,bytes");
    const TraceColumns columns = trace_columns(lines, lines.next().value_or(""));
    TraceLines trace;
    std::set<std::pair<core::ProducerId, core::ConsumerId>> at_this_time;
    while (const auto line = lines.next()) {
        const Fields fields = lines.fields(*line, columns.header);
        Entry entry = read_entry(lines, std::span(fields).subspan(1));
        entry.transfer.at = read_time(lines, fields[0], columns.unit);
        if (entry.transfer.at < trace.last_at) {
            lines.complain("this time is before that of the line above; sort the trace by time");
        }
        trace.last_at = entry.transfer.at;
        trace.entries.push_back(entry);
        check_count(lines, trace.entries.size());
        if (columns.after) {
            check_unique(lines, trace, at_this_time);
            const bool computes = columns.compute && !fields[5].empty();
            read_inputs(lines, fields[4], computes ? read_time(lines, fields[5], columns.unit) : Duration{},
                        trace);
        }
    }
    if (trace.entries.empty()) {
        lines.complain(
            "the trace has no line behind its header; write one for each transfer, such as 12.5,0,1,1048576");
    }
    check_traffic_sum(file, trace.entries);
    if (!columns.after) {
        join_equal(trace.entries);
    }
    return trace;
}

}  // namespace weir::config
