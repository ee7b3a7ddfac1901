// What held a run up by weir's verdict, where the truth is known by hand: only rows and plan are looked at.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "cli/simulation_setup.hpp"
#include "config/resolve.hpp"
#include "explorer/verdict_check.hpp"
#include "files/formatting.hpp"
#include "judge/verdict_cause.hpp"
#include "show/run_record.hpp"
#include "simulation/simulated_run.hpp"

using namespace weir;

namespace {

using Given = std::vector<config::GivenOption>;

struct Example {
    const char* name;
    Given options;
    std::vector<std::string_view> true_causes;  ///< each of them would do
    const char* where = "";                     ///< "consumer 0"; empty: a whole role, or none
};

const Given common{{"producers", "4"}, {"consumers", "4"}, {"duration", "4s"}, {"warmup", "1s"}};

Given and_common(Given options) {
    options.insert(options.begin(), common.begin(), common.end());
    return options;
}

const std::vector<Example>& examples() {
    static const std::vector<Example> all{
        {"links of consumers, which are hardly ever blocked",
         and_common({{"rate", "4Gb/s"},
                     {"consumer-link", "3.5Gb/s"},
                     {"busy", "exponential:200us"},
                     {"slots", "1"}}),
         {"consumer-links"}},
        {"links of producers",
         and_common({{"rate", "4Gb/s"}, {"producer-link", "3.5Gb/s"}, {"consumer-link", "10Gb/s"}}),
         {"producer-links"}},
        {"the link of one consumer",
         and_common({{"rate", "4Gb/s"},
                     {"producer-link", "10Gb/s"},
                     {"consumer-link", "10Gb/s"},
                     {"fault", "degrade:consumer=0,factor=0.02"}}),
         {"consumer-links"},
         "consumer 0"},
        {"a scheduler that takes its time",
         and_common({{"rate", "4Gb/s"}, {"event-size", "1MB"}, {"scheduler-time", "700us"}, {"slots", "1"}}),
         {"scheduler"}},
        {"one request at a time",
         and_common({{"rate", "4Gb/s"},
                     {"event-size", "1MB"},
                     {"pattern", "build"},
                     {"initiation", "pull"},
                     {"requests", "1"},
                     {"latency", "1ms"}}),
         {"requests", "control-latency"}},
        {"processing with a single slot",
         and_common({{"rate", "4Gb/s"}, {"busy", "exponential:33ms"}, {"slots", "1"}}),
         {"processing", "slots"}},
        {"a consumer that stood still",
         and_common({{"rate", "2Gb/s"}, {"fault", "pause:consumer=0,at=1s,for=1500ms"}}),
         {"stalled-rank"},
         "consumer 0"},
        {"a scheduler that stood still",
         and_common({{"rate", "2Gb/s"}, {"fault", "pause:scheduler,at=1s,for=1500ms"}}),
         {"stalled-rank"},
         "scheduler"},
        {"links, with whole events that do not divide the time",
         {{"producers", "4"},
          {"consumers", "4"},
          {"warmup", "1s"},
          {"rate", "1Gb/s"},
          {"generation", "steady"},
          {"event-size", "100MB"},
          {"consumer-link", "0.7Gb/s"},
          {"duration", "3s"}},
         {"consumer-links"}},
        {"latency that one stream's worth of events does not cover",
         {{"producers", "1"},
          {"consumers", "1"},
          {"duration", "4s"},
          {"warmup", "1s"},
          {"rate", "4Gb/s"},
          {"event-size", "1MB"},
          {"latency", "5ms"}},
         {"control-latency"}},
        {"the link of a producer, long after a consumer was lost without effect",
         {{"producers", "4"},
          {"consumers", "5"},
          {"duration", "30s"},
          {"rate", "2Gb/s"},
          {"producer-link", "10Gb/s"},
          {"consumer-link", "10Gb/s"},
          {"on-failure", "continue"},
          {"fault", "die:consumer=0,at=1s,back=2s"},
          {"fault", "degrade:producer=2,at=20s,factor=0.1"}},
         {"producer-links"},
         "producer 2"},
        {"the link of one consumer, packet by packet",
         {{"network", "packet"},
          {"producers", "6"},
          {"consumers", "4"},
          {"duration", "1s"},
          {"warmup", "300ms"},
          {"interval", "100ms"},
          {"producer-link", "10Gb/s"},
          {"consumer-link", "10Gb/s"},
          {"rate", "4Gb/s"},
          {"event-size", "2MB"},
          {"fault", "degrade:consumer=0,factor=0.05"}},
         {"consumer-links"},
         "consumer 0"},
        {"the link of one consumer, so slow that an acknowledgement times out, and no packet was lost",
         {{"network", "packet"},
          {"producers", "3"},
          {"consumers", "4"},
          {"duration", "300ms"},
          {"warmup", "100ms"},
          {"drain", "3s"},
          {"interval", "50ms"},
          {"producer-link", "1.95Gb/s"},
          {"consumer-link", "1.78Gb/s"},
          {"latency", "20us"},
          {"rate", "600Mb/s"},
          {"event-size", "234375B"},
          {"chunk-size", "58593B"},
          {"slots", "4"},
          {"streams", "6"},
          {"pfc", "on"},
          {"ecn", "on"},
          {"fault", "degrade:consumer=2,factor=0.0165"}},
         {"consumer-links"},
         "consumer 2"},
    };
    return all;
}

/// The nominal speed of simulated hosts, whatever a disturbance makes of their links.
std::vector<core::BitRate> interface_rates(const simulation::SimulatedRun& run,
                                           const std::vector<record::RankRecord>& ranks) {
    std::vector<core::BitRate> rates;
    for (const record::RankRecord& rank : ranks) {
        const core::NodeId node = rank.summary.node;
        rates.push_back(node.role == core::Role::producer   ? run.network.producer_link
                        : node.role == core::Role::consumer ? run.network.consumer_link
                                                            : core::BitRate{});
    }
    return rates;
}

std::string where_of(const judge::NamedCause& cause) {
    return cause.where ? files::node_text(*cause.where) : "";
}

/// What the verdict of a simulation says that is not simulated again.
judge::NamedCause told(Given options) {
    const Given shared{{"network", "packet"}, {"duration", "200ms"},       {"warmup", "50ms"},
                       {"interval", "10ms"},  {"producer-link", "10Gb/s"}, {"consumer-link", "10Gb/s"}};
    options.insert(options.begin(), shared.begin(), shared.end());
    config::RunRequest request = config::resolve(options, true);
    const show::RunRecord record = simulation::simulate(cli::simulated_run(request)).record;
    REQUIRE_FALSE(record.verdict.causes.empty());
    return record.verdict.causes.front();
}

}  // namespace

TEST_CASE("Links that senders may not fill are not called full") {
    const judge::NamedCause cause = told({{"producers", "8"},
                                          {"consumers", "4"},
                                          {"event-size", "500kB"},
                                          {"rate", "3.5Gb/s"},
                                          {"ecn", "on"}});
    INFO(cause.text);
    CHECK(judge::name_of(cause.what) == "ecn");
}

TEST_CASE("Where consumers work all the time, links that carry little or much are not the cause") {
    for (const Given& options : {Given{{"producers", "2"},
                                       {"consumers", "8"},
                                       {"event-size", "50kB"},
                                       {"rate", "7.68Gb/s"},
                                       {"busy", "fixed:231us"},
                                       {"slots", "2"}},
                                 Given{{"producers", "4"},
                                       {"consumers", "8"},
                                       {"event-size", "500kB"},
                                       {"rate", "8.74Gb/s"},
                                       {"busy", "exponential:994us"},
                                       {"slots", "16"}}}) {
        const judge::NamedCause cause = told(options);
        INFO(cause.text);
        CHECK(judge::name_of(cause.what) == "processing");
    }
}

TEST_CASE("What held a run up is found from its rows, where it is known by hand") {
    for (const Example& example : examples()) {
        INFO(example.name);
        config::RunRequest request = config::resolve(example.options, true);
        const simulation::SimulatedRun run = cli::simulated_run(request);
        const simulation::SimulationResult result = simulation::simulate(run);
        INFO(result.end.what);
        REQUIRE(result.end.kind == simulation::SimulationEnd::Kind::regular);
        CHECK(explorer::contradiction_in(result.record) == "");
        judge::RunFacts facts;
        facts.recovery = result.record.recovery ? &*result.record.recovery : nullptr;
        facts.network = result.record.network ? &*result.record.network : nullptr;
        facts.interface_rates = interface_rates(run, result.record.ranks);
        const auto causes = judge::attribute_causes(result.record.plan, result.record.ranks, facts);
        REQUIRE_FALSE(causes.empty());
        const judge::NamedCause& first = causes.front();
        INFO(judge::name_of(first.what) << ", " << where_of(first) << ": " << first.text);
        CHECK(std::find(example.true_causes.begin(), example.true_causes.end(), judge::name_of(first.what)) !=
              example.true_causes.end());
        CHECK(where_of(first) == example.where);
    }
}

TEST_CASE("Cables between leaves are told from how long the transfers of each pair took") {
    const auto verdict_with = [](const char* uplink_rate, const char* consumer_link) {
        config::RunRequest request =
            config::resolve(and_common({{"rate", "3Gb/s"},
                                        {"interval", "200ms"},
                                        {"event-size", "1MB"},
                                        {"slots", "6"},
                                        {"producer-link", "10Gb/s"},
                                        {"consumer-link", consumer_link},
                                        {"policy", "round-robin"},
                                        {"network", "fluid"},
                                        {"switch-set", "topology.kind=leaf-spine"},
                                        {"switch-set", "placement.kind=explicit"},
                                        {"switch-set", "placement.hosts=[0,1,4,5,2,3,6,7]"},
                                        {"switch-set", std::string("topology.uplink-rate=") + uplink_rate}}),
                            true);
        return simulation::simulate(cli::simulated_run(request)).record.verdict;
    };
    const judge::Verdict slow = verdict_with("1Gb/s", "10Gb/s");
    REQUIRE_FALSE(slow.causes.empty());
    CHECK(judge::name_of(slow.causes.front().what) == "uplinks");
    CHECK(slow.causes.front().text.find("from leaf-") != std::string::npos);
    const judge::Verdict fast = verdict_with("100Gb/s", "10Gb/s,2=1Gb/s");
    REQUIRE_FALSE(fast.causes.empty());
    CHECK(judge::name_of(fast.causes.front().what) == "consumer-links");
}
