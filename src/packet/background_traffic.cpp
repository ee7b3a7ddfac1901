#include "packet/background_traffic.hpp"

#include "core/assertion.hpp"

namespace weir::packet {

namespace {

/// Linux: length of an interface's queue.
constexpr std::int64_t most_waiting = 1000;

}  // namespace

BackgroundTraffic::BackgroundTraffic(const core::BackgroundPlan& plan, const Ends& ends,
                                     std::vector<NodeIndex> receivers, std::size_t turn, Picoseconds begin)
    : Flow(ends, plan.packet),
      receivers_(std::move(receivers)),
      turn_(turn),
      packet_bytes_(static_cast<std::uint16_t>(plan.packet.count)),
      spacing_{static_cast<std::int64_t>(static_cast<core::WideInteger>(plan.packet.count) * 8 *
                                         1'000'000'000'000 / plan.rate.bits_per_second)} {
    WEIR_ASSERT(!receivers_.empty() && turn_ < receivers_.size() && packet_bytes_ == plan.packet.count);
    has_packet_ = true;
    next_send_ = begin;
}

Packet BackgroundTraffic::send(Picoseconds now) {
    const std::int64_t too_many = (now - next_send_) / spacing_ - most_waiting;
    if (too_many > 0) {
        next_send_ += spacing_ * too_many;
    }
    next_send_ += spacing_;
    const NodeIndex to = receivers_[turn_];
    turn_ = (turn_ + 1) % receivers_.size();
    return {.flow = ends_.index, .to = to, .wire_bytes = packet_bytes_, .priority = ends_.priority};
}

}  // namespace weir::packet
