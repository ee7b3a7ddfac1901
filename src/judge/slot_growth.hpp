// Whether more is generated than consumers can process while their slots still take it: then buffers of
// producers stay empty until the slots are full, and a run that ends before shows nothing else.
//
// It follows from the plan where the events that come need more time of processing than there is. Where
// processing takes longer than planned, two things must come together: what waits grows (backlog_growth.hpp),
// and by more than consumers could take if they were never idle, or it may as well be an uneven load that the
// scheduler evens out once slots are full.
// Addressed events go to one consumer and no other, so that each consumer is looked at by itself. Where only
// some consumers are planned to be busy, others may take what they cannot.
#pragma once

#include <optional>
#include <span>

#include "core/plan.hpp"
#include "judge/backlog_growth.hpp"
#include "record/rank_summary.hpp"

namespace weir::judge {

struct SlotGrowth {
    /// What is processed, as a share of what would be if no consumer that has processed anything were idle;
    /// addressed events: of the busiest consumer. 0: nothing was processed.
    double busy = 0;
    /// What waits in producers and consumers together. Nothing: not known.
    std::optional<BacklogGrowth> waiting;

    /// Slots fill because of processing.
    bool overload = false;
    double planned_load = 0;  ///< overload that follows from the plan: seconds of processing in each second
    const record::RankRecord* consumer = nullptr;  ///< overload: its slots; nullptr: those of all
    double bytes_per_second = 0;                   ///< overload
    double full_after_s = 0;                       ///< overload: seconds after second 0
};

/// For a complete run. The ranks must outlive what is returned.
SlotGrowth find_slot_growth(const core::Plan& plan, std::span<const record::RankRecord> ranks);

}  // namespace weir::judge
