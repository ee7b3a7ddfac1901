#include "explorer/explore.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "catch.hpp"
#include "cli/commands.hpp"
#include "config/option_table.hpp"
#include "explorer/random_scenario.hpp"
#include "explorer/run_relations.hpp"
#include "temporary_directory.hpp"

using weir::explorer::Options;
using weir::explorer::random_scenario;
using weir::explorer::shrink;
using weir::explorer::simulate_quietly;
using weir::explorer::TrialResult;

namespace {

std::string value_of(const Options& options, const std::string& name) {
    for (const auto& option : options) {
        if (option.name == name) {
            return option.value;
        }
    }
    return "";
}

/// With a blank behind each.
std::string all_values_of(const Options& options, const std::string& name) {
    std::string values;
    for (const auto& option : options) {
        values += option.name == name ? option.value + " " : "";
    }
    return values;
}

/// A time as it is drawn, in us or ms; what is not given is far beyond all others.
double microseconds_of(const Options& options, const std::string& name) {
    const std::string text = value_of(options, name);
    if (text.empty()) {
        return 1e9;
    }
    return std::atof(text.c_str()) * (text.find("ms") != std::string::npos ? 1000 : 1);
}

/// Options that a simulation takes and that are not drawn, and why.
const std::map<std::string, std::string> left_out{
    {"dry-run", "says what would be simulated, and simulates nothing"},
    {"out", "a trial writes no files"},
    {"groups", "each group is a simulation of its own"},
    {"output", "is of what the command prints, and a trial prints nothing"},
    {"label", "a text that goes into run.json as it is"},
    {"tag", "a text that goes into run.json as it is"},
    {"switch-set", "its keys are drawn as those of a file that is given to --switch"},
};

/// The words that can be a value, or begin one before a ':'.
std::set<std::string> words_of(const weir::config::Option& option) {
    std::set<std::string> words;
    std::string rest(option.syntax);
    while (!rest.empty()) {
        const std::size_t bar = rest.find('|');
        const std::string word = rest.substr(0, std::min(bar, rest.find(':')));
        if (!word.empty() && std::islower(static_cast<unsigned char>(word.front())) != 0) {
            words.insert(word);
        }
        rest = bar == std::string::npos ? "" : rest.substr(bar + 1);
    }
    return words;
}

}  // namespace

TEST_CASE("a seed gives the same scenario again, and another seed another one") {
    const TemporaryDirectory traces;
    CHECK(random_scenario(7, traces.path()) == random_scenario(7, traces.path()));
    CHECK_FALSE(random_scenario(7, traces.path()) == random_scenario(8, traces.path()));
}

TEST_CASE("random scenarios are accepted, and the rules hold in them") {
    const TemporaryDirectory traces;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const TrialResult result = simulate_quietly(random_scenario(seed, traces.path()));
        INFO("seed " << seed << ": " << result.failure);
        CHECK(result.failure.empty());
    }
}

TEST_CASE("what is under way when the drain is over arrives, however slow the network is") {
    const auto failure = [](const std::string& link, const std::string& drain, const std::string& policy) {
        return simulate_quietly({{"producers", "4"},
                                 {"consumers", "1"},
                                 {"rate", "10Gb/s"},
                                 {"event-size", "16MB"},
                                 {"streams", "4"},
                                 {"slots", "16"},
                                 {"interval", "100ms"},
                                 {"duration", "1s"},
                                 {"warmup", "0s"},
                                 {"producer-link", "10Gb/s"},
                                 {"consumer-link", link},
                                 {"drain", drain},
                                 {"policy", policy}})
            .failure;
    };
    for (const char* const policy : {"balanced", "none"}) {
        for (const char* const drain : {"0s", "10s", "30s"}) {
            INFO(policy << ", " << drain);
            CHECK(failure("300Mb/s", drain, policy).empty());
            CHECK(failure("50Mb/s", drain, policy).empty());
        }
    }
}

TEST_CASE("scenarios in other words, and with another clock of packets, have the same records") {
    const TemporaryDirectory traces;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        CHECK(weir::explorer::broken_relation_of(random_scenario(seed, traces.path())) == "");
    }
}

TEST_CASE("whole simulations later, and with idle ranks, have the same latencies") {
    const TemporaryDirectory traces;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        CHECK(weir::explorer::broken_relation_of_events(seed, traces.path()) == "");
    }
}

TEST_CASE("every option that a simulation takes is drawn, with each of its words") {
    const TemporaryDirectory traces;
    std::map<std::string, std::set<std::string>> drawn;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        for (const auto& option : random_scenario(seed, traces.path())) {
            const std::size_t colon = option.value.find(':');
            drawn[option.name].insert(option.value.substr(0, colon));
        }
    }
    for (const weir::config::Option& option : weir::config::option_table()) {
        if (!weir::cli::accepts(*weir::cli::find_command("simulate"), option)) {
            continue;
        }
        const std::string name(option.name);
        const auto excluded = left_out.find(name);
        INFO("--" << name);
        CHECK((drawn.count(name) > 0) == (excluded == left_out.end()));
        if (excluded == left_out.end()) {
            for (const std::string& word : words_of(option)) {
                INFO(word);
                CHECK(drawn[name].count(word) > 0);
            }
        }
    }
    // The syntax has DISTRIBUTION only.
    using Words = std::set<std::string>;
    for (const auto& [name, kinds] : std::map<std::string, Words>{
             {"event-size", {"fixed", "normal", "lognormal", "trace"}},
             {"result-size", {"none", "normal", "lognormal", "mixture", "trace"}},
             {"busy", {"none", "fixed", "exponential", "lognormal", "pareto", "poisson", "trace"}},
             {"fault", {"pause", "slow", "degrade", "delay", "die", "cut", "errors", "storm"}}}) {
        for (const std::string& kind : kinds) {
            INFO("--" << name << " " << kind);
            CHECK(drawn[name].count(kind) > 0);
        }
    }
}

TEST_CASE("what has hidden errors before is drawn") {
    const TemporaryDirectory traces;
    std::map<std::string, int> seen;
    for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
        const Options options = random_scenario(seed, traces.path());
        const double interval = microseconds_of(options, "interval");
        const double duration = microseconds_of(options, "duration");
        const bool datagrams = value_of(options, "transport") == "datagram";
        const std::string faults = all_values_of(options, "fault");
        const bool builds = value_of(options, "pattern") == "build";
        seen["a duration that is no multiple of the interval"] += std::fmod(duration, interval) != 0 ? 1 : 0;
        seen["a duration of more than a second"] += duration > 1e6 ? 1 : 0;
        seen["a drain shorter than an interval"] += microseconds_of(options, "drain") < interval ? 1 : 0;
        seen["no drain"] += value_of(options, "drain") == "0s" ? 1 : 0;
        seen["more than 256 producers of fragments in datagrams, asked for again"] +=
            std::atoi(value_of(options, "producers").c_str()) > 256 && datagrams && builds &&
                    std::atoi(value_of(options, "reasks").c_str()) > 0
                ? 1
                : 0;
        seen["a pause with datagrams"] += datagrams && faults.find("pause") != std::string::npos ? 1 : 0;
        seen["a dead link with datagrams"] +=
            datagrams && faults.find("factor=0 ") != std::string::npos ? 1 : 0;
        seen["a slow scheduler that takes no time"] +=
            value_of(options, "scheduler-time") == "0ns" && faults.find("slow:scheduler") != std::string::npos
                ? 1
                : 0;
        seen["grants before their events"] +=
            value_of(options, "policy") == "none" && value_of(options, "generation") == "saturate" ? 1 : 0;
    }
    for (const auto& [what, times] : seen) {
        INFO(what);
        CHECK(times > 0);
    }
}

TEST_CASE("a scenario is written as a command that a shell can take") {
    CHECK(weir::explorer::command_of({{"producers", "3"}, {"busy", "poisson:1ms,quantum=1us"}}) ==
          "weir simulate --producers 3 --busy poisson:1ms,quantum=1us");
    CHECK(weir::explorer::command_of({{"label", "a b"}}) == "weir simulate --label 'a b'");
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

TEST_CASE("a smaller scenario that options cannot express is no smaller failure") {
    const auto refuses = [](const Options& options) -> TrialResult {
        return {value_of(options, "slots") == "4" ? "it fails" : "refused: --slots", 0};
    };
    const auto shrunk = shrink({{"slots", "4"}}, "it fails", refuses);
    CHECK(value_of(shrunk.options, "slots") == "4");
    CHECK(shrunk.what == "it fails");
    const auto refuses_otherwise = [](const Options& options) -> TrialResult {
        return {value_of(options, "slots") == "4" ? "refused: --window: 4" : "refused: --slots", 0};
    };
    CHECK(value_of(shrink({{"slots", "4"}}, "refused: --window: 4", refuses_otherwise).options, "slots") ==
          "4");
}
