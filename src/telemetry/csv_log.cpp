#include "telemetry/csv_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <iterator>
#include <utility>

#include "telemetry/second_clock.hpp"
#include "telemetry/text.hpp"

namespace weir::telemetry {

namespace {

constexpr std::string_view producer_header =
    "second,phase,wall_time,covered_s,generated_events,generated_bytes,sent_events,sent_bytes,"
    "sent_peak_10ms_bits_per_second,lost_events,lost_bytes,backlog_bytes,occupancy_mean,occupancy_peak,"
    "grants,"
    "transferring_s,waiting_for_slot_s,waiting_for_grant_s,waiting_for_data_s,poll_gap_max_us\n";

constexpr std::string_view consumer_header =
    "second,phase,wall_time,covered_s,received_events,received_bytes,received_peak_10ms_bits_per_second,"
    "processed_events,processing_s,receiving_s,blocked_s,waiting_for_data_s,blocked_samples_50ms,free_slots_"
    "min,"
    "corrupt_events,duplicate_events,poll_gap_max_us\n";

constexpr std::string_view scheduler_header =
    "second,phase,wall_time,covered_s,ready_messages,offer_messages,done_messages,grants,waiting_events,free_"
    "slots,"
    "waiting_for_data_s,waiting_for_slot_s,waiting_for_stream_s,idle_s,poll_gap_max_us\n";

/// Puts cells together into a line.
class Line {
  public:
    Line(const RowStart& start, std::optional<std::int64_t> unix_ns_at_second_0) {
        integer(start.second).text(phase_name(start.phase));
        if (unix_ns_at_second_0) {
            text(utc_text(*unix_ns_at_second_0 + start.second * ns_per_second));
        } else {
            text("");
        }
        seconds(start.covered);
    }
    template <typename Integer>
    Line& integer(Integer value) {
        return cell("{}", value);
    }
    Line& text(std::string_view value) { return cell("{}", value); }
    Line& seconds(core::Duration value) { return cell("{:.6f}", value.in_seconds()); }
    Line& microseconds(core::Duration value) { return cell("{:.3f}", value.in_microseconds()); }
    Line& fraction(double value) { return std::isfinite(value) ? cell("{:.6f}", value) : text(""); }

    std::string take() {
        line_.back() = '\n';
        return std::move(line_);
    }

  private:
    template <typename Value>
    Line& cell(fmt::format_string<const Value&> form, const Value& value) {
        fmt::format_to(std::back_inserter(line_), form, value);
        line_ += ',';
        return *this;
    }
    std::string line_;
};

}  // namespace

std::string rank_file_name(int rank, core::Role role) {
    return fmt::format("rank-{:05}-{}.csv", rank, core::role_name(role));
}

std::string_view csv_header(core::Role role) {
    switch (role) {
        case core::Role::producer:
            return producer_header;
        case core::Role::consumer:
            return consumer_header;
        case core::Role::scheduler:
            break;
    }
    return scheduler_header;
}

std::string csv_line(const ProducerRow& row, std::optional<std::int64_t> unix_ns_at_second_0) {
    return Line(row.start, unix_ns_at_second_0)
        .integer(row.generated.events)
        .integer(row.generated.bytes.count)
        .integer(row.sent.events)
        .integer(row.sent.bytes.count)
        .integer(row.sent_peak_10ms.bits_per_second)
        .integer(row.lost.events)
        .integer(row.lost.bytes.count)
        .integer(row.backlog.count)
        .fraction(row.occupancy_mean)
        .fraction(row.occupancy_peak)
        .integer(row.grants)
        .seconds(row.time.transferring)
        .seconds(row.time.waiting_for_slot)
        .seconds(row.time.waiting_for_grant)
        .seconds(row.time.waiting_for_data)
        .microseconds(row.poll_gap_max)
        .take();
}

std::string csv_line(const ConsumerRow& row, std::optional<std::int64_t> unix_ns_at_second_0) {
    return Line(row.start, unix_ns_at_second_0)
        .integer(row.received.events)
        .integer(row.received.bytes.count)
        .integer(row.received_peak_10ms.bits_per_second)
        .integer(row.processed.events)
        .seconds(row.time.processing)
        .seconds(row.time.receiving)
        .seconds(row.time.blocked)
        .seconds(row.time.waiting_for_data)
        .integer(row.blocked_samples.bits)
        .integer(row.free_slots_min)
        .integer(row.corrupt_events)
        .integer(row.duplicate_events)
        .microseconds(row.poll_gap_max)
        .take();
}

std::string csv_line(const SchedulerRow& row, std::optional<std::int64_t> unix_ns_at_second_0) {
    return Line(row.start, unix_ns_at_second_0)
        .integer(row.ready_messages)
        .integer(row.offer_messages)
        .integer(row.done_messages)
        .integer(row.grants)
        .integer(row.waiting_events)
        .integer(row.free_slots)
        .seconds(row.time.waiting_for_data)
        .seconds(row.time.waiting_for_slot)
        .seconds(row.time.waiting_for_stream)
        .seconds(row.time.idle)
        .microseconds(row.poll_gap_max)
        .take();
}

CsvLog::CsvLog(CsvLog&& other) noexcept
    : path_(std::move(other.path_)),
      unix_ns_at_second_0_(other.unix_ns_at_second_0_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      length_(other.length_),
      error_(std::move(other.error_)) {}

CsvLog& CsvLog::operator=(CsvLog&& other) noexcept {
    if (this != &other) {
        static_cast<void>(close());
        path_ = std::move(other.path_);
        unix_ns_at_second_0_ = other.unix_ns_at_second_0_;
        descriptor_ = std::exchange(other.descriptor_, -1);
        length_ = other.length_;
        error_ = std::move(other.error_);
    }
    return *this;
}

CsvLog::~CsvLog() {
    static_cast<void>(close());
}

MaybeIoError CsvLog::open(std::string path, core::Role role,
                          std::optional<std::int64_t> unix_ns_at_second_0) {
    static_cast<void>(close());
    path_ = std::move(path);
    unix_ns_at_second_0_ = unix_ns_at_second_0;
    length_ = 0;
    error_.reset();
    do {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) {
        return fail("create", errno);
    }
    return append(csv_header(role));
}

MaybeIoError CsvLog::append(std::string_view line) {
    if (error_) {
        return error_;
    }
    if (descriptor_ < 0) {
        return fail("write", EBADF);
    }
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
        if (written >= 0) {
            // Short only when the disk is full or a signal came: the next attempt tells which.
            rest.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            const int error_number = errno;
            if (rest.size() < line.size()) {
                // Half a line would be read as a row. If this fails too, the reader still sees a short last
                // line.
                static_cast<void>(::ftruncate(descriptor_, length_) == 0);
            }
            return fail("write", error_number);
        }
    }
    length_ += static_cast<std::int64_t>(line.size());
    return {};
}

MaybeIoError CsvLog::close() {
    if (descriptor_ < 0) {
        return {};
    }
    // Also after an error the descriptor is gone (Linux): never a second attempt.
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
        return fail("close", errno);
    }
    return error_;
}

MaybeIoError CsvLog::fail(const char* doing, int error_number) {
    error_ = IoError{path_, doing, error_number};
    return error_;
}

}  // namespace weir::telemetry
