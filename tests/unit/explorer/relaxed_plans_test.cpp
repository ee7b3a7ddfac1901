// What an explanation simulates: plans with something relaxed, and how many of them it may.
#include <string>

#include "catch.hpp"
#include "cli/explanation.hpp"
#include "cli/simulation_setup.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "explorer/random_scenario.hpp"
#include "simulation/relaxations.hpp"
#include "temporary_directory.hpp"

using namespace weir;
using simulation::Explain;

TEST_CASE("The rules hold for every plan with something relaxed") {
    constexpr std::uint64_t seeds = 8;
    const TemporaryDirectory traces;
    std::size_t simulated = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        config::RunRequest request = config::resolve(explorer::random_scenario(seed, traces.path()), true);
        const simulation::SimulatedRun run = cli::simulated_run(request);
        for (const simulation::Relaxation& relaxation : simulation::relaxations_of(run)) {
            for (const simulation::RelaxedStep* step :
                 {&relaxation.steps.front(), &relaxation.steps.back()}) {
                simulation::SimulatedRun changed = run;
                step->apply(changed);
                const simulation::SimulationEnd end = simulation::simulate(changed).end;
                INFO("seed " << seed << ", " << step->with << ": " << end.what);
                CHECK(end.kind != simulation::SimulationEnd::Kind::rule_broken);
                CHECK(end.kind != simulation::SimulationEnd::Kind::stuck);
                ++simulated;
            }
        }
    }
    CHECK(simulated > 10 * seeds);
}

TEST_CASE("What a search may cost is bounded") {
    CHECK(simulation::explain_budget(Explain::off, 0.01).simulations == 0);
    CHECK(simulation::explain_budget(Explain::fast, 0.0001).simulations == 150);
    CHECK(simulation::explain_budget(Explain::fast, 0.02).simulations == 50);
    CHECK(simulation::explain_budget(Explain::fast, 1).simulations == 24);
    CHECK(simulation::explain_budget(Explain::fast, 1.6).simulations == 0);
    CHECK(simulation::explain_budget(Explain::full, 100).simulations == 400);
    CHECK(cli::parse_explain("", config::OutputForm::text) == Explain::fast);
    CHECK(cli::parse_explain("", config::OutputForm::json) == Explain::fast);
    CHECK(cli::parse_explain("", config::OutputForm::quiet) == Explain::off);
    CHECK(cli::parse_explain("fast", config::OutputForm::quiet) == Explain::fast);
    CHECK(cli::parse_explain("full", config::OutputForm::text) == Explain::full);
    CHECK_THROWS_AS(cli::parse_explain("much", config::OutputForm::text), config::UsageError);
}
