// The verdict: was every set of data gone before the next one was generated, was anything lost, did a buffer
// overflow, and if so, since when, where and why.
//
// Two criteria. On time: no set was late (set_deadlines.hpp), whatever the buffer. Sustained: after the
// warm-up no producer held more than its buffer, and no backlog grew, so that the run could go on for ever
// (backlog_growth.hpp, verdict_growth.hpp). For both, all events must have been delivered as they were sent:
// none lost (in the warm-up or later; dropped by its producer, left over at the end, or sent and not
// arrived), corrupt or duplicate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "judge/causes.hpp"
#include "judge/network_verdict.hpp"
#include "record/rank_summary.hpp"
#include "record/recovery.hpp"
#include "record/second_collector.hpp"
#include "record/switch_counters.hpp"

namespace weir::record {
struct DatagramAccount;
class TrafficMatrix;
}  // namespace weir::record

namespace weir::judge {

struct Verdict {
    /// False: neither sustained nor not (generation saturate; the run ended early without an overflow, or is
    /// too short to show a growth that matters).
    bool judged = false;
    bool sustained = false;  ///< only if judged
    std::int64_t first_overflow_second =
        record::no_second;  ///< no_second also if the closing check was the only one
    std::vector<std::uint32_t> overflowing_producers;  ///< the worst first
    double max_occupancy = 0;                          ///< NaN with generation saturate
    /// Whose backlog grew, the fastest first; empty also if only that of all together is known to grow.
    std::vector<std::uint32_t> growing_producers;
    /// All producers' backlogs together. Nothing: not known, as in a run that is too short or ended early.
    std::optional<double> growth_bytes_per_second;
    /// What a growth of all together must exceed to be more than chance.
    std::optional<double> growth_tolerance_bytes_per_second;
    /// If a backlog grew and no buffer overflowed yet: when the first is full, in seconds after second 0.
    std::optional<double> buffer_full_after_s;
    /// If only what waits in slots of consumers grew (verdict_growth.hpp): by how much, and when they are
    /// full.
    std::optional<double> slots_growth_bytes_per_second;
    std::optional<double> slots_full_after_s;

    std::optional<bool> on_time;  ///< nothing: not judged
    std::uint64_t sets = 0;       ///< whose fate is known, of all producers
    std::uint64_t late_sets = 0;
    std::int64_t first_late_second = record::no_second;
    core::Instant first_late_at = core::Instant::never();
    std::vector<std::uint32_t> late_producers;  ///< the worst first
    /// Least time from an event's departure to its deadline; negative: so late. Nothing: no event was gone.
    std::optional<core::Duration> least_slack;

    std::uint64_t lost_events = 0;  ///< wherever and whenever

    /// What caused overflow, late sets or losses, the worst first. Otherwise none, or `integrity` if what
    /// arrived was not what was sent. Text and advice on causes are made of these and of nothing
    /// else.
    std::vector<NamedCause> causes;
    /// What rules over the rows find, where `causes` were found by simulating again; else none.
    std::vector<NamedCause> observed;
    std::string findings;  ///< a few sentences, with numbers
    std::string text;      ///< the same, and what is said of causes
    std::string advice;    ///< what to try about the causes; empty: nothing
};
/// The first cause's name, as in run.json; "none": there is none.
std::string_view cause_name(const Verdict& verdict);

/// What is known of a run besides its ranks.
struct RunFacts {
    bool complete = true;  ///< reached its planned end
    record::BlockedAtOnce blocked_at_once;
    std::vector<std::string> ledger_differences;
    // nullptr: not known. They must outlive the call of judge_run().
    const core::NetworkPlan* simulated = nullptr;  ///< the network of a simulation; nullptr: measured
    const NetworkVerdict* network = nullptr;
    const record::SwitchTotals* switches = nullptr;  ///< of a simulation packet by packet
    const record::Recovery* recovery = nullptr;      ///< of a run that outlives consumers
    const record::DatagramAccount* datagrams =
        nullptr;                                     ///< of a run with datagrams, and where they were lost
    const record::TrafficMatrix* traffic = nullptr;  ///< who sent how much to whom, and for how long
    /// The nominal speed of the interface of each rank's host, shared evenly by the ranks of the same role
    /// there; in the order of ranks. 0, or none at all: not known. A link may carry less than that.
    std::vector<core::BitRate> interface_rates{};
    /// Causes that were found by simulating the run again, and then count instead of what rows show; nullptr:
    /// that was not tried.
    const std::vector<NamedCause>* proved = nullptr;
};

/// When the first set was late, in a unit that fits the length of the run: "first in second 4", "first 40.0
/// ms into the measured time"; without "first" if it was the only one.
std::string first_late_text(const core::Plan& plan, const record::SetsInTime& sets);

Verdict judge_run(const core::Plan& plan, std::span<const record::RankRecord> ranks, const RunFacts& facts);

}  // namespace weir::judge
