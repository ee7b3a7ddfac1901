// The record of a run: what ranks' accounts or last reports make of it, and the exit status that it deserves.
#include "participant/run_record_builder.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "participant/exit_status.hpp"
#include "show/run_record.hpp"
#include "temporary_directory.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::judge;
using namespace weir::record;
using namespace weir::show;
using weir::record::test::contains;

namespace {

/// Scheduler on rank 0, then two producers and three consumers; the hosts of test_runs.hpp.
RunDescription settings() {
    RunDescription settings;
    settings.plan = weir::record::test::small_plan();
    std::vector<NodeId> nodes;
    for (const RankRecord& record : weir::record::test::good_ranks(settings.plan)) {
        nodes.push_back(record.summary.node);
        settings.rank_hosts.push_back({record.host, record.pid, "0-3", "leaf-0"});
    }
    settings.roles = RoleMap(nodes);
    settings.directory = "/somewhere/run";
    settings.labels = {{"site", "lab"}};
    return settings;
}

/// What good ranks hand in.
std::vector<RankAccount> good_accounts(const Plan& plan) {
    std::vector<RankAccount> accounts;
    for (const RankRecord& record : weir::record::test::good_ranks(plan)) {
        RankAccount& account = accounts.emplace_back();
        account.summary = record.summary;
        if (record.summary.node.role == Role::consumer) {
            account.traffic = weir::record::test::good_traffic();
        }
    }
    return accounts;
}

RunRecord complete_record(RunRecordBuilder& report, const RunDescription& settings,
                          const std::vector<RankAccount>& accounts) {
    for (std::size_t rank = 0; rank < accounts.size(); ++rank) {
        report.add(static_cast<int>(rank), accounts[rank]);
    }
    SecondCollector collector(settings.plan, {});
    return report.complete(collector);
}

FaultRecord corrupt_payload() {
    return fault_record({.kind = Fault::Kind::corrupt_payload,
                         .source = {Role::producer, 1},
                         .destination = {Role::consumer, 2},
                         .event = EventId::of({1}, 5),
                         .offset = {65536},
                         .sequence = 4});
}

LiveSample report_of_second(NodeId node, std::int64_t second, std::int64_t bytes) {
    LiveSample report;
    report.start = {second, Phase::measure, Duration::seconds(1)};
    report.node = node;
    report.moved = {bytes};
    report.rows = second + 1;
    report.whole_seconds = second + 1;
    report.run.sent = report.measured.sent = {7, {bytes * (second + 1)}};
    return report;
}

}  // namespace

TEST_CASE("In the record at the start the run has not ended") {
    const RunDescription run = settings();
    const RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = report.at_start();
    CHECK(record.status == RunStatus::failed);
    REQUIRE(record.failure);
    CHECK(record.failure->what == "the run has not ended");
    CHECK(record.labels == run.labels);
    CHECK(record.directory == "/somewhere/run");
    CHECK(record.started_at == "2026-01-02T03:04:05Z");
    REQUIRE(record.ranks.size() == 6);
    CHECK(record.ranks[4].rank == 4);
    CHECK(record.ranks[4].summary.node == NodeId{Role::consumer, 1});
    CHECK(record.ranks[4].host == "eb11");
    CHECK(record.ranks[4].pid == 1004);
    CHECK(record.ranks[4].cpus == "0-3");
    CHECK(record.ranks[4].file == "ranks/rank-00004-consumer.csv");
    CHECK_FALSE(record.ranks[4].ended_regularly);
    CHECK(report.exit_status(record) == exit_failed);
}

TEST_CASE("A run in which all agree is complete") {
    const RunDescription run = settings();
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, good_accounts(run.plan));
    CHECK(record.status == RunStatus::complete);
    CHECK_FALSE(record.failure);
    CHECK(record.ledger_checked);
    CHECK(record.ledger_differences.empty());
    CHECK(record.verdict.judged);
    CHECK(record.verdict.sustained);
    for (const RankRecord& rank : record.ranks) {
        CHECK(rank.ended_regularly);
    }
    CHECK(report.exit_status(record) == exit_ok);
}

TEST_CASE("Latencies are merged and the largest clock error counts") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[1].latencies.transfer.add(Duration::microseconds(10));
    accounts[2].latencies.transfer.add(Duration::microseconds(30));
    accounts[2].clock_error_ns = 2500;
    accounts[3].clock_error_ns = 2000;
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.latencies.transfer.count == 2);
    CHECK(record.latencies.transfer.max_us == Approx(30));
    REQUIRE(record.clock_error_us);
    CHECK(*record.clock_error_us == Approx(2.5));
}

TEST_CASE("A fault on any rank fails the run and is named") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[5].fault_count = 1;
    accounts[5].faults = {corrupt_payload()};
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::failed);
    REQUIRE(record.failure);
    CHECK(record.failure->what == fault_text(corrupt_payload()));
    CHECK(contains(record.failure->what, "producer 1 -> consumer 2"));
    CHECK(report.exit_status(record) == exit_failed);
}

TEST_CASE("Of many faults the first are listed and all are counted") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    for (std::size_t rank = 3; rank < 6; ++rank) {
        accounts[rank].fault_count = 1000;
        accounts[rank].faults.assign(60, corrupt_payload());
    }
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.fault_count == 3000);
    CHECK(record.faults.size() == RunRecord::listed_max);
}

TEST_CASE("Lost events are listed with their producer") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[2].lost = {{ProducerId{1}, 3, 5, LostRange::Reason::overflow}};
    accounts[1].lost.assign(150, {ProducerId{0}, 1, 1, LostRange::Reason::undelivered});
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    report.add(2, accounts[2]);
    report.add(1, accounts[1]);
    const RunRecord record = complete_record(report, run, {});
    CHECK(record.lost_range_count == 151);
    REQUIRE(record.lost.size() == RunRecord::listed_max);
    CHECK(record.lost[0].producer == ProducerId{1});
    CHECK(record.lost[0].last == 5);
}

TEST_CASE("Ledgers that disagree fail the run") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[4].summary.ledger.received.add(EventId::of({0}, 1000), {1'000'000});
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::failed);
    REQUIRE_FALSE(record.ledger_differences.empty());
    CHECK(record.failure->what == record.ledger_differences.front());
    CHECK(report.exit_status(record) == exit_failed);
}

TEST_CASE("Traffic that disagrees with the ledgers fails the run") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[4].traffic[0].traffic.events -= 1;
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::failed);
    REQUIRE(record.ledger_differences.size() == 2);
    CHECK(contains(record.ledger_differences[0], "consumer 1 on eb11 received 20 events"));
    CHECK(contains(record.ledger_differences[1], "producer 0 on eb01 sent 30 events"));
    CHECK(record.failure->what == record.ledger_differences.front());
    CHECK(report.exit_status(record) == exit_failed);
}

TEST_CASE("Traffic is written from the accounts, and a run that cannot has failed") {
    RunDescription run = settings();
    const TemporaryDirectory directory;
    run.directory = directory.path().string();
    const auto accounts = good_accounts(run.plan);
    {
        RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
        for (std::size_t rank = 0; rank < accounts.size(); ++rank) {
            report.add(static_cast<int>(rank), accounts[rank]);
        }
        CHECK_FALSE(report.write_traffic());
        const std::string text = text_of(directory / "traffic.csv");
        CHECK(std::count(text.begin(), text.end(), '\n') == 7);
        CHECK(contains(text, "\n1,2,10,10000000,0.000000\n"));
    }
    std::filesystem::remove_all(directory.path());
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    REQUIRE(report.write_traffic());
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::failed);
    CHECK(record.failure->what ==
          "cannot create " + run.directory + "/traffic.csv: No such file or directory");
    CHECK(record.ledger_differences.empty());
    CHECK(report.exit_status(record) == exit_failed);
}

TEST_CASE("A rank without a ledger fails the run") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[4].summary.ledger_known = false;
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::failed);
    CHECK(contains(record.failure->what, "consumer 1 on eb11"));
}

TEST_CASE("A log that could not be written fails the run and its rank is named") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[4].log_error = "cannot close ranks/rank-00004-consumer.csv: Disk quota exceeded";
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::failed);
    CHECK(contains(record.failure->what, "rank 4 (consumer 1 on eb11): cannot close"));
    CHECK(report.exit_status(record) == exit_failed);
}

TEST_CASE("A late start is recorded and is no failure") {
    const RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[1].started_late = Duration::milliseconds(33);
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::complete);
    REQUIRE(record.late_starts);
    REQUIRE(record.late_starts->size() == 1);
    CHECK(contains(record.late_starts->front(), "rank 1 (producer 0 on eb01) began 33"));
}

TEST_CASE("Hosts hand in their counters, and the network is judged by them") {
    RunDescription run = settings();
    RunRecordBuilder without(run, "2026-01-02T03:04:05Z");
    CHECK(without.at_start().hosts.empty());
    CHECK_FALSE(complete_record(without, run, good_accounts(run.plan)).network);

    run.records_hosts = true;
    auto accounts = good_accounts(run.plan);
    HostCounters host;
    host.host = run.rank_hosts[1].host;
    host.file = host_file(host.host);
    host.seconds = 10;
    host.sums = {{"eth0.rx_bytes", std::uint64_t{1} << 50U}, {"tcp.retransmitted_segments", 5000}};
    accounts[1].host_counters = encode_host(host);
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord at_start = report.at_start();
    REQUIRE(at_start.hosts.size() > 1);
    CHECK_FALSE(at_start.hosts[0].handed_in);
    CHECK(at_start.hosts[0].file == host_file(run.rank_hosts[0].host));
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.hosts.size() == at_start.hosts.size());
    const auto found =
        std::find_if(record.hosts.begin(), record.hosts.end(),
                     [&](const HostCounters& candidate) { return candidate.host == host.host; });
    REQUIRE(found != record.hosts.end());
    CHECK(found->handed_in);
    REQUIRE(record.network);
    CHECK(record.network->mechanisms == std::vector<NetworkMechanism>{NetworkMechanism::lossy});
    CHECK(contains(record.network->evidence, "5000 tcp.retransmitted_segments (on " + host.host + ")"));
    CHECK(contains(final_summary_text(record, false), "\nnetwork              lossy: "));
    const auto json = to_json(record);
    CHECK(json["network"]["mechanism"] == "lossy");
    CHECK(json["hosts"].size() == record.hosts.size());

    // A run that did not end regularly has files, but no sums.
    const RunRecord broken = RunRecordBuilder(run, "2026-01-02T03:04:05Z").interrupted(nullptr, 15);
    REQUIRE(broken.network);
    CHECK(broken.network->mechanisms == std::vector<NetworkMechanism>{NetworkMechanism::unknown});
}

TEST_CASE("Requirements that do not hold have an exit status of their own") {
    RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[1].summary.first_overflow_second = 4;
    accounts[1].summary.overflow_seconds = 1;
    accounts[1].summary.max_occupancy = 1.5;
    accounts[1].summary.ledger.lost.add(EventId::of({0}, 999), {1'000'000});
    accounts[1].summary.ledger.generated.add(EventId::of({0}, 999), {1'000'000});
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.status == RunStatus::complete);
    CHECK_FALSE(record.verdict.sustained);
    CHECK(report.exit_status(record) == exit_ok);  // nothing was required
    CHECK(report.unmet_requirements(record).empty());

    run.require_sustained = true;  // the report refers to the settings
    CHECK(report.exit_status(record) == exit_requirement);
    REQUIRE(report.unmet_requirements(record).size() == 1);
    CHECK(contains(report.unmet_requirements(record)[0], "--require sustained"));
    run.require_lossless = true;
    REQUIRE(report.unmet_requirements(record).size() == 2);
    CHECK(contains(report.unmet_requirements(record)[1], "--require lossless: 1 event lost"));
    run.require_sustained = false;
    CHECK(report.exit_status(record) == exit_requirement);
    run.require_lossless = false;
    run.require_on_time = true;
    REQUIRE(report.unmet_requirements(record).size() == 1);
    CHECK(contains(report.unmet_requirements(record)[0], "--require on-time"));
}

TEST_CASE("Late sets do not meet the requirement to be on time, although the run is sustained") {
    RunDescription run = settings();
    auto accounts = good_accounts(run.plan);
    accounts[1].summary.sets_in_time = {
        .sets = 10, .late = 4, .first_late_second = 2, .least_slack = Duration::milliseconds(-5)};
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, accounts);
    CHECK(record.verdict.sustained);
    run.require_sustained = true;
    CHECK(report.unmet_requirements(record).empty());
    run.require_on_time = true;
    REQUIRE(report.unmet_requirements(record).size() == 1);
    CHECK(report.unmet_requirements(record)[0] == "--require on-time: 4 of 10 sets late");
    CHECK(report.exit_status(record) == exit_requirement);
}

TEST_CASE("Requirements that hold leave the exit status alone") {
    RunDescription run = settings();
    run.require_sustained = true;
    run.require_on_time = true;
    run.require_lossless = true;
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const RunRecord record = complete_record(report, run, good_accounts(run.plan));
    CHECK(report.unmet_requirements(record).empty());
    CHECK(report.exit_status(record) == exit_ok);
}

TEST_CASE("A failed run stays failed whatever was required") {
    RunDescription run = settings();
    run.require_sustained = true;
    auto accounts = good_accounts(run.plan);
    accounts[1].summary.first_overflow_second = 4;
    accounts[5].fault_count = 1;
    accounts[5].faults = {corrupt_payload()};
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    CHECK(report.exit_status(complete_record(report, run, accounts)) == exit_failed);
}

TEST_CASE("The record of an interrupted run has the last reports of its ranks") {
    const RunDescription run = settings();
    RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    SecondCollector collector(run.plan, {});
    collector.add(report_of_second({Role::producer, 1}, 0, 1000));
    collector.add(report_of_second({Role::producer, 1}, 1, 1000));
    const RunRecord record = report.interrupted(&collector, SIGTERM);
    CHECK(record.status == RunStatus::interrupted);
    REQUIRE(record.failure);
    CHECK(contains(record.failure->what, "signal 15"));
    CHECK(record.ranks[2].summary.rows == 2);
    CHECK(record.ranks[2].summary.run.sent.bytes == Bytes{2000});
    CHECK(record.ranks[1].summary.rows == 0);  // sent nothing
    CHECK(record.ranks[1].summary.node == NodeId{Role::producer, 0});
    for (const RankRecord& rank : record.ranks) {
        CHECK_FALSE(rank.ended_regularly);
    }
    CHECK_FALSE(record.ledger_checked);
    CHECK(report.exit_status(record) != exit_ok);
}

TEST_CASE("A run that broke names who broke it and is not judged") {
    const RunDescription run = settings();
    const RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    SecondCollector collector(run.plan, {});
    LiveSample overflow = report_of_second({Role::producer, 0}, 0, 1000);
    overflow.max_occupancy = 3;
    overflow.max_occupancy_second = 0;
    overflow.first_overflow_second = 0;
    collector.add(overflow);
    const Failure failure{
        .what = "rank 4 (consumer 1 on eb11) is gone", .rank = 4, .role = "consumer 1", .host = "eb11"};
    const RunRecord record = report.failed(&collector, failure);
    CHECK(record.status == RunStatus::failed);
    REQUIRE(record.failure);
    CHECK(record.failure->rank == 4);
    CHECK(record.failure->role == "consumer 1");
    CHECK(record.failure->host == "eb11");
    // What broke the run filled the buffers too: that is no verdict on the network.
    CHECK_FALSE(record.verdict.judged);
    CHECK(record.verdict.causes.empty());
    CHECK(record.verdict.advice.empty());
    CHECK(contains(record.verdict.text, "Not judged: the run failed after"));
    CHECK(report.exit_status(record) == exit_failed);
}

TEST_CASE("A rank that never collected reports can still record how the run ended") {
    const RunDescription run = settings();
    const RunRecordBuilder report(run, "2026-01-02T03:04:05Z");
    const Failure failure{
        .what = "rank 0 (scheduler on eb00) is gone", .rank = 0, .role = "scheduler 0", .host = "eb00"};
    const RunRecord record = report.failed(nullptr, failure);
    CHECK(record.status == RunStatus::failed);
    CHECK(record.failure->rank == 0);
    CHECK(record.ranks.size() == 6);
    CHECK_FALSE(record.verdict.judged);
}
