// A queue (first in, first out) of the indices 0 .. n-1, each in it at most once, from which any index can
// leave at any time: a doubly linked list inside two arrays. Rejected: a ring buffer, from whose middle
// nothing can be taken, and std::list, which allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/assertion.hpp"

namespace weir::core {

/// All functions but the constructor take constant time and do not allocate.
class IndexQueue {
  public:
    /// Holds any of the indices 0 .. capacity-1, at first none.
    explicit IndexQueue(std::uint32_t capacity) : end_(capacity), links_(std::size_t{capacity} + 1) {
        for (std::uint32_t index = 0; index <= capacity; ++index) {
            links_[index] = {index, index};
        }
    }

    [[nodiscard]] bool empty() const { return links_[end_].next == end_; }
    [[nodiscard]] bool contains(std::uint32_t index) const {
        WEIR_ASSERT(index < end_);
        return links_[index].next != index;
    }

    /// The index that has been in for longest. The queue must not be empty.
    [[nodiscard]] std::uint32_t front() const {
        WEIR_ASSERT(!empty());
        return links_[end_].next;
    }

    /// Puts an index that is not in at the back.
    void push_back(std::uint32_t index) {
        WEIR_ASSERT(!contains(index));
        const std::uint32_t last = links_[end_].previous;
        links_[index] = {last, end_};
        links_[last].next = index;
        links_[end_].previous = index;
    }

    /// Takes the index out, if it is in.
    void erase(std::uint32_t index) {
        if (!contains(index)) {
            return;
        }
        const Link link = links_[index];
        links_[link.previous].next = link.next;
        links_[link.next].previous = link.previous;
        links_[index] = {index, index};
    }

  private:
    /// An index that is not in links to itself. The entry behind the last closes the circle.
    struct Link {
        std::uint32_t previous = 0;
        std::uint32_t next = 0;
    };

    std::uint32_t end_;
    std::vector<Link> links_;
};

}  // namespace weir::core
