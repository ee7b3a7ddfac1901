// Traces and collectives: their times, put together from what the consumers counted (phase_times.hpp).
//
// A trace of transfers (--pattern trace:FILE): how long each of them took, how much longer than alone, and
// the same summed up by size.
//
// completions.csv has a line for each transfer of each measured interval, in the order of time. The slowdown
// of a transfer is its completion time over its ideal one (core/ideal_time.hpp); known where the network is,
// that is in a simulation. Classes of sizes are decades: distributions of published traces are cut there, and
// what is between two cuts differs by an order of magnitude at most.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/ideal_time.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "files/whole_file.hpp"
#include "record/phase_times.hpp"

namespace weir::record {

/// Transfers of least_bytes <= size < below_bytes.
struct SizeClass {
    core::Bytes least{1};
    core::Bytes below{};
    std::uint64_t transfers = 0;   ///< that began in the measured time
    std::uint64_t incomplete = 0;  ///< of them
    // Quantiles by nearest rank of those that completed; nothing if there are none.
    std::optional<core::Duration> median{};
    std::optional<core::Duration> p99{};
    // For the same transfers; nothing in a measured run.
    std::optional<double> slowdown_mean{};
    std::optional<double> slowdown_median{};
    std::optional<double> slowdown_p99{};
    std::optional<double> slowdown_max{};
};

/// As run.json has it.
nlohmann::ordered_json to_json(const SizeClass& sizes);
/// A line of the summary; some are complete. `all`: it is of all sizes.
std::string text_of(const SizeClass& sizes, bool all);

class TraceTimes {
  public:
    /// The plan must outlive this; keeps_each_transfer() holds.
    explicit TraceTimes(const core::Plan& plan);

    /// TransferRecorder::completions() of a consumer. Another number of them than the plan has is left out:
    /// they come from other ranks.
    void add(core::ConsumerId consumer, std::vector<core::Duration> completions);
    void set_network(const core::NetworkPlan& simulated);

    /// One class of all sizes, then those that occur, ascending.
    [[nodiscard]] std::vector<SizeClass> size_classes() const;
    files::MaybeIoError write_csv(const std::string& path) const;

  private:
    /// A transfer of an interval.
    struct Place {
        core::ConsumerId consumer;
        std::uint32_t incoming = 0;  ///< its number among those to the consumer
    };
    [[nodiscard]] const core::TrafficPlan& traffic() const { return *plan_.traffic; }
    /// Below 0: it is incomplete.
    [[nodiscard]] core::Duration completion(const Place& place, std::int64_t interval) const;
    [[nodiscard]] const core::TrafficPlan::Incoming& transfer(const Place& place) const {
        return traffic().to(place.consumer)[place.incoming];
    }
    [[nodiscard]] std::optional<core::Duration> ideal(const Place& place) const;

    const core::Plan& plan_;
    std::int64_t intervals_;
    std::vector<Place> places_;  ///< by time of the interval, producer and consumer
    std::vector<std::vector<core::Duration>> completions_;  ///< by consumer
    std::optional<core::IdealTimes> ideals_;
};

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
// file. Of the measured time.

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
