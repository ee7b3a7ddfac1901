#include "record/csv_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdlib>

namespace weir::record {

namespace {

/// Puts cells together into a line. A simulation writes thousands of lines per second: numbers go in without
/// a format that would have to be read each time, and into memory that has room for all of them.
class Line {
  public:
    Line(const RowStart& start, std::optional<std::int64_t> unix_ns_at_second_0) {
        integer(start.second).text(phase_name(start.phase));
        if (unix_ns_at_second_0) {
            text(files::utc_text(*unix_ns_at_second_0 + start.second * ns_per_second));
        } else {
            text("");
        }
        seconds(start.covered);
    }
    template <typename Integer>
    Line& integer(Integer value) {
        end_ = std::to_chars(end_, cell_end(), value).ptr;
        return end_cell();
    }
    /// One instance for each column, with the number that it takes.
    template <const auto& columns, std::size_t place>
    void cell(const Row& row) {
        constexpr const Column& column = columns[place];
        if (column.known != nullptr && !(row.known.*column.known)) {
            end_cell();
            return;
        }
        const Number value = column.number(row);
        if (const auto* const count = std::get_if<std::int64_t>(&value)) {
            integer(*count);
        } else if (const auto* const time = std::get_if<core::Duration>(&value)) {
            column.unit == "us" ? microseconds(*time) : seconds(*time);
        } else {
            fraction(std::get<double>(value));
        }
    }
    template <const auto& columns>
    void cells(const Row& row) {
        static_assert((columns.size() + other_cells) * cell_bytes <= sizeof(text_));
        [&]<std::size_t... places>(std::index_sequence<places...>) {
            (cell<columns, places>(row), ...);
        }(std::make_index_sequence<columns.size()>());
    }
    Line& text(std::string_view value) {
        WEIR_ASSERT(value.size() < cell_bytes);
        end_ = std::copy(value.begin(), value.end(), end_);
        return end_cell();
    }
    Line& seconds(core::Duration value) {
        constexpr std::int64_t ns_per_us = 1000;
        // What lies between two microseconds is rounded as the number in seconds that it is nearest to.
        if (!has_exact_digits(value) || value.ns % ns_per_us == ns_per_us / 2) {
            return formatted("{:.6f}", value.in_seconds());
        }
        return fixed<6>((value.ns + ns_per_us / 2) / ns_per_us);
    }
    Line& microseconds(core::Duration value) {
        return has_exact_digits(value) ? fixed<3>(value.ns) : formatted("{:.3f}", value.in_microseconds());
    }
    /// When the longest stall ended, from the second's beginning; empty without one.
    Line& stall_end(const Row& row) {
        const core::Instant begin{row.start.second * ns_per_second};
        const bool known = row.poll_gaps.largest > core::Duration{} && row.poll_gaps.largest_end >= begin;
        return known ? seconds(row.poll_gaps.largest_end - begin) : end_cell();
    }
    Line& fraction(double value) { return std::isfinite(value) ? formatted("{:.6f}", value) : end_cell(); }

    /// The whole line, with its end.
    std::string line() {
        end_[-1] = '\n';
        return {text_.data(), end_};
    }

  private:
    static constexpr std::size_t cell_bytes = 64;  ///< most, with the comma
    static constexpr std::size_t other_cells = 5;  ///< beside columns

    /// As many digits as a double has, and no sign.
    static bool has_exact_digits(core::Duration value) {
        return value.ns >= 0 && value.ns < 1000000000000000;
    }
    /// `value`, not below 0, counts units of the last of so many decimal places.
    template <std::size_t places>
    Line& fixed(std::int64_t value) {
        constexpr std::int64_t one = places == 6 ? 1000000 : 1000;
        static_assert(places == 6 || places == 3);
        if (value == 0) {
            return text(places == 6 ? "0.000000" : "0.000");
        }
        end_ = std::to_chars(end_, cell_end(), value / one).ptr;
        *end_ = '.';
        auto rest = static_cast<std::uint32_t>(value % one);
        for (std::size_t place = places; place > 0; --place, rest /= 10) {
            end_[place] = static_cast<char>('0' + rest % 10);
        }
        end_ += places + 1;
        return end_cell();
    }
    Line& formatted(fmt::format_string<const double&> form, const double& value) {
        const auto put = fmt::format_to_n(end_, cell_bytes - 1, form, value);
        WEIR_ASSERT(put.size < cell_bytes);
        end_ = put.out;
        return end_cell();
    }
    [[nodiscard]] char* cell_end() { return end_ + cell_bytes - 1; }
    Line& end_cell() {
        *end_++ = ',';
        return *this;
    }

    std::array<char, 4096> text_;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled up to end_
    char* end_ = text_.data();
};

/// Exact, with two decimal places or as many more as it takes.
void add_seconds(std::string& line, std::int64_t ns) {
    constexpr int places = 9;
    const std::int64_t positive = std::abs(ns);
    const fmt::format_int whole(positive / ns_per_second);
    // With a 1 in front, so that zeros behind the point are kept.
    const fmt::format_int fraction(ns_per_second + positive % ns_per_second);
    int used = places;
    for (; used > 2 && fraction.data()[used] == '0'; --used) {
    }
    line += ns < 0 ? "-" : "";
    line.append(whole.data(), whole.size());
    line += '.';
    line.append(fraction.data() + 1, static_cast<std::size_t>(used));
}

void add(std::string& line, std::unsigned_integral auto value) {
    line += ',';
    if (value != std::numeric_limits<decltype(value)>::max()) {  // else unknown
        const fmt::format_int digits(value);
        line.append(digits.data(), digits.size());
    }
}

void add(std::string& line, core::Bytes bytes) {
    add(line, static_cast<std::uint64_t>(bytes.count));
}

void add(std::string& line, double value) {
    line += ',';
    if (std::isfinite(value)) {
        line += fmt::format("{:.6f}", value);
    }
}

/// To the microsecond.
void add(std::string& line, core::Duration time) {
    line += ',';
    if (time.ns > 0) {
        add_seconds(line, (time.ns + 500) / 1000 * 1000);
    } else {
        line += '0';
    }
}

// The columns of a role, between the time and the end of a line.
void for_columns(const ProducerBurst& burst, const auto& take) {
    take("generated_bytes", burst.generated);
    take("sent_bytes", burst.sent);
    take("occupancy_mean", burst.occupancy_mean);
    take("occupancy_peak", burst.occupancy_peak);
}

void for_columns(const ConsumerBurst& burst, const auto& take) {
    take("received_bytes", burst.received);
    take("blocked_s", burst.blocked);
    take("free_slots_min", burst.free_slots_min);
}

void for_columns(const SchedulerBurst& burst, const auto& take) {
    take("grants", burst.grants);
    take("waiting_events_max", burst.waiting_events_max);
    take("free_slots_min", burst.free_slots_min);
    take("waiting_for_slot_s", burst.waiting_for_slot);
}

}  // namespace

std::string rank_file_name(int rank, core::Role role) {
    return fmt::format("rank-{:05}-{}.csv", rank, core::role_name(role));
}

std::string csv_header(core::Role role) {
    std::string header = "second,phase,wall_time,covered_s,";
    for (const Column& column : columns_of(role)) {
        header.append(column.name) += ',';
    }
    return header + "poll_gap_end_s\n";
}

std::string csv_line(core::Role role, const Row& row, std::optional<std::int64_t> unix_ns_at_second_0) {
    Line line(row.start, unix_ns_at_second_0);
    switch (role) {
        case core::Role::producer:
            line.cells<producer_columns>(row);
            break;
        case core::Role::consumer:
            line.cells<consumer_columns>(row);
            break;
        case core::Role::scheduler:
            line.cells<scheduler_columns>(row);
            break;
    }
    return line.stall_end(row).line();
}

CsvLog& CsvLog::operator=(CsvLog&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(unix_ns_at_second_0_, other.unix_ns_at_second_0_);
    std::swap(writing_, other.writing_);
    std::swap(open_, other.open_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(block_, other.block_);
    std::swap(length_, other.length_);
    std::swap(error_, other.error_);
    return *this;
}

CsvLog::~CsvLog() {
    static_cast<void>(close());
}

files::MaybeIoError CsvLog::open(std::string path, core::Role role,
                                 std::optional<std::int64_t> unix_ns_at_second_0, Writing writing) {
    unix_ns_at_second_0_ = unix_ns_at_second_0;
    return open(std::move(path), csv_header(role), writing);
}

files::MaybeIoError CsvLog::open(std::string path, std::string_view header, Writing writing) {
    static_cast<void>(close());
    path_ = std::move(path);
    writing_ = writing;
    block_.clear();
    length_ = 0;
    error_.reset();
    const bool at_the_end = writing_ == Writing::row_by_row_at_the_end;
    if (open_file(at_the_end ? 0 : O_TRUNC)) {
        return error_;
    }
    open_ = true;
    if (at_the_end && (length_ = ::lseek(descriptor_, 0, SEEK_END)) > 0) {
        return error_;
    }
    length_ = 0;
    if (!put(header) && writing_ == Writing::in_blocks) {
        close_file();
    }
    return error_;
}

files::MaybeIoError CsvLog::open_file(int extra_flags) {
    do {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | extra_flags, 0666);
    } while (descriptor_ < 0 && errno == EINTR);
    return descriptor_ < 0 ? fail("create", errno) : files::MaybeIoError{};
}

files::MaybeIoError CsvLog::append(std::string_view line) {
    if (error_) {
        return error_;
    }
    if (!open_) {
        return fail("write", EBADF);
    }
    if (writing_ != Writing::in_blocks) {
        return put(line);
    }
    block_ += line;
    return block_.size() >= block_bytes ? put_block() : files::MaybeIoError{};
}

files::MaybeIoError CsvLog::put_block() {
    if (!open_file(0) && !put(block_)) {
        block_.clear();
        return close_file();
    }
    return error_;
}

files::MaybeIoError CsvLog::put(std::string_view text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
        if (written >= 0) {
            // Short only when the disk is full or a signal came: the next attempt shows which.
            rest.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            const int error_number = errno;
            cut_to_whole_lines(text.substr(0, text.size() - rest.size()));
            return fail("write", error_number);
        }
    }
    length_ += static_cast<std::int64_t>(text.size());
    return {};
}

void CsvLog::cut_to_whole_lines(std::string_view put) const {
    // Half a line would be read as a row. If this fails too, the last line is short.
    const std::size_t line_end = put.rfind('\n');
    const std::size_t whole = line_end == std::string_view::npos ? 0 : line_end + 1;
    if (whole < put.size()) {
        static_cast<void>(::ftruncate(descriptor_, length_ + static_cast<std::int64_t>(whole)) == 0);
    }
}

files::MaybeIoError CsvLog::close() {
    if (open_ && !block_.empty() && !error_) {
        static_cast<void>(put_block());
    }
    open_ = false;
    return descriptor_ < 0 ? error_ : close_file();
}

files::MaybeIoError CsvLog::close_file() {
    // Also after an error the descriptor is gone (Linux): never a second attempt.
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
        return fail("close", errno);
    }
    return error_;
}

files::MaybeIoError CsvLog::fail(const char* doing, int error_number) {
    error_ = files::IoError{path_, doing, error_number};
    return error_;
}

std::string burst_csv_header(core::Role role) {
    std::string header = "begin_s,covered_s";
    const auto add_name = [&](const char* name, auto) { header.append(",").append(name); };
    role == core::Role::producer   ? for_columns(ProducerBurst{}, add_name)
    : role == core::Role::consumer ? for_columns(ConsumerBurst{}, add_name)
                                   : for_columns(SchedulerBurst{}, add_name);
    return header + '\n';
}

template <typename Row>
std::string burst_csv_lines(const Row& row) {
    std::string lines;
    for (const auto& burst : row.bursts) {
        add_seconds(lines, burst.start.begin.ns);
        lines += ',';
        add_seconds(lines, burst.start.covered.ns);
        for_columns(burst, [&](const char*, auto value) { add(lines, value); });
        lines += '\n';
    }
    return lines;
}
template std::string burst_csv_lines(const ProducerRow& row);
template std::string burst_csv_lines(const ConsumerRow& row);
template std::string burst_csv_lines(const SchedulerRow& row);

}  // namespace weir::record
