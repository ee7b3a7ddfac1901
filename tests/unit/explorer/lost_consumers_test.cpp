// Random scenarios in which consumers die, stand still or are cut off, and come back: the rules hold, and all
// that can happen to a delivery does happen.
#include <string>

#include "catch.hpp"
#include "cli/simulation_setup.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "explorer/random_scenario.hpp"
#include "explorer/verdict_check.hpp"
#include "simulation/simulated_run.hpp"
#include "temporary_directory.hpp"

using namespace weir;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t seeds = 900;
#else
constexpr std::uint64_t seeds = 3000;
#endif

bool outlives(const std::vector<config::GivenOption>& options) {
    for (const config::GivenOption& option : options) {
        if (option.name == "on-failure" && option.value == "continue") {
            return true;
        }
    }
    return false;
}

std::string refusal(std::vector<config::GivenOption> options) {
    options.push_back({"on-failure", "continue"});
    try {
        config::RunRequest request = config::resolve(options, true);
        cli::simulated_run(request);
        return "accepted";
    } catch (const config::UsageError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("the rules hold in random scenarios in which consumers are lost and come back") {
    const TemporaryDirectory traces;
    std::uint64_t runs = 0;
    std::uint64_t losses = 0;
    std::uint64_t returns = 0;
    std::uint64_t left_out = 0;
    std::uint64_t broken = 0;
    std::uint64_t doubtful = 0;
    std::uint64_t refused = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto options = explorer::random_scenario(seed, traces.path());
        if (!outlives(options)) {
            continue;
        }
        config::RunRequest request = config::resolve(options, true);
        const simulation::SimulatedRun run = cli::simulated_run(request);
        const simulation::SimulationResult result = simulation::simulate(run);
        if (result.end.kind == simulation::SimulationEnd::Kind::node_died) {
            continue;  // a producer or the scheduler was made to die as well
        }
        INFO("seed " << seed << ": " << explorer::command_of(options));
        INFO(result.end.what);
        REQUIRE(result.end.kind == simulation::SimulationEnd::Kind::regular);
        REQUIRE(result.record.ledger_differences.empty());
        CHECK(result.record.status == show::RunStatus::complete);
        CHECK(explorer::contradiction_in(result.record).empty());
        REQUIRE(result.record.recovery);
        const record::Recovery& recovery = *result.record.recovery;
        ++runs;
        losses += recovery.loss_count;
        for (const record::ConsumerLoss& loss : recovery.losses) {
            returns += loss.back_at ? 1U : 0U;
        }
        left_out += recovery.without_ledger.size();
        broken += recovery.redelivered_events;
        doubtful += recovery.doubtful_events;
        refused += recovery.refused_messages;
    }
    CHECK(runs > seeds / 20);
    CHECK(losses > runs);
    CHECK(returns > runs / 2);
    CHECK(left_out > 0);
    CHECK(broken > doubtful);
    CHECK(doubtful > 0);
    CHECK(refused > 0);
}

TEST_CASE("what --on-failure continue does not work with yet is refused by name") {
    CHECK(refusal({}) == "accepted");
    CHECK(refusal({{"fault", "die:consumer=0,at=1s,back=2s"}}) == "accepted");
    using Given = std::vector<config::GivenOption>;
    for (const auto& [options, name] :
         std::vector<std::pair<Given, std::string>>{{{{"pattern", "build"}}, "--pattern build"},
                                                    {{{"initiation", "pull"}}, "--initiation pull"},
                                                    {{{"policy", "none"}}, "--policy none"},
                                                    {{{"transport", "datagram"}}, "--transport datagram"},
                                                    {{{"shaping", "bucket:1Gb/s,burst=64KiB"}}, "--shaping"},
                                                    {{{"result-size", "1kB"}}, "--result-size"},
                                                    {{{"network", "packet"}}, "--network packet"}}) {
        CHECK(refusal(options).find("continue does not work with " + name) != std::string::npos);
    }
    config::RunRequest request;
    CHECK_THROWS_AS(config::resolve(std::vector<config::GivenOption>{{"on-failure", "continue"}}, false),
                    config::UsageError);
    for (const char* fault : {"die:consumer=0,at=1s,back=2s", "cut:consumer=0,at=1s,for=2s"}) {
        request = config::resolve(std::vector<config::GivenOption>{{"fault", fault}}, true);
        CHECK_THROWS_AS(cli::simulated_run(request), config::UsageError);
    }
}
