// What held a run up, of all that is known of it: what was observed (rules over its rows,
// judge/verdict_cause.hpp) and its twins, simulations with what the run showed (twin_search.hpp).
//
// Each assumption about whose links were limits has its twin. A twin counts by how well it reproduces the
// run, in all figures at once and without a gate: one that is a little off in one figure still counts. What
// would have put it on time, relaxed alone, is a hypothesis on the run. What was observed makes hypotheses
// of the same kind more likely, and is one itself where no twin comes near. Links that are slower than their
// interfaces say fit whatever is slow, so a twin with such links counts less.
//
// The best hypothesis is the main cause, with what is enough in its twin; then what would do instead of it;
// then what the run does not tell apart from it: a twin that fits nearly as well has another cause.
//
// How often that is right, and what the weights are measured on: bench/study causes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/twin_search.hpp"
#include "judge/causes.hpp"
#include "twin/shown_run.hpp"

namespace weir::cli {

/// After either of these times nothing more is simulated.
struct ExplainCost {
    double processor_s = 0;
    double wall_s = 0;
    std::uint32_t jobs = 1;  ///< simulations at a time
    /// Called now and then, by one thread at a time, with the time that has passed; may be empty.
    std::function<void(double passed_s)> progress{};
};

/// Time of processors that all threads have used; of this one, where all is done here (one job), since
/// libraries have threads of their own.
double processor_seconds(std::uint32_t jobs);

/// A twin, and what holds it up: each of these is enough alone, or a pair is.
struct WeighedTwin {
    Twin twin;
    double weight = 0;  ///< 0 to 1
    std::vector<judge::NamedCause> causes;
};

struct Explained {
    std::vector<judge::NamedCause> causes;  ///< the main one first; none where the run was on time
    std::vector<WeighedTwin> twins;         ///< the one with the main cause first, then by weight
    std::string no_twin;                    ///< why there are none
    std::size_t simulations = 0;
    bool cut_short = false;  ///< by the cost
};

/// `observed`: by rules over its rows, the first the most likely. Throws Interrupted.
Explained explain_run(const twin::ShownRun& run, std::span<const judge::NamedCause> observed,
                      const ExplainCost& cost);

}  // namespace weir::cli
