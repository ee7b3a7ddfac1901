// A run that outlived consumers (--on-failure continue): who was lost when and was back when, how far the
// rate of all consumers together sank meanwhile, and which deliveries were broken off.
//
// Rates are those of whole seconds, from the ranks' rows: with sets that come once in an interval nothing
// shorter means anything. Rejected: a finer clock of its own for the scheduler, which counts events and not
// bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger.hpp"
#include "core/producer_parts.hpp"
#include "core/units.hpp"
#include "record/rows.hpp"
#include "record/second_collector.hpp"

namespace weir::record {

struct ConsumerLoss {
    core::ConsumerId consumer;
    core::Instant silent_since;
    core::Instant lost_at;
    std::optional<core::Instant> back_at{};
    std::uint32_t revoked_grants = 0;
    std::uint32_t unprocessed_events = 0;  ///< received, done, and perhaps never processed

    // Written by RecoveryWatch::measure().
    /// What all consumers received, as the mean of up to 5 whole seconds before; 0: not known.
    core::BitRate rate_before{};
    core::BitRate lowest_rate{};
    std::int64_t lowest_second = no_second;  ///< no_second: the rate did not sink below 95 % of that
    std::int64_t seconds_below = 0;
    /// The first second in which it was back at 95 %. no_second: it was not, or never sank.
    std::int64_t recovered_second = no_second;
    /// The worst of any producer, from the silence until it recovered. NaN: not known.
    double max_occupancy = std::numeric_limits<double>::quiet_NaN();

    [[nodiscard]] bool sank() const { return lowest_second != no_second; }
    /// From the silence to the beginning of the second in which the rate was back; 0: it never sank.
    [[nodiscard]] std::optional<core::Duration> recovery_time() const;
};

struct Recovery {
    /// So many losses and deliveries are listed; the counts are always whole.
    static constexpr std::size_t listed_max = 100;

    std::vector<ConsumerLoss> losses;
    std::uint64_t loss_count = 0;
    std::vector<core::ConsumerId> without_ledger;  ///< who was not there when the run was closed
    core::Tally done_by_lost;   ///< in lives of consumers that ended with their loss: no ledger of theirs
    core::Tally done_too_late;  ///< received, but the run was closed: lost according to the producers
    std::uint64_t redelivered_events = 0;
    std::uint64_t doubtful_events = 0;
    std::vector<core::BrokenDelivery> broken;  ///< the first ones, by producer
    std::uint64_t refused_messages = 0;        ///< of earlier lives of consumers
    core::Bytes refused_bytes;                 ///< of chunks for earlier lives, at consumers that are there

    [[nodiscard]] bool is_without_ledger(core::NodeId node) const;
};

/// "Consumer 2 was silent from 5.00 s on ...": a sentence or two for each of the first losses; empty without
/// any.
std::string recovery_text(const Recovery& recovery);

nlohmann::ordered_json to_json(const Recovery& recovery);

/// Keeps what is needed of each second.
class RecoveryWatch {
  public:
    static constexpr std::int64_t seconds_before = 5;

    /// Seconds in order, without a gap.
    void add(const ClusterSecond& second);
    /// `duration`: from then on nothing is generated, and rates mean nothing. Losses in order of time.
    void measure(core::Duration duration, std::vector<ConsumerLoss>& losses) const;

  private:
    struct Second {
        core::BitRate received;
        double max_occupancy = 0;
    };
    [[nodiscard]] const Second* at(std::int64_t second) const;
    void measure(std::int64_t until, ConsumerLoss& loss) const;

    std::int64_t first_ = 0;
    std::vector<Second> seconds_;
};

}  // namespace weir::record
