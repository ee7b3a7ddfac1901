// The pressure of a plan in words and in run.json.
#include "show/plan_text.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"

using namespace weir::core;
using namespace weir::show;

namespace {

Pressure example() {
    Pressure pressure;
    pressure.transfers = 4;
    pressure.transfer = {1'048'576};
    pressure.under_way = {4'194'304};
    pressure.settings = {{.setting = Pressure::Setting::pause,
                          .port = Pressure::Port::consumer,
                          .queue = {3'200'000},
                          .acts_at = {4'000'000},
                          .pressure = 0.8},
                         {.setting = Pressure::Setting::mark,
                          .port = Pressure::Port::consumer,
                          .queue = {3'200'000},
                          .acts_at = {5'000},
                          .pressure = 640}};
    return pressure;
}

}  // namespace

TEST_CASE("A setting that cannot act: its name, the bytes, and what lets it") {
    Pressure pressure = example();
    CHECK(under_way_text(pressure) ==
          "at most 4 MiB under way into a consumer's port: 4 transfers of 1 MiB, as --slots allows");
    CHECK(
        setting_text(pressure, pressure.settings[0]) ==
        "PFC pauses from 4 MB in a consumer's port on, and at most 3.2 MB can wait there (pressure "
        "0.8): it cannot act in this plan, but with events of 1.25 MiB or more (--event-size) or more slots "
        "(--slots)");
    CHECK(setting_text(pressure, pressure.settings[1]) ==
          "ECN marks from 5 kB in a consumer's port on, and at most 3.2 MB can wait there (pressure "
          "640)");
    CHECK(unknown_text(pressure).empty());

    pressure.window_bound = true;
    CHECK(under_way_text(pressure).ends_with(
        "4 transfers of 1 MiB (--window x --chunk-size), as --slots allows"));
    pressure.limit = Pressure::Limit::streams;
    CHECK(setting_text(pressure, pressure.settings[0])
              .ends_with("but with more of each event under way (--window, --chunk-size) or more streams "
                         "(--streams) or producers"));
    pressure.settings[0].pressure = 0.998;
    CHECK(setting_text(pressure, pressure.settings[0]).find("(pressure just below 1)") != std::string::npos);
}

TEST_CASE("Pressure in run.json") {
    Pressure pressure = example();
    nlohmann::json json = to_json(pressure);
    CHECK(json["under_way_bytes"] == 4'194'304);
    CHECK(json["limited_by"] == "slots");
    CHECK(json["unknown"].is_null());
    CHECK(json["settings"][0]["setting"] == "pfc");
    CHECK(json["settings"][0]["can_act"] == false);
    CHECK(json["settings"][0]["acts_at_bytes"] == 4'000'000);
    CHECK(json["settings"][0]["remedy"].get<std::string>().starts_with("events of 1.25 MiB or more"));
    CHECK(json["settings"][1]["remedy"].is_null());
    pressure.settings.clear();
    pressure.unknown = Pressure::Unknown::real_switch;
    json = to_json(pressure);
    CHECK(json["unknown"].get<std::string>().ends_with("--acts-at SIZE says it"));
}
