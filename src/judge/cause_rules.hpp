// For the rules of verdict_cause.cpp and cause_incidents.cpp: what they look at, and what they make of it.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/plan.hpp"
#include "files/formatting.hpp"
#include "judge/causes.hpp"
#include "judge/hold_up.hpp"
#include "judge/verdict.hpp"
#include "record/rank_summary.hpp"

namespace weir::judge {

// Measured on bench/study causes: between these values lie few runs, or those that two causes share.
inline constexpr double full_link = 0.85;  ///< carried, of what it was seen to carry
inline constexpr double owner_min = 0.10;  ///< of the time of held-up events

struct HeldRun {
    const core::Plan& plan;
    std::span<const record::RankRecord> ranks;
    const RunFacts& facts;
    HoldUp held;

    /// The policy waits for a consumer in turn, while others could take data: one holds up all.
    [[nodiscard]] bool waits_in_turn() const { return held.free_credits >= 0.5; }
    /// What a single cause must own of the time of held-up events to explain what is missing.
    [[nodiscard]] double enough() const { return std::max(owner_min, 0.95 * held.shortfall); }
    [[nodiscard]] bool links_full() const {
        const bool full = std::max(held.producers.fullness, held.consumers.fullness) >= full_link ||
                          held.producers.queue.stands() || held.consumers.queue.stands();
        return full && held.owners.network >= 0.5;
    }
};

inline NamedCause cause_of(CauseKind what, double share, std::string text, std::string remedy) {
    NamedCause cause;
    cause.what = what;
    cause.share = std::clamp(share, 0.0, 1.0);
    cause.text = std::move(text);
    cause.remedy = std::move(remedy);
    return cause;
}

/// A cause that lies at this rank alone.
inline NamedCause cause_at(CauseKind what, const record::RankRecord& rank, double share, std::string text,
                           std::string remedy) {
    NamedCause cause = cause_of(what, share, std::move(text), std::move(remedy));
    cause.where = rank.summary.node;
    cause.host = rank.host;
    return cause;
}

inline CauseKind links_of(core::Role role) {
    return role == core::Role::consumer ? CauseKind::consumer_links : CauseKind::producer_links;
}

/// "of the time in which producers had data to send".
std::string owned_text(double share);
using files::rate_text;
/// Where ranks did not run for long, the host was measured and not the network: a sentence about that.
std::string stall_hint(const HeldRun& run);

/// From the plan or an incident alone: lost consumers, a buffer below a set, lost datagrams, a rank
/// that stood still, a producer that generated late. Nothing: none of these explains the run.
std::optional<NamedCause> find_incident(const HeldRun& run);

}  // namespace weir::judge
