// A trace of transfers (--pattern trace:FILE): how long each of them took, how much longer than alone, and
// the same summed up by size. Put together from what the consumers counted (phase_times.hpp).
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
#include "files/io_error.hpp"

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

}  // namespace weir::record
