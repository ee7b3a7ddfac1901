#include "show/live_view.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::record;
using namespace weir::show;

namespace {

ClusterSecond group_second(std::int64_t number, double occupancy, std::uint32_t missing = 0) {
    ClusterSecond second;
    second.second = number;
    second.phase = Phase::measure;
    second.producers = {{1'000'000'000}, {1'000'000'000}, {1'000'000'000}, 2};
    second.consumers = {{500'000'000}, {500'000'000}, {500'000'000}, 4};
    second.max_occupancy = occupancy;
    second.missing_ranks = missing;
    return second;
}

struct Shown {
    explicit Shown(std::uint32_t groups, LiveForm form = LiveForm::text)
        : view(test::small_plan(), groups, form, false,
               [this](std::string_view line) { lines.emplace_back(line); }) {}
    std::vector<std::string> lines;
    GroupsLiveView view;
};

}  // namespace

TEST_CASE("A second is shown when all groups have sent it: the sum, then the worst groups") {
    Shown shown(5);
    for (std::uint32_t group = 0; group < 4; ++group) {
        shown.view.add(group, group_second(0, 0.1 * (group + 1)));
    }
    CHECK(shown.lines.empty());
    shown.view.add(4, group_second(0, 0.05, 1));
    REQUIRE(shown.lines.size() == 2 + 1 + GroupsLiveView::groups_shown);
    CHECK(shown.lines[2] ==
          "           0    0:09 |    all 5 |        10        10 |        0 |       0.4       0       0  1 "
          "rank missing");
    CHECK(shown.lines[3].find("|        4 |") != std::string::npos);
    CHECK(shown.lines[4].find("|        3 |") != std::string::npos);
    CHECK(shown.lines[5].find("|        2 |") != std::string::npos);
}

TEST_CASE("A group that has ended is not waited for, one that is silent not for long") {
    Shown shown(2);
    shown.view.end(1);
    shown.view.add(0, group_second(0, 0.1));
    REQUIRE(shown.lines.size() == 4);
    CHECK(shown.lines[2].find("|   1 of 2 |") != std::string::npos);

    Shown silent(2);
    for (std::int64_t number = 0; number < static_cast<std::int64_t>(GroupsLiveView::open_seconds_max);
         ++number) {
        silent.view.add(0, group_second(number, 0.1));
    }
    CHECK(silent.lines.empty());
    silent.view.add(0, group_second(GroupsLiveView::open_seconds_max, 0.1));
    CHECK(silent.lines.size() == 4);
    silent.view.add(1, group_second(0, 0.1));  // too late
    CHECK(silent.lines.size() == 4);
}

TEST_CASE("For programs a second is one line with all groups") {
    Shown shown(2, LiveForm::json);
    shown.view.add(0, group_second(3, 0.25));
    shown.view.add(1, group_second(3, 0.5));
    REQUIRE(shown.lines.size() == 1);
    const auto json = nlohmann::json::parse(shown.lines.front());
    CHECK(json["type"] == "second");
    CHECK(json["second"] == 3);
    CHECK(json["seconds_left"] == 6);
    CHECK(json["producers_bits_per_second"] == 4'000'000'000);
    CHECK(json["max_occupancy"] == 0.5);
    CHECK(json["groups"][1]["group"] == 1);
    CHECK(json["groups"][0]["max_occupancy"] == 0.25);
}

TEST_CASE("Where there are no sets, no group and not the sum has an occupancy") {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    Shown shown(2, LiveForm::json);
    shown.view.add(0, group_second(0, none));
    shown.view.add(1, group_second(0, none));
    const auto json = nlohmann::json::parse(shown.lines.at(0));
    CHECK(json["max_occupancy"].is_null());
    CHECK(json["late_sets"].is_null());
    CHECK(json["groups"][1]["max_occupancy"].is_null());
}
