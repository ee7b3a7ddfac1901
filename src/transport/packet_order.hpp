// Restores the order of the packets of each rank, which are numbered, for networks that do not promise it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace weir::transport {

class PacketOrder {
  public:
    /// For packets of so many ranks, each of which counts its own from 0.
    explicit PacketOrder(int ranks) : next_(static_cast<std::size_t>(ranks)) {}

    /// Appends the packet to `found`, and those that waited for it; or keeps it until those before it are
    /// here. `source` is one of the ranks.
    void add(Rank source, std::uint32_t number, std::span<const std::byte> packet, Polled& found);

    /// The rank counts from 0 again; what waited is dropped.
    void reset(Rank source);

    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  private:
    std::vector<std::uint32_t> next_;  ///< by rank
    std::map<std::pair<int, std::uint32_t>, std::vector<std::byte>> waiting_;
};

}  // namespace weir::transport
