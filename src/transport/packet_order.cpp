#include "transport/packet_order.hpp"

#include "core/assertion.hpp"

namespace weir::transport {

void PacketOrder::add(Rank source, std::uint32_t number, std::span<const std::byte> packet, Polled& found) {
    WEIR_ASSERT(source.value >= 0 && static_cast<std::size_t>(source.value) < next_.size());
    std::uint32_t& next = next_[static_cast<std::size_t>(source.value)];
    if (number != next) {
        waiting_.try_emplace({source.value, number}, packet.begin(), packet.end());
        return;
    }
    found.add_packet(source, packet);
    ++next;
    while (!waiting_.empty()) {
        const auto follower = waiting_.find({source.value, next});
        if (follower == waiting_.end()) {
            return;
        }
        found.add_packet(source, follower->second);
        waiting_.erase(follower);
        ++next;
    }
}

void PacketOrder::reset(Rank source) {
    next_[static_cast<std::size_t>(source.value)] = 0;
    std::erase_if(waiting_, [source](const auto& entry) { return entry.first.first == source.value; });
}

}  // namespace weir::transport
