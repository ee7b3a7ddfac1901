// The growth of backlogs as the verdict states it: who grows, how fast, when the buffer is full, and what a
// run is too short to show. What a growth is: backlog_growth.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "judge/backlog_growth.hpp"
#include "judge/causes.hpp"
#include "record/rank_summary.hpp"

namespace weir::judge {

/// Whether more is generated than consumers can process while their slots still take it: then buffers of
/// producers stay empty until the slots are full, and a run that ends before shows nothing else.
///
/// It follows where a load is above 1 (processing_load.hpp), with the plan's times of processing or, of a
/// consumer that took longer, with those that it took. Else two things must come together: what waits grows
/// (backlog_growth.hpp), and by more than consumers could take if they were never idle, or it may as well be
/// an uneven load that the scheduler evens out once slots are full.
/// A consumer whose share no other can take is looked at by itself.
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

/// A producer whose backlog grows.
struct Growing {
    const record::RankRecord* rank = nullptr;
    BacklogGrowth growth;
    double full_after_s = 0;
};

struct Growths {
    std::vector<Growing> producers;  ///< that grow, the fastest first
    std::optional<BacklogGrowth> all;
    double all_full_after_s = 0;  ///< if all together grow
    SlotGrowth slots;

    [[nodiscard]] bool in_buffers() const { return !producers.empty() || (all && all->grows()); }
    [[nodiscard]] bool any() const { return in_buffers() || slots.overload; }
};

/// For a complete run. The ranks must outlive what is returned.
Growths find_growths(const core::Plan& plan, std::span<const record::RankRecord> ranks);

/// When the first buffer is full, in seconds after second 0. The backlog of some producer must grow.
double first_full_after_s(const Growths& growths);

/// A sentence, without a capital, about the backlog that grows fastest; there must be one.
std::string growth_text(const Growths& growths);

/// Why slots fill.
NamedCause cause_of_overload(const SlotGrowth& growth);

/// A growth that such a run cannot show.
struct UnseenGrowth {
    double share = 0;       ///< of the rate; 0: it is little, or not known
    bool in_slots = false;  ///< of consumers; else in buffers of producers

    /// It may be a small one.
    [[nodiscard]] bool is_worth_a_note() const { return share >= 0.02; }
    /// The verdict would say nothing about the future.
    [[nodiscard]] bool is_large() const { return share > 0.05; }
};

/// `all_gone`: nothing was left at the end of any set, so that a backlog can only be in slots of consumers.
/// `longest_wait`: from the generation of an event until it was gone, at most.
UnseenGrowth unseen_growth(const core::Plan& plan, const Growths& growths, bool all_gone,
                           core::Duration longest_wait);

/// "a backlog that grows by less than 3.4 % of the rate would not show in 4 seconds"
std::string unseen_growth_text(const core::Plan& plan, const UnseenGrowth& unseen);

}  // namespace weir::judge
