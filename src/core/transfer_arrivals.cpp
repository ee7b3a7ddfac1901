#include "core/transfer_arrivals.hpp"

namespace weir::core {

std::optional<TransferArrivals::CompleteTransfer> TransferArrivals::received(ProducerId from, Bytes bytes,
                                                                             Instant generated_at) {
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

}  // namespace weir::core
