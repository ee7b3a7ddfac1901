// How bad a simulated run was, in one number (counterfactuals.hpp), and whether it was good.
#pragma once

#include "core/plan.hpp"
#include "core/units.hpp"
#include "show/run_record.hpp"
#include "simulation/simulator.hpp"

namespace weir::simulation {

struct LateAndLost {
    double late = 0;  ///< lateness of all producers, in sets and intervals
    double lost = 0;  ///< in sets
};
LateAndLost late_and_lost(const show::RunRecord& record);

/// The lateness while a run goes on. It only grows.
double lateness_so_far(const core::Plan& plan, const Simulator& simulator);

/// What a run had to bear, in one number, and what is better without some of it.
class Badness {
  public:
    explicit Badness(const show::RunRecord& record);

    [[nodiscard]] double value() const { return value_of(of_run_); }
    /// The share of it that is gone in a run of the same plan with something relaxed: 0 to 1, and 0 where
    /// more is late or more is lost, since one is no remedy for the other.
    [[nodiscard]] double gone_in(const show::RunRecord& relaxed) const;
    /// So late may a run be of which `share` is to be gone.
    [[nodiscard]] double bearable_lateness(double share) const;

  private:
    [[nodiscard]] double value_of(const LateAndLost& run) const { return run.late + run.lost * lost_weight_; }

    LateAndLost of_run_;
    /// Lost data are never there: a lost set counts as one as late as the latest, and by an interval at
    /// least.
    double lost_weight_;
};

/// Complete and on time, and sustained as far as that can be told.
bool is_good(const show::RunRecord& record);

/// By how much the latest set was late; 0: none was.
core::Duration late_by(const show::RunRecord& record);

}  // namespace weir::simulation
