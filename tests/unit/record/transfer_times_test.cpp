
#include <fstream>

#include "catch.hpp"
#include "record/phase_times.hpp"
#include "temporary_directory.hpp"

namespace record_transfer_times_test_file {

using namespace weir::core;
using namespace weir::record;

namespace {

constexpr Duration interval = Duration::milliseconds(100);

TrafficPlan::Entry entry(std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::int64_t at_ms,
                         std::uint32_t phase) {
    return {{from}, {.at = Duration::milliseconds(at_ms), .to = {to}, .phase = phase, .bytes = {bytes}}};
}

/// Phases a (0 ms), a again (20 ms) and b (40 ms), three intervals.
Plan plan_with_phases() {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 2;
    plan.interval = interval;
    plan.duration = interval * 3;
    plan.traffic = std::make_shared<const TrafficPlan>(
        2, 2,
        std::vector<TrafficPhase>{{"a", {}, Duration::milliseconds(20)},
                                  {"a", Duration::milliseconds(20), Duration::milliseconds(20)},
                                  {"b", Duration::milliseconds(40), Duration::milliseconds(60)}},
        std::vector<TrafficPlan::Entry>{entry(0, 1, 100, 0, 0), entry(1, 1, 50, 0, 0),
                                        entry(0, 1, 100, 20, 1), entry(1, 1, 50, 20, 1),
                                        entry(0, 0, 10, 40, 2)});
    return plan;
}

Instant ms(double milliseconds) {
    return {static_cast<std::int64_t>(milliseconds * 1e6)};
}

}  // namespace

TEST_CASE("A transfer is complete with its last byte, in whatever order events arrive") {
    const Plan plan = plan_with_phases();
    TransferRecorder recorder(plan, {1});
    const auto arrives = [&](double at_ms, std::uint32_t producer, std::int64_t bytes, double generated_ms) {
        recorder.received(ms(at_ms), {producer}, {bytes}, ms(at_ms) - ms(generated_ms));
    };
    arrives(-1, 0, 100, -100);  // of the warm-up
    arrives(5, 0, 60, 0);
    arrives(6, 1, 50, 0);
    arrives(25, 0, 70, 20);  // of the next phase, before the rest of the first
    arrives(26, 0, 40, 0);
    arrives(27, 0, 30, 20);
    arrives(104, 0, 100, 100);
    arrives(301, 0, 100, 300);  // after the measured time

    const auto times = recorder.times();
    REQUIRE(times.size() == 2);
    CHECK(times[0] == TransferTimes{.producer = 0,
                                    .phase = 0,
                                    .completed = 3,
                                    .incomplete = 3,
                                    .bytes = {100},
                                    .shortest = Duration::milliseconds(4),
                                    .sum = Duration::milliseconds(37),
                                    .longest = Duration::milliseconds(26)});
    CHECK(times[1].completed == 1);
    CHECK(times[1].incomplete == 5);
    CHECK(recorder.phase_ends() == std::vector<PhaseEnd>{{0, 2, Duration::milliseconds(26)},
                                                         {1, 1, Duration::milliseconds(7)},
                                                         {3, 1, Duration::milliseconds(4)}});
}

TEST_CASE("A phase ends with the last consumer, and its ideal is what the fullest link needs") {
    const Plan plan = plan_with_phases();
    PhaseTimes phases(plan);
    NetworkPlan network;
    network.producer_link = {16000};  // 2000 bytes per second
    network.consumer_link = {8000};
    network.framing = Framing::none;
    phases.set_network(network);
    phases.add({0}, {{.producer = 0, .phase = 2, .completed = 1, .incomplete = 2, .bytes = {10}}},
               {{2, 1, Duration::milliseconds(70)}});
    phases.add({1},
               {{.producer = 0, .phase = 0, .completed = 2, .bytes = {100}}, {.producer = 9, .bytes = {1}}},
               {{0, 2, Duration::milliseconds(3)}, {1, 2, Duration::milliseconds(5)}, {999, 1, {}}});

    const auto summaries = phases.summaries();
    REQUIRE(summaries.size() == 2);
    CHECK(summaries[0].name == "a");
    CHECK(summaries[0].phases == 6);
    CHECK(summaries[0].complete_phases == 2);
    CHECK(summaries[0].transfers == 12);
    CHECK(summaries[0].bytes == Bytes{150});
    CHECK(summaries[0].shortest == Duration::milliseconds(3));
    CHECK(summaries[0].longest == Duration::milliseconds(5));
    CHECK(summaries[0].ideal == Duration::milliseconds(150));  // 150 bytes into consumer 1
    CHECK(summaries[1].incomplete_transfers == 2);
    CHECK(summaries[1].over_period == 1);  // 70 ms, and the next phase begins after 60

    const TemporaryDirectory directory;
    const auto path = directory / "phases.csv";
    CHECK_FALSE(phases.write_phases_csv(path.string()));
    const std::string text = text_of(path);
    CHECK(text.find("a,0.000000000,0.020000000,150,2,0,0.003000000,0.150000000,1\n") != std::string::npos);
    CHECK(text.find("b,0.040000000,0.060000000,10,1,0,0.070000000,0.010000000,0\n") != std::string::npos);
    CHECK(text.find("a,0.100000000,0.020000000,150,2,2,,0.150000000,\n") != std::string::npos);
    CHECK_FALSE(phases.write_transfers_csv(path.string()));
    CHECK(text_of(path).find("a,0,1,2,0,100,0.000000000,0.000000000,0.000000000\n") != std::string::npos);
}

TEST_CASE("Phases are kept one by one as long as they are few") {
    Plan plan = plan_with_phases();
    CHECK(keeps_each_phase(plan));
    plan.duration = interval * 1000000;
    CHECK_FALSE(keeps_each_phase(plan));
    CHECK(TransferRecorder(plan, {1}).phase_ends().empty());
}

}  // namespace record_transfer_times_test_file
