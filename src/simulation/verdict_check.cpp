#include "simulation/verdict_check.hpp"

#include <fmt/format.h>

namespace weir::simulation {

using core::Generation;

std::string contradiction_in(const telemetry::RunRecord& record) {
    const telemetry::Verdict& verdict = record.verdict;
    const core::Plan& plan = record.plan;
    const std::uint64_t lost = telemetry::totals_of(record).lost.events;
    const bool sustained = verdict.judged && verdict.sustained;
    if (verdict.lost_events != lost) {
        return fmt::format("the verdict counts {} lost events, the ledgers {}", verdict.lost_events, lost);
    }
    if (sustained && lost > 0) {
        return fmt::format("the run is called sustained although {} events were lost", lost);
    }
    if (verdict.on_time.value_or(false) && (lost > 0 || verdict.late_sets > 0)) {
        return fmt::format("the run is called on time although {} events were lost and {} sets were late",
                           lost, verdict.late_sets);
    }
    if (verdict.late_sets > verdict.sets) {
        return fmt::format("{} of {} sets are called late", verdict.late_sets, verdict.sets);
    }
    // Something of a late set is there beside the next one, which alone fills the buffer.
    if (sustained && verdict.late_sets > 0 && plan.generation == Generation::sets && !plan.addressed() &&
        plan.buffer <= plan.set_bytes()) {
        return fmt::format(
            "the run is called sustained although {} sets were late and the buffer holds one set",
            verdict.late_sets);
    }
    if (sustained && verdict.max_occupancy > 1) {
        return fmt::format("the run is called sustained at an occupancy of {}", verdict.max_occupancy);
    }
    const bool expects_judgement = plan.generation != Generation::saturate;
    if (verdict.judged != expects_judgement || verdict.on_time.has_value() != expects_judgement) {
        return "a complete run is judged if and only if it has a rate";
    }
    return "";
}

}  // namespace weir::simulation
