// --explain: why a run was late, with a cost that is bounded. A simulated run is simulated again
// (simulation/counterfactuals.hpp), of a measured one its twins are (explainer.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/progress.hpp"
#include "config/run_request.hpp"
#include "simulation/counterfactuals.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::cli {

/// `text`: of --explain. Empty: the default, which is fast; but off if nothing is printed, since a proof
/// costs several times the run, and loops over many runs are quiet. Throws config::UsageError.
simulation::Explain parse_explain(const std::string& text, config::OutputForm output);

/// Of a measured run, whose rows are in `directory`: in a second of one core, or a minute. It finds nothing
/// if the run was on time, it is not wanted, or there can be no twin.
participant::ExplainRun explain_measured(simulation::Explain explain, const std::string& directory);

/// Explains one simulated run. Stops when a signal was caught.
class Explanation {
  public:
    /// `run` must outlive this. `jobs`: simulations at a time, fewer where memory is short. `shows`: the
    /// verdict before a long search, and progress on a terminal.
    Explanation(const simulation::SimulatedRun& run, simulation::Explain explain, std::uint32_t jobs,
                bool shows)
        : run_(run), explain_(explain), jobs_(jobs), progress_(shows) {}

    /// For simulation::Watchers. Nothing: there is nothing to explain, it is too dear, or not wanted.
    std::optional<std::vector<judge::NamedCause>> causes(const show::RunRecord& record);

    /// What was done and how long it took, or why nothing was; empty: nothing was to be done.
    [[nodiscard]] const std::string& account() const { return account_; }
    [[nodiscard]] bool interrupted() const { return interrupted_; }

  private:
    void say_cost(double each_s, const simulation::ExplainBudget& budget);

    const simulation::SimulatedRun& run_;
    simulation::Explain explain_;
    std::uint32_t jobs_;
    ProgressLine progress_;
    bool interrupted_ = false;
    std::string account_;
};

}  // namespace weir::cli
