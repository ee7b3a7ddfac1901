// Which packets beyond the first missing one are there: one bit each, for a bounded number of packets.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/assertion.hpp"

namespace weir::packet {

class ReceivedAhead {
  public:
    /// For packets less than `most` beyond the first that is not there.
    explicit ReceivedAhead(std::uint32_t most) : bits_(std::bit_ceil(most + 1U)) {}

    [[nodiscard]] bool has(std::uint32_t sequence) const { return bits_[sequence & mask()]; }
    /// Whether this packet, so far beyond `first`, has a bit.
    [[nodiscard]] bool covers(std::uint32_t first, std::uint32_t sequence) const {
        return sequence - first < bits_.size();
    }
    void set(std::uint32_t sequence) { bits_[sequence & mask()] = true; }
    void clear(std::uint32_t sequence) { bits_[sequence & mask()] = false; }
    /// The first packet from `sequence` on that is not there; those before it are forgotten.
    std::uint32_t consume(std::uint32_t sequence) {
        for (; has(sequence); ++sequence) {
            clear(sequence);
        }
        return sequence;
    }

  private:
    [[nodiscard]] std::uint32_t mask() const { return static_cast<std::uint32_t>(bits_.size() - 1); }
    std::vector<bool> bits_;
};

}  // namespace weir::packet
