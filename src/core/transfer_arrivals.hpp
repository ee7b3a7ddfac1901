// Addressed events: which transfer is complete with an event that has arrived. For a consumer, whose worker
// waits for some of them, and for its recorder (record/phase_times.hpp).
//
// Chosen: transfers are found by producer and instant of generation, which every event carries, so nothing
// travels for this and events may have any size. Memory: one entry for each transfer of which a part is here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/ids.hpp"
#include "core/traffic_plan.hpp"
#include "core/units.hpp"

namespace weir::core {

class TransferArrivals {
  public:
    /// One of traffic.to(consumer), in one interval (below 0 in the warm-up).
    struct CompleteTransfer {
        std::uint32_t incoming = 0;
        std::int64_t interval = 0;
    };

    TransferArrivals(std::shared_ptr<const TrafficPlan> traffic, Duration interval, ConsumerId consumer)
        : traffic_(std::move(traffic)), interval_(interval), consumer_(consumer) {}

    /// An event has arrived whole, once. Nothing if more of its transfer is to come, or if the plan has no
    /// such transfer.
    std::optional<CompleteTransfer> received(ProducerId from, Bytes bytes, Instant generated_at) {
        const std::int64_t interval = periods_until(generated_at, interval_);
        const auto incoming =
            traffic_->find_incoming(consumer_, from, generated_at - Instant{} - interval_ * interval);
        if (!incoming) {
            return std::nullopt;
        }
        const std::uint64_t key = (static_cast<std::uint64_t>(interval) << 32U) | *incoming;
        const auto open = missing_.try_emplace(key, traffic_->to(consumer_)[*incoming].bytes).first;
        open->second -= bytes;
        if (open->second > Bytes{}) {
            return std::nullopt;
        }
        missing_.erase(open);
        return CompleteTransfer{*incoming, interval};
    }

  private:
    std::shared_ptr<const TrafficPlan> traffic_;
    Duration interval_;
    ConsumerId consumer_;
    std::unordered_map<std::uint64_t, Bytes> missing_;  ///< by interval and incoming transfer
};

}  // namespace weir::core
