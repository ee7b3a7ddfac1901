// Addressed events: when every phase of a run was complete, and how long transfers took, put together from
// what the consumers counted (transfer_times.hpp). phases.csv has a line for each phase of each interval,
// transfers.csv one for each phase name, producer and consumer.
//
// The completion time of a phase is that of its last transfer. Its ideal (core/phase_ideals.hpp) is known
// where the links are, that is in a simulation; a trace, whose transfers begin at many times, has none.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "files/io_error.hpp"
#include "record/transfer_times.hpp"

namespace weir::record {

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
/// Who sends how much, in sums: of pairs, transfers.csv has the times.
nlohmann::ordered_json to_json(const core::TrafficPlan& traffic);

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
