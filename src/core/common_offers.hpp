// Pattern `build`: what all producers have offered. An event is there when every one of them has offered its
// fragment; generation is over when every one has reported it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ids.hpp"
#include "core/indexed_heap.hpp"
#include "core/ledger.hpp"

namespace weir::core {

class CommonOffers {
  public:
    explicit CommonOffers(std::uint32_t producers) : producers_(producers), least_(producers) {
        for (std::uint32_t producer = 0; producer < producers; ++producer) {
            least_.update(producer, 0);
        }
    }

    /// The producer has offered `more`, which makes `events` fragments since the start.
    void add(ProducerId producer, const Traffic& more, std::uint64_t events) {
        fragments_ += more;
        most_ = std::max(most_, events);
        least_.update(producer.value, events);
    }
    /// The producer has only so many of the events that it offered, and will have no others.
    void limit(ProducerId producer, std::uint64_t events) { least_.update(producer.value, events); }
    /// One more producer has made its last offer. True: that was the last one.
    bool end_one() { return ++ended_ == producers_; }

    /// Events of which every producer has offered a fragment.
    [[nodiscard]] std::uint64_t events() const { return least_.key(least_.top()); }
    /// Events of which some producer has offered a fragment.
    [[nodiscard]] std::uint64_t begun_events() const { return most_; }
    /// Sum over all fragments.
    [[nodiscard]] Bytes bytes() const { return fragments_.bytes; }
    /// The mean size of an event; not before the first offer.
    [[nodiscard]] Bytes mean_event() const {
        return {fragments_.bytes.count / static_cast<std::int64_t>(fragments_.events) *
                static_cast<std::int64_t>(producers_)};
    }

  private:
    std::uint32_t producers_;
    IndexedHeap<std::uint64_t> least_;  ///< producers by offered events
    std::uint64_t most_ = 0;
    Traffic fragments_;  ///< offered
    std::uint32_t ended_ = 0;
};

}  // namespace weir::core
