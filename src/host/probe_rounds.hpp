// Which producer meets which consumer in which round of the probe: in a round every node takes part in at
// most one pair, and all rounds together are all pairs. The first rounds touch every node, so that a probe
// that is cut short has still seen all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.hpp"

namespace weir::host {

class ProbeRounds {
  public:
    /// As many rounds as fit into `time`, at least those that touch every node.
    ProbeRounds(std::uint32_t producers, std::uint32_t consumers, core::Duration time);

    [[nodiscard]] std::size_t count() const { return offsets_.size(); }
    [[nodiscard]] core::Duration slice() const { return slice_; }  ///< time for the data of a round
    [[nodiscard]] std::uint64_t pairs() const { return pairs_; }   ///< that are probed, of all
    [[nodiscard]] std::uint64_t all_pairs() const { return std::uint64_t{producers_} * consumers_; }

    [[nodiscard]] std::optional<std::uint32_t> consumer_of(std::size_t round, std::uint32_t producer) const;
    [[nodiscard]] std::optional<std::uint32_t> producer_of(std::size_t round, std::uint32_t consumer) const;

  private:
    std::uint32_t producers_;
    std::uint32_t consumers_;
    std::vector<std::uint32_t> offsets_;
    core::Duration slice_;
    std::uint64_t pairs_ = 0;
};

}  // namespace weir::host
