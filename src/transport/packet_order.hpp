// Restores the order of the packets of each rank, which are numbered, for networks that do not promise it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/assertion.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

class PacketOrder {
  public:
    /// For packets of so many ranks, each of which counts its own from 0.
    explicit PacketOrder(int ranks) : next_(static_cast<std::size_t>(ranks)) {}

    /// Appends the packet to `found`, and those that waited for it; or keeps it until those before it are
    /// here. `source` is one of the ranks.
    void add(Rank source, std::uint32_t number, std::span<const std::byte> packet, Polled& found) {
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

    /// The rank counts from 0 again; what waited is dropped.
    void reset(Rank source) {
        next_[static_cast<std::size_t>(source.value)] = 0;
        std::erase_if(waiting_, [source](const auto& entry) { return entry.first.first == source.value; });
    }

    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  private:
    std::vector<std::uint32_t> next_;  ///< by rank
    std::map<std::pair<int, std::uint32_t>, std::vector<std::byte>> waiting_;
};

}  // namespace weir::transport
