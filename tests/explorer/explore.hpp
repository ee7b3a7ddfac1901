// What the program explorer does: many random scenarios under the checkers, and metamorphic relations between
// simulations; the first that fails is made smaller as long as it still fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/run_request.hpp"

namespace weir::explorer {

using Options = std::vector<config::GivenOption>;

struct TrialResult {
    std::string failure;       ///< what went wrong; empty: all rules held
    std::uint64_t events = 0;  ///< delivered
};
/// Runs a scenario. Must be callable from several threads at a time.
using Trial = std::function<TrialResult(const Options&)>;

/// The trial of the program: a simulation without files.
TrialResult simulate_quietly(const Options& options);

struct Shrunk {
    Options options;
    std::string what;  ///< of the smaller scenario
    std::uint32_t tried = 0;
};
/// Leaves out and makes smaller what it can while `trial` still fails; `what`: how the scenario given fails.
/// At most `most_trials` trials.
Shrunk shrink(Options options, std::string what, const Trial& trial, std::uint32_t most_trials = 400);

struct ExploreRequest {
    std::uint64_t scenarios = 0;
    std::uint64_t first_seed = 1;
    std::uint32_t jobs = 1;
    bool quiet = false;
    /// One of so many seeds has its scenario also simulated in other words (run_relations.hpp).
    std::uint32_t related_each = 8;
};

/// Returns the exit status: 0 if all rules held in all scenarios, 1 if not, 130 or 143 after a signal.
int explore(const ExploreRequest& request, const Trial& trial = simulate_quietly);

}  // namespace weir::explorer
