#include "show/run_record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::record;
using namespace weir::show;
using namespace weir::core;
using test::contains;

namespace {

RunRecord record_of(std::vector<RankRecord> ranks) {
    RunRecord record;
    record.status = RunStatus::complete;
    record.plan = test::small_plan();
    record.ranks = std::move(ranks);
    record.verdict = weir::judge::judge_run(record.plan, record.ranks, {});
    record.blocked_at_once = {2, 5};
    record.latencies.transfer = {500, 10.25, 20, 300, 4000, 50000};
    record.clock_error_us = 1.5;
    record.ledger_checked = true;
    record.directory = "/data/run-1";
    return record;
}

}  // namespace

TEST_CASE("The final summary begins with the verdict and fits a screen") {
    const std::string text = final_summary_text(record_of(test::good_ranks(test::small_plan())), false);
    CAPTURE(text);
    CHECK(text == R"(SUSTAINED            No producer exceeded its buffer.

evidence             For 10 seconds no producer exceeded its buffer (worst occupancy 0.51, producer 1 on eb02
                     in second 7).
worst occupancy      0.51 in second 7, producer 1 on eb02 (one new set is 1; what counts is the slack)
rate in Gb/s              min    mean     max   slowest second of any rank
  2 producers               8       8       8   8 in second 4, producer 0 on eb01
  3 consumers            5.33    5.33    5.33   5.33 in second 4, consumer 0 on eb10
blocked consumers    0 % of their time, up to 2 of 3 at once (second 5)
time of producers    transferring 60 %, waiting for a slot 0 %, for a grant 0 %, for data 40 %
time of consumers    receiving 80 %, blocked 0 %, waiting for data 20 %; processing 0 %
latency in ms                p50        p90        p99      p99.9        max      events
  transfer                0.0103       0.02        0.3          4         50         500
events               generated 60, sent 60, received 60; lost 0, corrupt 0, duplicate 0
data                 generated 60 MB, sent 60 MB, received 60 MB
integrity check      passed (headers, counts and hashes of ids; payload not checked)
clock error          1.5 us
words                `weir help WORD` explains one: set, slack, occupancy, slot, blocked, ...
run directory        /data/run-1
)");
}

TEST_CASE("A table of short latencies is in microseconds") {
    RunRecord record = record_of(test::good_ranks(test::small_plan()));
    record.latencies.transfer = {500, 1.25, 20, 300, 4000, 9000};
    CHECK(contains(final_summary_text(record, false), R"(
latency in us                p50        p90        p99      p99.9        max      events
  transfer                  1.25         20        300       4000       9000         500
)"));
}

TEST_CASE("What a grant costs in packets is said of runs that counted them") {
    std::vector<RankRecord> ranks = test::good_ranks(test::small_plan());
    CHECK_FALSE(contains(final_summary_text(record_of(ranks), false), "packets per grant"));
    ranks[0].summary.run.grants = 200;
    ranks[0].summary.run.control_packets = 250;
    CHECK(contains(final_summary_text(record_of(ranks), false),
                   "control messages     1.25 packets per grant, to and from the scheduler\n"));
}

TEST_CASE("The slowest rate has its number of seconds, or events are too few") {
    RunRecord record = record_of(test::good_ranks(test::small_plan()));
    const auto with_events_of = [&](double bytes) {
        record.plan.event_size.mean = bytes;
        return final_summary_text(record, false);
    };
    CHECK(contains(with_events_of(1e6), "slowest second of any rank"));
    const std::string large = with_events_of(5e8);
    CHECK(contains(large, "slowest 6 s of any rank"));
    CHECK(contains(large, " in seconds 4 to 9, producer 0 on eb01"));
    CHECK(contains(with_events_of(1e9), "- (too few events: 8 take 12 s)"));
    CHECK(contains(with_events_of(1e12), "- (too few events)"));
}

TEST_CASE("Lost events are counted and shown as a share") {
    auto ranks = test::good_ranks(test::small_plan());
    ranks[1].summary.ledger.lost.add(EventId::of({0}, 99), {1'000'000});
    ranks[1].summary.ledger.generated.add(EventId::of({0}, 99), {1'000'000});
    const std::string text = final_summary_text(record_of(ranks), false);
    CHECK(contains(text, "; lost 1 (1.6 %), corrupt 0"));
    // Both sides agree on what was lost; that is no assurance that all has come.
    CHECK(contains(text,
                   "passed (headers, counts and hashes of ids, also of events that are missing; payload"));
}

TEST_CASE("The integrity check says what it looked at, and passes no run with violations") {
    RunRecord record = record_of(test::good_ranks(test::small_plan()));
    record.ranks[3].summary.ledger.payload_checked = {480'000};  // of 60 MB
    const auto line = [&] {
        const std::string text = final_summary_text(record, false);
        const std::size_t begin = text.find("integrity check      ") + 21;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    CHECK(line() == "passed (headers, counts and hashes of ids; payload of 0.8 % of the bytes checked)");
    CHECK(to_json(record)["ledger"]["verified_payload_share"] == 0.008);
    record.plan.verify = Verify::full;
    CHECK(line() == "passed (headers, counts and hashes of ids; all payload checked)");
    record.fault_count = 1;
    CHECK(line() == "ledgers agree (headers, counts and hashes of ids; all payload checked)");
    record.plan.verify = Verify::header;
    record.fault_count = 0;
    CHECK(line() == "passed (headers, counts and hashes of ids; payload not checked)");
    CHECK(to_json(record)["ledger"]["verified_payload_share"].is_null());
    record.plan.verify = Verify::none;
    CHECK(line() == "passed (counts and hashes of ids; headers and payload not checked)");
    record.plan.verify = Verify::sample;
    record.environment = R"({"world": "simulation"})";
    CHECK(line() == "passed (counts and hashes of ids)");
    CHECK(to_json(record)["ledger"]["verified_payload_share"].is_null());
}

TEST_CASE("Events are built per second of the time that was measured") {
    RunRecord record = record_of(test::good_ranks(test::small_plan()));
    record.plan.pattern = Pattern::build;
    for (RankRecord& rank : record.ranks) {
        rank.summary.covered = Duration::seconds(4);  // of 10: it was broken off
    }
    record.ranks[3].summary.measured.finished_events = 40;
    record.ranks[4].summary.measured.finished_events = 20;
    CHECK(contains(final_summary_text(record, false), ", 15 per second; 0 given up\n"));
}

TEST_CASE("The final summary of a failed run names who failed, also when nothing was measured") {
    RunRecord record = record_of({});
    record.status = RunStatus::failed;
    record.failure = Failure{"the rank was killed by signal 9", 4, "consumer 1", "eb11"};
    record.verdict = weir::judge::judge_run(
        record.plan, {}, {.complete = false, .blocked_at_once = {}, .ledger_differences = {}});
    record.ledger_checked = false;
    const std::string text = final_summary_text(record, false);
    CHECK(contains(text, "FAILED: the rank was killed by signal 9\n"));
    CHECK(contains(text, "NOT JUDGED           The run ended before its first measured second was over.\n"));
    CHECK(contains(text, "integrity check      not made\n"));
    record.status = RunStatus::interrupted;
    CHECK(contains(final_summary_text(record, false), "Interrupted: "));
}

TEST_CASE("The final summary fits a screen in the worst case too") {
    auto ranks = test::good_ranks(test::small_plan());
    ranks[1].summary.first_overflow_second = 3;
    ranks[1].summary.max_occupancy = 1.4;
    ranks[2].summary.poll_gap_max = Duration::milliseconds(20);
    ranks[2].summary.poll_gap_second = 2;
    RunRecord record = record_of(ranks);
    record.failure = Failure{std::string("a long story about what happened "), {}, "", ""};
    record.status = RunStatus::interrupted;
    const LatencyDigest digest{1234567890, 1234567, 12345678, 123456789, 1234567890, 12345678901};
    record.latencies = {digest, digest, digest, digest, digest, digest, digest, digest, digest};
    record.ledger_differences = {"one", "two", "three", "four"};
    record.fault_count = 3;
    Fault fault;
    fault.detail = "some detail";
    record.faults.push_back(fault_record(fault));
    for (const bool terminal : {false, true}) {
        const std::string text = final_summary_text(record, terminal);
        CAPTURE(text);
        CHECK(std::count(text.begin(), text.end(), '\n') <= 33);
        CHECK(contains(text, "integrity FAILED     one\n"));
        CHECK(contains(text, "event-loop stall     longest 20 ms in second 2, producer 1 on eb02"));
        CHECK(contains(text, "protocol_violation: scheduler -> scheduler (some detail)"));
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= 110 + 11);
        }
        CHECK(contains(text, "\x1b[31;1mNOT SUSTAINED") == terminal);
    }
}

TEST_CASE("The final summary for programs is one line") {
    const std::string line = final_summary_json(record_of(test::good_ranks(test::small_plan())));
    CHECK_FALSE(contains(line, "\n"));
    const auto json = nlohmann::json::parse(line);
    CHECK(json["type"] == "summary");
    CHECK(json["directory"] == "/data/run-1");
    CHECK(json["status"] == "complete");
    CHECK(json["verdict"]["sustained"] == true);
    CHECK(json["totals"]["received_events"] == 60);
    CHECK_FALSE(json.contains("ranks"));
    CHECK(json["latency"]["transfer"].contains("count"));
    CHECK_FALSE(json["latency"]["transfer"].contains("buckets"));
}
