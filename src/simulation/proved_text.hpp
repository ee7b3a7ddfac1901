// Words for what simulations with something relaxed have shown (counterfactuals.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "judge/causes.hpp"
#include "show/run_record.hpp"
#include "simulation/relaxations.hpp"

namespace weir::simulation {

/// A relaxation, relaxed as far as one of its steps.
struct Change {
    const Relaxation* relaxation = nullptr;
    std::size_t step = 0;
};
using Changes = std::vector<Change>;

struct SimulatedOutcome {
    bool complete = false;  ///< not broken off, and no failure
    bool suffices = false;
    bool only_just = false;  ///< it would suffice, but not under each condition
    double gone = 0;         ///< of the run's badness, 0 to 1
    std::uint64_t late_sets = 0;
    core::Duration late_by{};  ///< at worst
    std::uint64_t lost_events = 0;
};

/// A cause that was found, or two that are one together, with the steps that the remedy names.
struct Found {
    Changes changes;
    SimulatedOutcome outcome;
    bool is_least = false;  ///< a smaller step does not suffice
};

/// What was tried, as far as the budget went.
struct Tried {
    std::size_t limits = 0;   ///< that there are
    std::size_t singles = 0;  ///< of them, relaxed alone
    bool partners = false;    ///< what takes away most together with each of the others
    bool pairs = false;       ///< all that could suffice
    /// With all relaxed the run is good, and with all but any one of these it is not.
    std::vector<const Relaxation*> needed{};
};

/// One for a single cause, two for a pair. `found` are all that were found.
std::vector<judge::NamedCause> named_causes(const show::RunRecord& record, const std::vector<Found>& found,
                                            const Tried& tried);

/// `nearest`: what took away most.
judge::NamedCause cause_not_told(const show::RunRecord& record, const Tried& tried,
                                 const std::optional<Found>& nearest);

}  // namespace weir::simulation
