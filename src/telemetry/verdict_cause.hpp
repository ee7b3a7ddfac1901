// The main cause of a run that was not sustained or not on time, and what can be done about it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "telemetry/causes.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/verdict.hpp"

namespace weir::telemetry {

/// What the rules tell apart.
enum class Cause : std::uint8_t {
    none,
    consumers_blocked,  ///< processing held the consumers' slots
    scheduler,          ///< slots were free and streams too, but grants came late
    network,            ///< transfers were under way and too slow
    producer_late,      ///< the producer itself did not run or generate in time
    losses,             ///< events did not arrive whole (transport datagram)
    buffer,             ///< a set is larger than the buffer, and what does not fit is dropped
    consumers_lost,     ///< the run went on without consumers that were lost
};

struct Finding {
    Cause cause = Cause::none;
    std::string text;      ///< sentences with the numbers that it was decided by, without a capital
    std::string advice{};  ///< what to try next, without a capital; empty: advice_for(cause)
};

/// For a run in which some producer overflowed, had late sets or lost events: looks at the time of those.
Finding find_cause(const core::Plan& plan, std::span<const RankRecord> ranks, const RunFacts& facts);

/// The finding as the record names it.
std::vector<NamedCause> causes_of(const Finding& finding, const RunFacts& facts);

/// For a run as above: what its rows tell of the causes, the worst first; one at least.
std::vector<NamedCause> attribute_causes(const core::Plan& plan, std::span<const RankRecord> ranks,
                                         const RunFacts& facts);

}  // namespace weir::telemetry
