
#include <algorithm>

#include "catch.hpp"
#include "config/resolve.hpp"
#include "refusal.hpp"

using namespace weir::config;

namespace {

std::string refused(const char* text) {
    return refusal_of([=] { parse_scenario(text, "x.toml"); });
}

}  // namespace

TEST_CASE("a scenario is options with places, and its own text") {
    const char* text =
        "# why\nname = \"n\"\ntitle = \"t\"\nfound = \"f\"\nrate = \"2Gb/s\"\nslots = 8\nscale = 0.01\n"
        "tag = [\"a=1\", \"b=2\"]\n";
    const Scenario scenario = parse_scenario(text, "x.toml");
    CHECK(scenario.name == "n");
    CHECK(scenario.title == "t");
    CHECK(scenario.found == "f");
    CHECK(scenario.text == text);
    const auto entry = [&](const std::string& name) {
        return *std::find_if(scenario.entries.begin(), scenario.entries.end(),
                             [&](const ScenarioEntry& e) { return e.name == name; });
    };
    CHECK(entry("rate").value == "2Gb/s");
    CHECK(entry("rate").place == "x.toml:5:8");
    CHECK(entry("slots").value == "8");
    CHECK(entry("scale").value == "0.01");
    CHECK(scenario.entries.size() == 5);
}

TEST_CASE("what is no scenario is refused with file, line and column") {
    CHECK(contains(refused("seed = 1\nrate = = 3\n"), "x.toml:2:8: this is not TOML: "));
    CHECK(contains(refused("seed = 1\n\nratte = \"1Gb/s\"\n"),
                   "x.toml:3:1: there is no option 'ratte'; did you mean rate?"));
    CHECK(contains(refused("zzzzzzzz = 1\n"), "there is no option 'zzzzzzzz'"));
    CHECK(contains(refused("scenario = \"x\"\n"), "'scenario' belongs on the command line"));
    CHECK(contains(refused("role = \"x\"\n"), "'role' belongs on the command line"));
    CHECK(contains(refused("name = 3\n"), "x.toml:1:8: 'name' is text"));
    CHECK(contains(refused("rate = true\n"), "neither text nor a number"));
    CHECK(contains(refused("rate = [\"1Gb/s\"]\n"), "neither text nor a number"));
    CHECK(contains(refused("[rate]\nx = 1\n"), "neither text nor a number"));
    CHECK(contains(refused("rate = \"1Gb/s\"\nrate = \"2Gb/s\"\n"), "x.toml:2:"));
    CHECK_FALSE(contains(refused("rate = = 3\n"), "\n"));
}

TEST_CASE("every built-in scenario loads under its own name, and resolves") {
    const auto names = scenario_names();
    CHECK(std::is_sorted(names.begin(), names.end()));
    for (const char* expected : {"quickstart", "lhcb2021-1", "lhcb2021-2", "lhcb2021-3", "lhcb2021-4",
                                 "lhcb2021-5", "lhcb2021-farm", "lhcb2002-token"}) {
        CHECK(std::find(names.begin(), names.end(), expected) != names.end());
    }
    for (const std::string& name : names) {
        CAPTURE(name);
        const Scenario scenario = load_scenario(name);
        CHECK(scenario.name == name);
        CHECK_FALSE(scenario.title.empty());
        CHECK_FALSE(scenario.description.empty());
        CHECK_FALSE(scenario.source.empty());
        CHECK(contains(scenario.text, "#"));
        const std::vector<GivenOption> given{{"scenario", name}};
        CHECK(refusal_of([&] { resolve(given); }) == "accepted");
    }
}

TEST_CASE("an unknown scenario is refused with near ones, a missing file as one") {
    CHECK(contains(refusal_of([] { load_scenario("lhcb2021-6"); }), "near: lhcb2021-1"));
    CHECK(contains(refusal_of([] { load_scenario("zzz"); }), "built in are: "));
    CHECK(contains(refusal_of([] { load_scenario("./nowhere.toml"); }), "cannot be read"));
    CHECK(contains(refusal_of([] { load_scenario("/"); }), "'/' is a directory, not a file"));
}
