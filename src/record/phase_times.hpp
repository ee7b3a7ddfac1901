// Addressed events: how long each transfer took, from the instant at which its data was generated until the
// consumer had the last byte, and when every phase of a run was complete. A consumer counts what comes to it,
// of the measured time (TransferRecorder); PhaseTimes joins the consumers. phases.csv has a line for each
// phase of each interval, transfers.csv one for each phase name, producer and consumer.
//
// Nothing travels for this (core/traffic_plan.hpp). Memory: an entry for each producer and phase, one
// for each transfer that has begun to arrive, and, as long as that stays bounded, one for each phase of each
// interval; of a trace also one for each transfer of each interval.
//
// The completion time of a phase is that of its last transfer. Its ideal (core/ideal_time.hpp) is known
// where the links are, that is in a simulation; a trace, whose transfers begin at many times, has none.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/traffic_plan.hpp"
#include "core/units.hpp"
#include "files/whole_file.hpp"

namespace weir::record {

/// A producer's transfers to a consumer in the phases of one name. Travels as bytes.
struct TransferTimes {
    std::uint32_t producer = 0;
    std::uint32_t phase = 0;  ///< the first one of this name
    std::uint64_t completed = 0;
    std::uint64_t incomplete = 0;  ///< some of it was lost
    core::Bytes bytes;             ///< of each; 0: they differ
    core::Duration shortest{};     ///< of those completed
    core::Duration sum{};
    core::Duration longest{};
    bool operator==(const TransferTimes&) const = default;
};
static_assert(std::is_trivially_copyable_v<TransferTimes> && sizeof(TransferTimes) == 56);

/// A phase in one interval as one consumer saw it. Travels as bytes.
struct PhaseEnd {
    std::uint32_t number = 0;     ///< interval x phases + phase
    std::uint32_t completed = 0;  ///< transfers
    core::Duration longest;       ///< of them; of a collective: from its beginning
    bool operator==(const PhaseEnd&) const = default;
};
static_assert(std::is_trivially_copyable_v<PhaseEnd> && sizeof(PhaseEnd) == 16);

/// Phases of all measured intervals.
[[nodiscard]] std::uint64_t phases_in_run(const core::Plan& plan);
/// Whether each of them is kept: as long as they are not more than 4 million for all consumers together.
[[nodiscard]] bool keeps_each_phase(const core::Plan& plan);
/// Whether each transfer of each measured interval is kept: of a trace, as long as they are not more than 4
/// million.
[[nodiscard]] bool keeps_each_transfer(const core::Plan& plan);
/// The first phase of the same name, by phase.
[[nodiscard]] std::vector<std::uint32_t> first_of_name(const core::TrafficPlan& traffic);

class TransferRecorder {
  public:
    /// The plan's events are addressed.
    TransferRecorder(const core::Plan& plan, core::ConsumerId consumer);

    /// An event has arrived whole.
    void received(core::Instant now, core::ProducerId producer, core::Bytes bytes,
                  core::Duration since_generated);

    /// By producer and phase. What has not completed by now counts as incomplete.
    [[nodiscard]] std::vector<TransferTimes> times() const;
    /// In the order of their numbers; empty unless keeps_each_phase().
    [[nodiscard]] std::vector<PhaseEnd> phase_ends() const;
    /// By interval, then in the order of the plan's transfers to this consumer; below 0: incomplete. Empty
    /// unless keeps_each_transfer().
    [[nodiscard]] const std::vector<core::Duration>& completions() const { return completions_; }

  private:
    void count(std::uint32_t incoming, std::int64_t interval, core::Duration time);

    std::shared_ptr<const core::TrafficPlan> traffic_;
    core::ConsumerId consumer_;
    core::Duration interval_;
    core::Duration duration_;
    std::vector<TransferTimes> times_;
    std::vector<std::uint32_t> entry_of_;  ///< by incoming transfer: its entry in `times_`
    core::TransferArrivals arrivals_;
    std::vector<PhaseEnd> ends_;               ///< by number; empty: not kept
    std::vector<core::Duration> completions_;  ///< as completions() gives them
};

/// All phases of one name.
struct PhaseSummary {
    std::string name;
    std::uint64_t phases = 0;           ///< that began in the measured time
    std::uint64_t complete_phases = 0;  ///< of which nothing was lost
    std::uint64_t over_period = 0;      ///< complete only after the next phase had begun
    std::uint64_t transfers = 0;        ///< of all phases
    std::uint64_t incomplete_transfers = 0;
    core::Bytes bytes;  ///< of one phase
    // Completion times; nothing if no phase is complete, or they were not kept one by one.
    std::optional<core::Duration> shortest{};
    std::optional<core::Duration> median{};
    std::optional<core::Duration> longest{};
    std::optional<core::Duration> ideal{};
};

/// As run.json has it.
nlohmann::ordered_json to_json(const PhaseSummary& phase);

class PhaseTimes {
  public:
    /// The plan must outlive this; its events are addressed.
    explicit PhaseTimes(const core::Plan& plan);

    /// What a consumer counted. Entries that the plan does not have are left out: they come from other ranks.
    void add(core::ConsumerId consumer, std::vector<TransferTimes> times, const std::vector<PhaseEnd>& ends);
    void set_network(const core::NetworkPlan& simulated);

    /// By name, in the order of their first phases.
    [[nodiscard]] std::vector<PhaseSummary> summaries() const;

    files::MaybeIoError write_phases_csv(const std::string& path) const;
    files::MaybeIoError write_transfers_csv(const std::string& path) const;

  private:
    struct CountedPhase {  // in one interval
        std::uint64_t completed = 0;
        core::Duration longest;
        std::uint32_t last_consumer = 0;
    };
    [[nodiscard]] const core::TrafficPlan& traffic() const { return *plan_.traffic; }
    [[nodiscard]] std::optional<core::Duration> ideal(std::uint32_t phase) const {
        return at_once_[phase] && !ideals_.empty() ? std::optional(ideals_[phase]) : std::nullopt;
    }
    [[nodiscard]] bool is_complete(std::size_t number) const;

    const core::Plan& plan_;
    std::vector<std::uint64_t> transfers_;           ///< by phase: in one interval
    std::vector<core::Bytes> bytes_;                 ///< by phase
    std::vector<bool> at_once_;                      ///< by phase: all of it is generated at its beginning
    std::vector<core::Duration> ideals_;             ///< by phase; empty: the network is not known
    std::vector<CountedPhase> phases_;               ///< by number; empty: not kept one by one
    std::vector<std::vector<TransferTimes>> times_;  ///< by consumer
};

}  // namespace weir::record
