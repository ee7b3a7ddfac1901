#include "cli/explore.hpp"

#include <string>

#include "catch.hpp"
#include "cli/random_scenario.hpp"

using weir::cli::Options;
using weir::cli::random_scenario;
using weir::cli::shrink;
using weir::cli::simulate_quietly;
using weir::cli::TrialResult;

namespace {

std::string value_of(const Options& options, const std::string& name) {
    for (const auto& option : options) {
        if (option.name == name) {
            return option.value;
        }
    }
    return "";
}

}  // namespace

TEST_CASE("a seed gives the same scenario again, and another seed another one") {
    CHECK(random_scenario(7) == random_scenario(7));
    CHECK_FALSE(random_scenario(7) == random_scenario(8));
}

TEST_CASE("random scenarios are accepted, and the rules hold in them") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const TrialResult result = simulate_quietly(random_scenario(seed));
        INFO("seed " << seed << ": " << result.failure);
        CHECK(result.failure.empty());
    }
}

TEST_CASE("a scenario is written as a command that a shell can take") {
    CHECK(weir::cli::command_of({{"producers", "3"}, {"busy", "poisson:1ms,quantum=1us"}}) ==
          "weir simulate --producers 3 --busy poisson:1ms,quantum=1us");
    CHECK(weir::cli::command_of({{"label", "a b"}}) == "weir simulate --label 'a b'");
}

TEST_CASE("a failing scenario is made as small as it still fails") {
    const auto fails = [](const Options& options) -> TrialResult {
        const bool failing = std::stoi(value_of(options, "producers")) >= 2 &&
                             std::stoi(value_of(options, "slots")) >= 3 && !value_of(options, "busy").empty();
        return {failing ? "it fails" : "", 0};
    };
    const Options options{{"producers", "9"},    {"consumers", "30"},          {"slots", "6"},
                          {"busy", "fixed:1ms"}, {"fault", "delay:extra=1ms"}, {"window", "4"}};
    const auto shrunk = shrink(options, "it fails", fails);
    CHECK(value_of(shrunk.options, "producers") == "2");
    CHECK(value_of(shrunk.options, "consumers") == "1");
    CHECK(value_of(shrunk.options, "slots") == "3");
    CHECK(value_of(shrunk.options, "busy") == "fixed:1ms");
    CHECK(value_of(shrunk.options, "fault").empty());
    CHECK(shrunk.what == "it fails");
}

TEST_CASE("a smaller scenario that nobody could ask for is no smaller failure") {
    const auto refuses = [](const Options& options) -> TrialResult {
        return {value_of(options, "slots") == "4" ? "it fails" : "refused: --slots", 0};
    };
    const auto shrunk = shrink({{"slots", "4"}}, "it fails", refuses);
    CHECK(value_of(shrunk.options, "slots") == "4");
    CHECK(shrunk.what == "it fails");
}
