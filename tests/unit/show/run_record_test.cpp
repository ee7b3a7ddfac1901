#include "show/run_record.hpp"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "temporary_directory.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::files;
using namespace weir::judge;
using namespace weir::record;
using namespace weir::show;
using namespace weir::core;
using test::contains;

namespace {

RunRecord good_record() {
    RunRecord record;
    record.status = RunStatus::complete;
    record.started_at = "2026-01-31T12:00:00.250Z";
    record.plan = test::small_plan();
    record.plan_options = {{"producers", "2"}, {"rate", "8Gb/s"}};
    record.labels = {{"switch", "lossless"}};
    record.environment = R"({"hosts": {"eb01": {"cores": 64}}})";
    record.ranks = test::good_ranks(record.plan);
    record.ranks[1].file = "ranks/rank-00001-producer.csv";
    record.verdict = judge_run(record.plan, record.ranks, {});
    record.blocked_at_once = {2, 5};
    record.latencies.transfer = {5, 10, 20, 30, 40, 50, {{10.24, 51.2}, {3, 2}}};
    record.clock_error_us = 1.5;
    record.ledger_checked = true;
    return record;
}

}  // namespace

TEST_CASE("run.json names causes with their place, evidence and remedy") {
    RunRecord record = good_record();
    CHECK(to_json(record)["verdict"]["causes"] == nlohmann::ordered_json::array());
    record.verdict.causes = {{.what = CauseKind::consumer_links,
                              .where = NodeId{Role::consumer, 1},
                              .host = "eb11",
                              .share = 0.93,
                              .evidence = CauseEvidence::proof,
                              .text = "with a link of 4.1 Gb/s, 1 of 20 sets would have been late.",
                              .remedy = "--window 8 and leave --high-water out",
                              .options = {{"window", "8"}, {"high-water", ""}}},
                             {.what = CauseKind::slots, .together_with = CauseKind::consumer_links}};
    const auto verdict = to_json(record)["verdict"];
    CHECK(verdict["cause"] == "consumer-links");
    const auto& first = verdict["causes"][0];
    CHECK(first["what"] == "consumer-links");
    CHECK(first["where"]["rank"] == record.ranks[4].rank);
    CHECK(first["where"]["role"] == "consumer");
    CHECK(first["where"]["name"] == "consumer 1");
    CHECK(first["where"]["host"] == "eb11");
    CHECK(first["share"] == 0.93);
    CHECK(first["evidence"] == "proof");
    CHECK(first["together_with"].is_null());
    CHECK(first["remedy"] == "--window 8 and leave --high-water out");
    CHECK(first["options"] ==
          nlohmann::ordered_json::parse(
              R"([{"option": "window", "value": "8"}, {"option": "high-water", "value": null}])"));
    CHECK(first["text"] == "with a link of 4.1 Gb/s, 1 of 20 sets would have been late.");
    const auto& second = verdict["causes"][1];
    CHECK(second["where"].is_null());
    CHECK(second["evidence"] == "observed");
    CHECK(second["together_with"] == "consumer-links");
    CHECK(second["remedy"].is_null());
    CHECK(second["options"].empty());
}

TEST_CASE("run.json has the stable names") {
    const auto json = to_json(good_record());
    CHECK(json["schema"] == "weir-run/1");
    CHECK(json["status"] == "complete");
    CHECK(json["failure"].is_null());
    CHECK(json["started_at"] == "2026-01-31T12:00:00.250Z");
    CHECK(json["seconds"] == 10);
    CHECK(json["labels"]["switch"] == "lossless");
    CHECK(json["verdict"]["sustained"] == true);
    CHECK(json["verdict"]["first_overflow_second"].is_null());
    CHECK(json["verdict"]["cause"] == "none");
    CHECK(json["verdict"]["blocked_at_once_max"] == 2);
    CHECK(json["totals"]["generated_events"] == 60);
    CHECK(json["totals"]["generated_bytes"] == 60'000'000);
    CHECK(json["totals"]["sent_events"] == 60);
    CHECK(json["totals"]["sent_bytes"] == 60'000'000);
    CHECK(json["totals"]["received_events"] == 60);
    CHECK(json["totals"]["received_bytes"] == 60'000'000);
    CHECK(json["totals"]["lost_events"] == 0);
    CHECK(json["totals"]["corrupt_events"] == 0);
    CHECK(json["totals"]["duplicate_events"] == 0);
    CHECK(json["totals"]["max_occupancy"] == 0.51);
    CHECK(json["evenness"]["consumers"]["smallest_over_largest"] == 1);
    CHECK(json["evenness"]["consumers"]["jain_index"] == Approx(1));
    CHECK(json["clock"].is_object());
    CHECK(json["clock"]["error_us"] == 1.5);
    CHECK(json["latency"]["transfer"]["count"] == 5);
    CHECK(json["latency"]["transfer"]["p99_9_us"] == 40);
    CHECK(json["latency"]["transfer"]["buckets"]["upper_us"] == std::vector<double>{10.24, 51.2});
    CHECK(json["latency"]["transfer"]["buckets"]["events"] == std::vector<int>{3, 2});
    CHECK(json["latency"]["delivery"]["buckets"]["upper_us"] == nlohmann::ordered_json::array());
    CHECK(json["latency"]["delivery"]["buckets"]["events"] == nlohmann::ordered_json::array());
    CHECK(json["latency"]["delivery"].is_object());
    CHECK(json["latency"]["delivery"]["count"] == 0);
    CHECK(json["latency"]["delivery"]["p50_us"].is_null());
    CHECK(json["ledger"]["agrees"] == true);
    CHECK(json["ledger"]["differences"].is_array());
    CHECK(json["plan"]["rate"] == "8Gb/s");
    CHECK(json["plan"]["resolved"]["rate_bits_per_second"] == 8'000'000'000);
    CHECK(json["plan"]["resolved"]["set_bytes"] == 1'000'000'000);
    CHECK(json["environment"]["hosts"]["eb01"]["cores"] == 64);
    CHECK(json["faults"].empty());
    CHECK(json["lost"].empty());
    REQUIRE(json["ranks"].size() == 6);
    const auto& producer = json["ranks"][1];
    CHECK(producer["rank"] == 1);
    CHECK(producer["role"] == "producer");
    CHECK(producer["index"] == 0);
    CHECK(producer["host"] == "eb01");
    CHECK(producer["pid"] == 1001);
    CHECK(producer["cpus"] == "0-3");
    CHECK(producer["file"] == "ranks/rank-00001-producer.csv");
    CHECK(producer["sent"]["bytes"] == 10'000'000'000);
    CHECK(producer["mean_bits_per_second"] == 8'000'000'000);
    CHECK(producer["slowest_second"] == 4);
    CHECK(producer["time"]["transferring_s"] == 6.0);
    CHECK(json["ranks"][2]["file"].is_null());
    CHECK(json["ranks"][3]["received"]["events"] == 10);
    CHECK(json["ranks"][0]["time"]["waiting_for_stream_s"] == 0.0);
}

TEST_CASE("A run that was not judged is neither sustained nor not") {
    RunRecord record = good_record();
    record.plan.generation = Generation::saturate;
    record.verdict = judge_run(record.plan, record.ranks, {});
    const auto json = to_json(record);
    CHECK(json["verdict"]["judged"] == false);
    CHECK(json["verdict"]["sustained"].is_null());
    CHECK(json["totals"]["max_occupancy"].is_null());
}

TEST_CASE("Totals come from the rows where a ledger is missing") {
    RunRecord record = good_record();
    record.ranks[4].summary.ledger_known = false;
    record.status = RunStatus::failed;
    record.failure = Failure{"the rank fell silent", 4, "consumer 1", "eb11"};
    record.ranks[4].ended_regularly = false;
    const auto json = to_json(record);
    CHECK(json["status"] == "failed");
    CHECK(json["failure"]["rank"] == 4);
    CHECK(json["failure"]["role"] == "consumer 1");
    CHECK(json["failure"]["host"] == "eb11");
    CHECK(json["totals"]["sent_events"] == 20);
    CHECK(json["totals"]["received_events"] == 30);
    CHECK(json["ranks"][4]["ended_regularly"] == false);
}

TEST_CASE("Faults and losses are named, and their lists are bounded") {
    RunRecord record = good_record();
    Fault fault;
    fault.kind = Fault::Kind::corrupt_payload;
    fault.source = {Role::producer, 1};
    fault.destination = {Role::consumer, 2};
    fault.event = EventId::of({1}, 77);
    fault.offset = {65536};
    fault.sequence = 4;
    fault.detail = "the payload does not verify";
    CHECK(fault_text(fault_record(fault)) ==
          "corrupt_payload: producer 1 -> consumer 2, event 77 of producer 1, "
          "chunk 4 at byte 65536 (the payload does not verify)");
    record.faults.assign(150, fault_record(fault));
    record.fault_count = 1000;
    record.lost.push_back({ProducerId{1}, 5, 9, LostRange::Reason::overflow});
    const auto json = to_json(record);
    CHECK(json["fault_count"] == 1000);
    CHECK(json["faults"].size() == RunRecord::listed_max);
    CHECK(json["faults"][0]["source"] == "producer 1");
    CHECK(json["faults"][0]["event_sequence"] == 77);
    CHECK(json["faults"][0]["offset_bytes"] == 65536);
    CHECK(json["lost"][0]["producer"] == 1);
    CHECK(json["lost"][0]["first_sequence"] == 5);
    CHECK(json["lost"][0]["last_sequence"] == 9);
    CHECK(json["lost"][0]["reason"] == "overflow");
    CHECK(json["lost_range_count"] == 1);

    const std::string endless(500, 'x');
    fault.detail = endless.c_str();
    CHECK(std::string(fault_record(fault).detail) == std::string(91, 'x'));
}

TEST_CASE("An unfinished record does not pretend") {
    const auto json = to_json(unfinished(good_record()));
    CHECK(json["status"] == "failed");
    CHECK(json["failure"]["what"] == "the run has not ended");
    CHECK(json["verdict"]["sustained"].is_null());
    CHECK(json["totals"]["max_occupancy"].is_null());
    CHECK(json["plan"]["rate"] == "8Gb/s");
}

TEST_CASE("A run.json has how the run ended, or that it has not") {
    const TemporaryDirectory directory;
    const std::string path = (directory / "run.json").string();
    CHECK_FALSE(how_it_ended(path));
    RunRecord record = good_record();
    REQUIRE_FALSE(write_run_json(path, unfinished(record)));
    CHECK_FALSE(how_it_ended(path));
    REQUIRE_FALSE(write_run_json(path, record));
    CHECK(how_it_ended(path).value().what.empty());
    record.failure = Failure{.what = "rank 3 is gone", .rank = 3};
    REQUIRE_FALSE(write_run_json(path, record));
    CHECK(how_it_ended(path).value().what == "rank 3 is gone");
    CHECK(how_it_ended(path).value().rank == 3);
    for (const char* broken : {"", "{", "[]", "{\"status\": \"failed\"}"}) {
        std::ofstream(path) << broken;
        CHECK_FALSE(how_it_ended(path));
    }
}

TEST_CASE("Numbers of a list stand on one line, and nothing else changes") {
    const TemporaryDirectory directory;
    const std::string path = (directory / "run.json").string();
    RunRecord record = good_record();
    record.labels = {{"brackets", "[1,\n 2]"}, {"[\n1]", "[\n  3\n]"}};
    record.environment = R"({"lists": [[1, -2, 3e-9], ["a", 1], [], [[1, 2], [3]]]})";
    REQUIRE_FALSE(write_run_json(path, record));
    const std::string text = text_of(path);
    CHECK(contains(text, "\"upper_us\": [10.24, 51.2],\n"));
    CHECK(contains(text, "\"events\": [3, 2]\n"));
    CHECK(contains(text, "[1, -2, 3e-09],\n"));
    CHECK(text.back() == '\n');
    CHECK(nlohmann::ordered_json::parse(text) == to_json(record));
}

TEST_CASE("run.json is written as a whole or not at all") {
    const TemporaryDirectory directory;
    const std::string path = (directory / "run.json").string();
    RunRecord record = good_record();
    record.labels.emplace_back("odd", "not UTF-8: \xff");
    REQUIRE_FALSE(write_run_json(path, unfinished(record)));
    REQUIRE_FALSE(write_run_json(path, record));
    std::ifstream in(path);
    const auto json = nlohmann::json::parse(in);
    CHECK(json["status"] == "complete");
    CHECK(directory.files() == 1);  // no temporary is left

    std::filesystem::remove_all(directory.path());
    const MaybeIoError error = write_run_json(path, record);
    REQUIRE(error);
    CHECK(error->message() == "cannot create " + path + ": No such file or directory");
}
