#include "show/live_view.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::record;
using namespace weir::show;
using namespace weir::core;
using test::contains;

namespace {

ClusterSecond second(std::int64_t number, std::int64_t rate = 8'000'000'000) {
    ClusterSecond second;
    second.second = number;
    second.phase = phase_of(number, Duration::seconds(10));
    second.producers = {{rate - rate / 10}, {rate}, {rate + rate / 10}, 2};
    second.consumers = {{0}, {rate * 2 / 3}, {rate}, 3};
    second.blocked_mean = 0.5;
    second.blocked_at_once = 1;
    second.max_occupancy = 0.4321;
    return second;
}

std::vector<std::string> shown(const Plan& plan, LiveForm form, const std::vector<ClusterSecond>& seconds,
                               bool terminal = false) {
    std::vector<std::string> lines;
    LiveView view(plan, form, terminal, [&](std::string_view line) { lines.emplace_back(line); });
    for (const ClusterSecond& one : seconds) {
        view.show(one);
    }
    return lines;
}

}  // namespace

TEST_CASE("A live line can be read at a glance") {
    const auto lines =
        shown(test::small_plan(), LiveForm::text, {second(-2), second(0), second(9), second(11)});
    REQUIRE(lines.size() == 6);
    CHECK(lines[0] ==
          "      second    left |    producers Gb/s    |    consumers Gb/s    |    blocked     |     "
          "worst   late    lost");
    CHECK(lines[1] ==
          "               min:s |    min   mean    max |    min   mean    max |  mean  max/all | occu"
          "pancy   sets  events");
    CHECK(lines[2] ==
          "  warm-up -2    0:11 |    7.2      8    8.8 |      0   5.33      8 |   0.5      1/3 |     0.432   "
          "   0       0");
    CHECK(lines[3] ==
          "           0    0:09 |    7.2      8    8.8 |      0   5.33      8 |   0.5      1/3 |     0.432   "
          "   0       0");
    CHECK(lines[4] ==
          "           9    0:00 |    7.2      8    8.8 |      0   5.33      8 |   0.5      1/3 |     0.432   "
          "   0       0");
    CHECK(lines[5] ==
          "    drain 11    0:00 |    7.2      8    8.8 |      0   5.33      8 |   0.5      1/3 |     0.432   "
          "   0       0");
}

TEST_CASE("With short rows a live line has the best interval of a consumer") {
    Plan plan = test::small_plan();
    plan.row_interval = Duration::milliseconds(20);
    plan.row_interval_asked_for = true;
    ClusterSecond one = second(0);
    one.producer_burst = {9'500'000'000};
    one.consumer_burst = {8'500'000'000};
    const auto lines = shown(plan, LiveForm::text, {one});
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].ends_with("   lost |   burst"));
    CHECK(lines[1].ends_with(" events |   20 ms"));
    CHECK(lines[2].ends_with("      0 |     8.5"));
    const auto json = nlohmann::json::parse(shown(plan, LiveForm::json, {one}).at(0));
    CHECK(json["producers_burst_bits_per_second"] == 9'500'000'000);
    CHECK(json["consumers_burst_bits_per_second"] == 8'500'000'000);
    // Short rows without --row-interval are for charts.
    plan.row_interval_asked_for = false;
    for (const Plan& without : {test::small_plan(), plan}) {
        CHECK_FALSE(nlohmann::json::parse(shown(without, LiveForm::json, {one}).at(0))
                        .contains("consumers_burst_bits_per_second"));
    }
}

TEST_CASE("Live lines stay aligned from kilobits to terabits") {
    for (const std::int64_t planned :
         {std::int64_t{20'000}, std::int64_t{8'000'000'000}, std::int64_t{2'000'000'000'000}}) {
        Plan plan = test::small_plan();
        plan.rate = {planned};
        std::vector<ClusterSecond> seconds;
        for (std::int64_t rate = 1; rate <= 900 * planned && rate < 900'000'000'000'000; rate *= 7) {
            seconds.push_back(second(1, rate));
        }
        const auto lines = shown(plan, LiveForm::text, seconds);
        REQUIRE(lines.size() > 10);
        for (const std::string& line : lines) {
            CAPTURE(line);
            CHECK(line.size() == lines[0].size());
            CHECK(line.size() <= 110);
            for (std::size_t i = 0; i < line.size(); ++i) {
                REQUIRE((line[i] == '|') == (lines[0][i] == '|'));
            }
        }
    }
}

TEST_CASE("The header returns, and without a planned rate the unit comes from the first data") {
    Plan plan = test::small_plan();
    plan.generation = Generation::saturate;
    plan.rate = {0};
    std::vector<ClusterSecond> seconds{second(0, 0)};
    for (int i = 1; i < 45; ++i) {
        seconds.push_back(second(i, 300'000'000));
    }
    const auto lines = shown(plan, LiveForm::text, seconds);
    CHECK(lines.size() == 45 + 3 * 2);
    CHECK(contains(lines[22], "producers Mb/s"));
    CHECK(contains(lines[30], "    270    300    330 "));
}

TEST_CASE("Trouble shows, red where there are colours") {
    ClusterSecond bad = second(3);
    bad.overflowed = true;
    bad.max_occupancy = 1.25;
    bad.counts.lost.events = 12;
    bad.late_sets = 5;
    bad.counts.corrupt_events = 1;
    bad.missing_ranks = 2;
    const std::string line = shown(test::small_plan(), LiveForm::text, {bad})[2];
    CHECK(contains(line, "     1.25      5      12  1 corrupt  2 ranks missing"));
    CHECK_FALSE(contains(line, "\x1b"));
    const std::string coloured = shown(test::small_plan(), LiveForm::text, {bad}, true)[2];
    CHECK(contains(coloured, "\x1b[31;1m     1.25\x1b[0m"));
    CHECK(contains(coloured, "\x1b[31;1m      5\x1b[0m\x1b[31;1m      12\x1b[0m"));
    // A second in which every rank ended is not shown; one of which nothing was reported is.
    ClusterSecond nothing;
    nothing.second = 12;
    nothing.phase = Phase::drain;
    CHECK(shown(test::small_plan(), LiveForm::text, {nothing}).empty());
    nothing.second = 5;
    nothing.phase = Phase::measure;
    nothing.missing_ranks = 6;
    CHECK(contains(shown(test::small_plan(), LiveForm::text, {nothing})[2], "6 ranks missing"));
}

TEST_CASE("A live line for programs is one object with stable names") {
    ClusterSecond one = second(3);
    one.waiting_events = 7;
    const auto lines = shown(test::small_plan(), LiveForm::json, {one});
    REQUIRE(lines.size() == 1);
    const auto json = nlohmann::json::parse(lines[0]);
    CHECK(json["type"] == "second");
    CHECK(json["second"] == 3);
    CHECK(json["phase"] == "measure");
    CHECK(json["seconds_left"] == 6);
    CHECK(json["producers_bits_per_second"]["mean"] == 8'000'000'000);
    CHECK(json["consumers_bits_per_second"]["min"] == 0);
    CHECK(json["blocked_consumers_mean"] == 0.5);
    CHECK(json["blocked_consumers_max"] == 1);
    CHECK(json["consumers"] == 3);
    CHECK(json["max_occupancy"] == 0.4321);
    CHECK(json["overflow"] == false);
    CHECK(json["lost_events"] == 0);
    CHECK(json["late_sets"] == 0);
    CHECK(json["waiting_events"] == 7);
    CHECK(json["free_slots"].is_null());
    CHECK(json["missing_ranks"] == 0);
    CHECK(shown(test::small_plan(), LiveForm::quiet, {one}).empty());
}
