// Whether more is generated than consumers can process while their slots still take it: then buffers of
// producers stay empty until the slots are full, and a run that ends before shows nothing else.
//
// It follows where a load is above 1 (processing_load.hpp), with the plan's times of processing or, of a
// consumer that took longer, with those that it took. Else two things must come together: what waits grows
// (backlog_growth.hpp), and by more than consumers could take if they were never idle, or it may as well be
// an uneven load that the scheduler evens out once slots are full.
// A consumer whose share no other can take is looked at by itself.
#pragma once

#include <optional>
#include <span>

#include "core/plan.hpp"
#include "judge/backlog_growth.hpp"
#include "record/rank_summary.hpp"

namespace weir::judge {

struct SlotGrowth {
    /// A growth that the run could not show, as a share of what comes: of consumers that were hardly ever
    /// idle, unless their load is known to be below 1.
    double unseen = 0;

    /// Slots fill because of processing.
    bool overload = false;
    double load = 0;  ///< overload that follows from it: seconds of processing in each second
    const record::RankRecord* consumer = nullptr;  ///< overload: its slots; nullptr: those of all
    double bytes_per_second = 0;                   ///< overload
    double full_after_s = 0;                       ///< overload: seconds after second 0
};

/// For a complete run. The ranks must outlive what is returned.
SlotGrowth find_slot_growth(const core::Plan& plan, std::span<const record::RankRecord> ranks);

}  // namespace weir::judge
