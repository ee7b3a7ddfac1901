// What held a simulated run up, proved: the plan is simulated again with one thing relaxed (relaxations.hpp),
// with the same seed, and what puts the run on time is a cause. Nothing else is evidence for "it was the
// network".
//
// One number says how bad a run was, in sets and intervals: of each producer its late sets times the worst
// lateness, and lost sets, each as late as the latest. Chosen because both factors only grow while a run goes
// on: one that has shown that it is hardly better is broken off, so that most simulations are short.
// Rejected: late sets alone, for which a link that is ten times too slow and one that is a little too slow
// are the same, and which weighs a set that was late by a hair like one that was late by seconds. What makes
// more late, or loses more, is no remedy, whatever else it takes away.
//
// A relaxation with which every set is on time, nothing is lost and the run is sustained suffices. Where the
// first one takes away nine tenths of what was late and lost and does not suffice, a second one is looked for
// that does together with it; where there is none either, pairs are tried. A remedy is offered only as it was
// simulated: of a cause that suffices, the smallest step that does is looked for. It must suffice under each
// of the conditions too (margin.hpp), since what holds by a hair helps nobody; what does so only without them
// is a cause without a remedy. What ends a fault needs no margin.
//
// Deterministic: which simulations are made depends on the plan and its record alone, and not on the time
// that they take or on the number of cores, unless the search takes longer than its budget of processor time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "judge/causes.hpp"
#include "show/run_record.hpp"
#include "simulation/explain_budget.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation {

/// A cause that does not suffice must take away this share of a run's lateness and losses.
inline constexpr double most_share = 0.9;

/// Whether there is something to explain: a complete run that has a rate to sustain, and was not on time or
/// not sustained.
bool needs_explanation(const show::RunRecord& record);

/// How a search goes on; each may be empty. Called from its threads.
struct SearchWatchers {
    /// Simulations that are done, of those that are foreseen. By one thread at a time.
    std::function<void(std::size_t done, std::size_t foreseen)> progress{};
    // By several threads at a time.
    std::function<bool()> interrupted{};    ///< true: stop
    std::function<double()> processor_s{};  ///< that its threads have used, from any instant on
};

/// Changes a run, beside what is relaxed in it.
using RunChange = std::function<void(SimulatedRun&)>;

struct ProvedCauses {
    std::vector<judge::NamedCause> causes;  ///< the cheapest remedy first; `not_told` if nothing helps
    std::size_t simulations = 0;
    bool interrupted = false;    ///< then there are no causes
    bool was_cut_short = false;  ///< none suffices, and more could have been tried with a larger budget
};

/// `record`: of the run, which needs_explanation(). Simulates at most `jobs` plans at a time. What suffices
/// must suffice under each of `conditions` as well, such as another seed or slower links: a margin.
ProvedCauses prove_causes(const SimulatedRun& run, const show::RunRecord& record, const ExplainBudget& budget,
                          std::uint32_t jobs, const SearchWatchers& watchers = {},
                          std::span<const RunChange> conditions = {});

}  // namespace weir::simulation
