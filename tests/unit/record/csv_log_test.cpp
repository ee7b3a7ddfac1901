#include "record/csv_log.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <limits>

#include "catch.hpp"
#include "temporary_directory.hpp"
#include "test_runs.hpp"

namespace record_csv_log_test_file {

using namespace weir::files;
using namespace weir::record;
using namespace weir::core;

namespace {

// 2026-01-31T12:00:00.250Z
constexpr std::int64_t zero = 1769860800'250'000'000;

ProducerRow producer_row() {
    ProducerRow row;
    row.start = {12, Phase::measure, Duration::seconds(1)};
    row.generated = {4, {10725000000}};
    row.sent = {3, {10000000001}};
    row.peak_10ms = {88123456789};
    row.lost = {1, {5}};
    row.backlog = {724999994};
    row.occupancy_mean = 0.25;
    row.occupancy_peak = 1.0000004;
    row.grants = 5;
    row.time.transferring = Duration{500'000'001};
    row.time.waiting_for_slot = Duration{250'000'000};
    row.time.waiting_for_grant = Duration{125'000'000};
    row.time.waiting_for_data = Duration{124'999'999};
    row.poll_gaps.largest = Duration{1234};
    row.late_sets = 3;
    row.load.backlogged = Duration::milliseconds(750);
    row.load.sending = Duration::milliseconds(500);
    row.load.all_streams = Duration::milliseconds(125);
    return row;
}

}  // namespace

TEST_CASE("Times in lines are rounded as a format would round them") {
    for (const std::int64_t ns :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{499}, std::int64_t{500}, std::int64_t{501},
          std::int64_t{1500}, std::int64_t{2500}, std::int64_t{999500}, std::int64_t{999999},
          std::int64_t{12345678}, std::int64_t{999999499}, std::int64_t{999999500}, std::int64_t{999999501},
          std::int64_t{1000000000}, std::int64_t{86400123456789}, std::int64_t{1234567890123456789},
          std::int64_t{-1}, std::int64_t{-700000}}) {
        CAPTURE(ns);
        ProducerRow row;
        row.start = {0, Phase::measure, Duration{ns}};
        row.poll_gaps.largest = Duration{ns};
        row.poll_gaps.largest_end = weir::core::Instant{-1};  // before the second: not known
        const std::string line = csv_line(Role::producer, row, std::nullopt);
        CHECK(line.starts_with(fmt::format("0,measure,,{:.6f},", Duration{ns}.in_seconds())));
        CHECK(line.ends_with(
            fmt::format(",{:.3f},,,,,0,0.000000,0.000000,0.000000,\n", Duration{ns}.in_microseconds())));
    }
}

TEST_CASE("Rows become lines, exactly") {
    CHECK(csv_header(Role::producer) ==
          "second,phase,wall_time,covered_s,generated_events,generated_bytes,sent_events,sent_bytes,"
          "sent_peak_10ms_bits_per_second,lost_events,lost_bytes,backlog_bytes,occupancy_mean,occupancy_peak,"
          "grants,"
          "transferring_s,waiting_for_slot_s,waiting_for_grant_s,waiting_for_data_s,poll_gap_max_us,"
          "sent_datagrams,sent_frames,wire_bytes,send_retries,late_sets,backlogged_s,sending_s,all_streams_"
          "s,poll_gap_end_s\n");
    CHECK(
        csv_line(Role::producer, producer_row(), zero) ==
        "12,measure,2026-01-31T12:00:12.250Z,1.000000,4,10725000000,3,10000000001,88123456789,1,5,724999994,"
        "0.250000,1.000000,5,0.500000,0.250000,0.125000,0.125000,1.234,,,,,3,0.750000,0.500000,0.125000,\n");

    ConsumerRow consumer;
    consumer.start = {-2, Phase::warmup, Duration::milliseconds(500)};
    consumer.received = {1, {1000}};
    consumer.peak_10ms = {800000};
    consumer.processed = {2, {2000}};
    consumer.time.processing = Duration::milliseconds(400);
    consumer.time.receiving = Duration::milliseconds(100);
    consumer.time.blocked = Duration::milliseconds(150);
    consumer.time.waiting_for_data = Duration::milliseconds(250);
    consumer.blocked_samples.bits = 5;
    consumer.free_slots_min = 3;
    consumer.corrupt_events = 1;
    consumer.load.free_slots = Duration::milliseconds(1500);
    consumer.load.receiving_slots = Duration::milliseconds(500);
    consumer.load.queued_slots = Duration::milliseconds(250);
    CHECK(csv_line(Role::consumer, consumer, zero) ==
          "-2,warmup,2026-01-31T11:59:58.250Z,0.500000,1,1000,800000,2,0.400000,0.100000,0.150000,0.250000,5,"
          "3,1,0,"
          "0.000,,,,,,,,,,0,0,1.500000,0.500000,0.250000,0.000000,\n");
    consumer.known.datagrams = true;
    consumer.datagrams.received = 9;
    consumer.datagrams.socket_drops = 7;
    consumer.socket_buffer_max_bytes = 212992;
    CHECK(csv_line(Role::consumer, consumer, zero)
              .ends_with(",0.000,9,0,0,0,7,212992,,,,0,0,1.500000,0.500000,0.250000,0.000000,\n"));
    consumer.known.builds = consumer.known.asks_again = true;
    consumer.finished_events = 11;
    consumer.given_up_events = 12;
    consumer.asked_again = 13;
    consumer.lost = {2, {2500}};
    CHECK(csv_line(Role::consumer, consumer, zero)
              .ends_with(",212992,11,12,13,2,2500,1.500000,0.500000,0.250000,0.000000,\n"));

    SchedulerRow scheduler;
    scheduler.start = {300, Phase::drain, Duration::seconds(1)};
    scheduler.ready_messages = 1;
    scheduler.offer_messages = 2;
    scheduler.done_messages = 3;
    scheduler.grants = 4;
    scheduler.events_without_credit = 7;
    scheduler.results = {8, {900}};
    scheduler.waiting_events = 5;
    scheduler.free_slots = 6;
    scheduler.time.waiting_for_data = Duration::seconds(1);
    scheduler.load.handling = Duration::milliseconds(1);
    scheduler.load.free_slots = Duration::seconds(6);
    scheduler.load.outstanding = Duration::milliseconds(4500);
    CHECK(csv_line(Role::scheduler, scheduler, zero) ==
          "300,drain,2026-01-31T12:05:00.250Z,1.000000,1,2,3,4,,7,8,900,5,6,1.000000,0.000000,0.000000,0."
          "000000,0."
          "000,0.001000,6.000000,4.500000,\n");
    scheduler.poll_gaps.largest = Duration::milliseconds(20);
    scheduler.poll_gaps.largest_end = weir::core::Instant{300750000000};
    CHECK(csv_line(Role::scheduler, scheduler, zero)
              .ends_with(",20000.000,0.001000,6.000000,4.500000,0.750000\n"));
    scheduler.known.control_packets = true;
    CHECK(csv_line(Role::scheduler, scheduler, zero).find(",1,2,3,4,0,7,8,900,") != std::string::npos);
}

TEST_CASE("What is absent is empty") {
    ProducerRow row = producer_row();
    row.occupancy_mean = row.occupancy_peak = std::numeric_limits<double>::quiet_NaN();
    CHECK(csv_line(Role::producer, row, {}) ==
          "12,measure,,1.000000,4,10725000000,3,10000000001,88123456789,1,5,724999994,,,5,0.500000,0.250000,"
          "0.125000,0.125000,1.234,,,,,3,0.750000,0.500000,0.125000,\n");
}

TEST_CASE("File names sort by rank") {
    CHECK(rank_file_name(12, Role::consumer) == "rank-00012-consumer.csv");
    CHECK(rank_file_name(0, Role::scheduler) == "rank-00000-scheduler.csv");
}

TEST_CASE("Every row is in the file as soon as it is written") {
    const TemporaryDirectory directory;
    const std::string path = directory / "rank.csv";
    CsvLog log;
    REQUIRE_FALSE(log.open(path, Role::producer, zero));
    CHECK(text_of(path) == csv_header(Role::producer));
    REQUIRE_FALSE(log.write(producer_row()));
    CHECK(text_of(path) ==
          std::string(csv_header(Role::producer)) + csv_line(Role::producer, producer_row(), zero));
    CsvLog moved = std::move(log);
    CHECK_FALSE(log.is_open());  // NOLINT(bugprone-use-after-move): that is the question
    REQUIRE_FALSE(moved.write(producer_row()));
    CHECK_FALSE(moved.close());
    CHECK_FALSE(moved.close());
    const std::string text = text_of(path);
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("Errors come back with path and reason") {
    CsvLog log;
    SECTION("no such directory") {
        const MaybeIoError error = log.open("/nowhere/at/all/rank.csv", Role::producer, {});
        REQUIRE(error);
        CHECK(error->message() == "cannot create /nowhere/at/all/rank.csv: No such file or directory");
        CHECK(log.write(producer_row()));
    }
    SECTION("a full disk") {
        const MaybeIoError error = log.open("/dev/full", Role::producer, {});
        REQUIRE(error);
        CHECK(error->message() == "cannot write /dev/full: No space left on device");
        CHECK(log.write(producer_row())->error_number == ENOSPC);
        CHECK(log.close());
    }
    SECTION("never opened") {
        CHECK(log.write(producer_row()));
    }
}

TEST_CASE("A line that does not fit is taken back") {
    const TemporaryDirectory directory;
    const std::string path = directory / "rank.csv";
    CsvLog log;
    REQUIRE_FALSE(log.open(path, Role::producer, zero));
    REQUIRE_FALSE(log.write(producer_row()));
    const std::string whole = text_of(path);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit tight = before;
    tight.rlim_cur = whole.size() + 10;  // room for ten bytes of the next line
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
    const MaybeIoError error = log.write(producer_row());
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);
    REQUIRE(error);
    CHECK(error->error_number == EFBIG);
    CHECK(text_of(path) == whole);
    // The file has a gap now: nothing may follow.
    CHECK(log.write(producer_row()));
    CHECK(text_of(path) == whole);
}

TEST_CASE("A log can be continued after the rows of another process") {
    const TemporaryDirectory directory;
    const std::string path = directory / "continued.csv";
    const auto at_the_end = CsvLog::Writing::row_by_row_at_the_end;
    for (const char* const line : {"1\n", "2\n"}) {
        CsvLog log;
        CHECK_FALSE(log.open(path, "second\n", at_the_end));
        CHECK_FALSE(log.append(line));
        CHECK_FALSE(log.close());
    }
    CHECK(text_of(path) == "second\n1\n2\n");
}

}  // namespace record_csv_log_test_file
