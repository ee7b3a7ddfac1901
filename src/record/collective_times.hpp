// Collectives (--pattern collectives:FILE): how long their iterations took, and the figures that the field
// makes of that. Names and formulas: draft-calabria-bmwg-ai-fabric-training-bench, editor's copy of
// 2026-10-01.
//
//   JCT        job completion time of an iteration: C, then until the last byte of the last transfer is there
//   BusBW      S f / (JCT - C), of a participant until its own last byte is there
//   JCT ratio  JCT / (C + 8 S f / B), B the participants' line rate
//   S_fabric   payload bytes that a participant sends to others, each once
//
// The line rate is that of the slowest link of a participant where the network is simulated, else that in the
// file. Put together from what the consumers counted (phase_times.hpp), of the measured time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "record/phase_times.hpp"

namespace weir::record {

/// Quantiles by nearest rank.
struct TimeQuantiles {
    core::Duration mean;
    core::Duration p50;
    core::Duration p95;
    core::Duration p99;
    core::Duration max;
};

struct CollectiveSummary {
    std::string name;
    core::Collective what;
    std::uint64_t iterations = 0;   ///< that began in the measured time
    std::uint64_t complete = 0;     ///< of which nothing was lost
    core::Bytes fabric_bytes_mean;  ///< S_fabric
    core::Bytes fabric_bytes_max;
    core::BitRate line_rate;             ///< B; 0: not known
    std::optional<TimeQuantiles> jct{};  ///< of the complete ones
    /// BusBW in b/s of the participant that was last in each iteration: the quantiles that so many iterations
    /// reach or exceed.
    double bus_mean = 0;
    double bus_p50 = 0;
    double bus_p95 = 0;
    double bus_p99 = 0;
    std::vector<double> participants;  ///< mean BusBW in b/s by worker; 0: it received nothing

    /// C + 8 S f / B; nothing without a line rate.
    [[nodiscard]] std::optional<double> ideal_s() const;
};

/// As run.json has it.
nlohmann::ordered_json to_json(const CollectiveSummary& collective);
/// Lines of the summary; some iteration is complete.
std::string text_of(const CollectiveSummary& collective);

class CollectiveTimes {
  public:
    /// The plan must outlive this; its traffic describes collectives, and keeps_each_phase() holds.
    explicit CollectiveTimes(const core::Plan& plan);

    /// What a consumer counted. Entries that the plan does not have are left out.
    void add(core::ConsumerId consumer, const std::vector<PhaseEnd>& ends);
    void set_network(const core::NetworkPlan& simulated);

    /// In the order of the file.
    [[nodiscard]] std::vector<CollectiveSummary> summaries() const;

  private:
    struct Iterations {
        std::vector<std::uint32_t> expected;  ///< by worker: transfers that it receives
        std::vector<core::Duration> ends;     ///< by iteration, then worker; below 0: not complete
    };
    [[nodiscard]] const core::TrafficPlan& traffic() const { return *plan_.traffic; }
    [[nodiscard]] CollectiveSummary summary(std::size_t phase) const;

    const core::Plan& plan_;
    std::uint64_t intervals_;
    std::vector<Iterations> collectives_;    ///< by phase
    std::vector<core::BitRate> line_rates_;  ///< by phase
};

}  // namespace weir::record
