// The verdict: was every set of data gone before its buffer overflowed, and if not, since when, where and
// why.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/second_collector.hpp"

namespace weir::telemetry {

enum class Cause : std::uint8_t {
    none,
    consumers_blocked,  ///< processing held the consumers' slots
    scheduler,          ///< slots were free and streams too, but grants came late
    network,            ///< transfers were under way and too slow
    producer_late,      ///< the producer itself did not run or generate in time
    integrity,          ///< events were corrupt or doubled, or the ledgers disagree
};
/// "none", "consumers_blocked", ...: as in run.json.
const char* cause_name(Cause cause);

struct Verdict {
    /// False: neither sustained nor not (generation saturate, or the run ended early without an overflow).
    bool judged = false;
    bool sustained = false;                          ///< only if judged
    std::int64_t first_overflow_second = no_second;  ///< no_second also if the closing check was the only one
    std::vector<std::uint32_t> overflowing_producers;  ///< the worst first
    double max_occupancy = 0;                          ///< NaN with generation saturate
    /// Not sustained: the main cause. Otherwise `none`, or `integrity` if what arrived was not what was sent.
    Cause cause = Cause::none;
    std::string text;  ///< one to three sentences, with numbers
};

/// What is known of a run besides its ranks.
struct RunFacts {
    bool complete = true;  ///< reached its planned end
    BlockedAtOnce blocked_at_once;
    std::vector<std::string> ledger_differences;
};

Verdict judge(const core::Plan& plan, std::span<const RankRecord> ranks, const RunFacts& facts);

}  // namespace weir::telemetry
