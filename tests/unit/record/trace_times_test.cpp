#include "record/traffic_times.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "record/phase_times.hpp"
#include "temporary_directory.hpp"

using namespace weir::core;
using namespace weir::record;

namespace {

TrafficPlan::Entry transfer(std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::int64_t at_us) {
    return {{from}, {.at = Duration::microseconds(at_us), .to = {to}, .bytes = {bytes}}};
}

/// 1 ms, twice: 500 and 4000 bytes to consumer 0, 2000 to consumer 1 at first.
Plan plan_of_trace(bool is_trace = true) {
    Plan plan;
    plan.producers = plan.consumers = 2;
    plan.interval = Duration::milliseconds(1);
    plan.duration = plan.interval * 2;
    plan.traffic = std::make_shared<const TrafficPlan>(
        2, 2, std::vector<TrafficPhase>{{"all", {}, plan.interval}},
        std::vector<TrafficPlan::Entry>{transfer(1, 0, 500, 20), transfer(0, 0, 4000, 20),
                                        transfer(0, 1, 2000, 0)},
        is_trace);
    return plan;
}

/// 1 byte per ns, no latency.
NetworkPlan bare_network() {
    NetworkPlan network;
    network.producer_link = network.consumer_link = {8'000'000'000};
    network.framing = Framing::none;
    return network;
}

Duration us(std::int64_t time) {
    return Duration::microseconds(time);
}

}  // namespace

TEST_CASE("Consumers keep the time of each transfer of a trace, and of no other traffic") {
    const Plan plan = plan_of_trace();
    TransferRecorder recorder(plan, {0});
    recorder.received(Instant{} + us(25), {0}, Bytes{3000}, us(5));
    recorder.received(Instant{} + us(27), {0}, Bytes{1000}, us(7));
    recorder.received(Instant{} + us(1021), {1}, Bytes{500}, us(1));
    CHECK(recorder.completions() == std::vector<Duration>{us(7), Duration{-1}, Duration{-1}, us(1)});
    CHECK(TransferRecorder(plan_of_trace(false), {0}).completions().empty());
}

TEST_CASE("A transfer that seems to have come before it was sent, by the error of the clocks, is complete") {
    TransferRecorder recorder(plan_of_trace(), {0});
    recorder.received(Instant{} + us(18), {0}, Bytes{4000}, us(-2));
    CHECK(recorder.completions()[0] == Duration{});
    CHECK(recorder.times()[0].incomplete == 1);
}

TEST_CASE("More transfers than can be kept are not kept one by one") {
    Plan plan = plan_of_trace();
    CHECK(keeps_each_transfer(plan));
    plan.duration = plan.interval * 2'000'000;
    CHECK_FALSE(keeps_each_transfer(plan));
}

TEST_CASE("Slowdowns of a trace are summed up by size, and written one by one in the order of time") {
    const Plan plan = plan_of_trace();
    TraceTimes times(plan);
    times.set_network(bare_network());
    times.add({0}, {us(8), us(1), us(4), Duration{-1}});  // 4000 and 500 bytes, twice
    times.add({1}, {us(2), us(3)});
    times.add({1}, {us(9)});  // not as many as there are: not of this run

    const auto classes = times.size_classes();
    REQUIRE(classes.size() == 3);
    CHECK(classes[0].transfers == 6);
    CHECK(classes[0].incomplete == 1);
    CHECK(classes[0].below == Bytes{4001});
    CHECK(classes[1].least == Bytes{1});
    CHECK(classes[1].below == Bytes{1000});
    CHECK(classes[1].median == us(1));
    CHECK(classes[1].slowdown_max == 2);
    CHECK(classes[2].least == Bytes{1000});
    CHECK(classes[2].below == Bytes{10000});
    CHECK(classes[2].transfers == 4);
    CHECK(classes[2].median == us(3));  // of 2, 3, 4 and 8 us
    CHECK(classes[2].p99 == us(8));
    CHECK(classes[2].slowdown_median == 1);  // of 1, 1, 1.5 and 2
    CHECK(classes[2].slowdown_p99 == 2);
    CHECK(classes[2].slowdown_mean == 1.375);
    CHECK(to_json(classes[1]).at("completion_s_median").get<double>() == Approx(1e-6));
    CHECK(text_of(classes[1], false).find("2 transfers of less than 1 kB") == 0);

    const TemporaryDirectory directory;
    const auto path = directory / "completions.csv";
    CHECK_FALSE(times.write_csv(path.string()));
    CHECK(text_of(path) ==
          "begins_s,producer,consumer,bytes,completion_s,ideal_s,slowdown\n"
          "0.000000000,0,1,2000,0.000002000,0.000002000,1.0000\n"
          "0.000020000,0,0,4000,0.000008000,0.000004000,2.0000\n"
          "0.000020000,1,0,500,0.000001000,0.000000500,2.0000\n"
          "0.001000000,0,1,2000,0.000003000,0.000002000,1.5000\n"
          "0.001020000,0,0,4000,0.000004000,0.000004000,1.0000\n"
          "0.001020000,1,0,500,,0.000000500,\n");
}

TEST_CASE("A measured run has times of its transfers and no slowdowns") {
    const Plan plan = plan_of_trace();
    TraceTimes times(plan);
    times.add({1}, {us(2), us(3)});
    const auto classes = times.size_classes();
    CHECK(classes[0].incomplete == 4);
    CHECK(classes[0].p99 == us(3));
    CHECK_FALSE(classes[0].slowdown_median);
    CHECK(to_json(classes[0]).at("slowdown_median").is_null());
}
