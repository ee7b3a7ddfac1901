#include "record/rank_summary.hpp"

#include <cstring>
#include <vector>

#include "catch.hpp"
#include "record/second_clock.hpp"

using namespace weir::record;
using namespace weir::core;

TEST_CASE("Seconds are numbered downwards before 0, and phases follow from them") {
    CHECK(second_of(Instant{0}) == 0);
    CHECK(second_of(Instant{999'999'999}) == 0);
    CHECK(second_of(Instant{-1}) == -1);
    CHECK(second_of(Instant{-1'000'000'000}) == -1);
    CHECK(second_of(Instant{-1'000'000'001}) == -2);
    CHECK(phase_of(-1, Duration::seconds(5)) == Phase::warmup);
    CHECK(phase_of(4, Duration::seconds(5)) == Phase::measure);
    CHECK(phase_of(5, Duration::seconds(5)) == Phase::drain);
    CHECK(phase_of(5, Duration::milliseconds(5500)) == Phase::measure);
    CHECK(phase_of(6, Duration::milliseconds(5500)) == Phase::drain);
}

TEST_CASE("A summary from a report has all of the report") {
    RankSummary summary;
    summary.node = node_of(ProducerId{4});
    Row row;
    row.start = {7, Phase::measure, Duration::seconds(1)};
    row.generated = {2, {200}};
    row.sent = {1, {100}};
    row.time.transferring = Duration::seconds(1);
    row.occupancy_peak = 1.5;
    row.overflowed = row.overflowed_in_measure = true;
    count_row(summary, row);
    summary.in_time = {{100}, Duration::seconds(1)};
    const RankSummary known = summary_from(live_sample_of(summary, row));
    CHECK(known.node == summary.node);
    CHECK(known.run == summary.run);
    CHECK(known.measured == summary.measured);
    CHECK(known.time == summary.time);
    CHECK(known.covered == Duration::seconds(1));
    CHECK(known.rows == 1);
    CHECK(known.last_second == 7);
    CHECK(known.max_occupancy == 1.5);
    CHECK(known.max_occupancy_second == 7);
    CHECK(known.first_overflow_second == 7);
    CHECK(known.throughput() == BitRate{800});
    CHECK_FALSE(known.ledger_known);
    CHECK(known.slowest_second == no_second);
}

TEST_CASE("A report that a rank cannot have made is refused") {
    const NodeId node = node_of(ConsumerId{1});
    LiveSample right;
    right.node = node;
    right.start = {-2, Phase::warmup, Duration::seconds(1)};
    right.moved = {12'500'000'000};
    CHECK(are_live_samples({}, node));
    CHECK(are_live_samples({&right, 1}, node));
    const auto refused = [&](auto change) {
        LiveSample report = right;
        change(report);
        return !are_live_samples(std::vector{right, report}, node);
    };
    CHECK(refused([](LiveSample& report) { report.node.index = 7; }));
    CHECK(refused([](LiveSample& report) { report.node.role = static_cast<Role>(9); }));
    CHECK(refused([](LiveSample& report) { report.start.second = no_second; }));
    CHECK(refused([](LiveSample& report) { report.start.second = INT64_MAX; }));
    CHECK(refused([](LiveSample& report) { report.start.phase = static_cast<Phase>(3); }));
    CHECK(refused([](LiveSample& report) { report.start.covered = Duration::seconds(2); }));
    CHECK(refused([](LiveSample& report) { report.moved = {-1}; }));
    CHECK(refused([](LiveSample& report) { report.moved = {INT64_MAX}; }));
    CHECK(refused([](LiveSample& report) { report.run.sent.bytes = {-1}; }));
    CHECK(refused([](LiveSample& report) { std::memset(&report.overflowed, 2, 1); }));
}
