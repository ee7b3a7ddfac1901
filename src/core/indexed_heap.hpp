// A priority queue over the indices 0 .. n-1 whose keys may change: a min-heap in which every entry has four
// children, and the position of every index in it. A key lies beside its index, and four children lie next to
// each other, because with thousands of entries it is the reads that take the time. Equal keys are ordered by
// index, so the top does not depend on history. Rejected: std::priority_queue (keys cannot change; leaving
// stale entries in it needs memory without bound) and std::set (allocates).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/assertion.hpp"

namespace weir::core {

/// Key: ordered by operator<. No function but the constructor allocates.
template <typename Key>
class IndexedHeap {
  public:
    /// Holds any of the indices 0 .. capacity-1, at first none.
    explicit IndexedHeap(std::uint32_t capacity) : positions_(capacity, absent) { heap_.reserve(capacity); }

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(heap_.size()); }
    [[nodiscard]] bool contains(std::uint32_t index) const {
        WEIR_ASSERT(index < positions_.size());
        return positions_[index] != absent;
    }

    /// Key of an index that is in the heap.
    [[nodiscard]] const Key& key(std::uint32_t index) const {
        WEIR_ASSERT(contains(index));
        return heap_[positions_[index]].key;
    }

    /// The index with the smallest key, of several the smallest index. The heap must not be empty. O(1).
    [[nodiscard]] std::uint32_t top() const {
        WEIR_ASSERT(!empty());
        return heap_.front().index;
    }

    /// Puts the index in, or changes its key. O(log n).
    void update(std::uint32_t index, Key key) {
        if (!contains(index)) {
            heap_.push_back({std::move(key), index});
            sift_up(size() - 1);
            return;
        }
        const std::uint32_t position = positions_[index];
        Key& present = heap_[position].key;
        if (key < present) {
            present = std::move(key);
            sift_up(position);
        } else if (present < key) {
            present = std::move(key);
            sift_down(position);
        }
    }

    /// As update(), but top() holds again only after restore(): together they are O(n), whatever the number
    /// of keys that change.
    void update_unsorted(std::uint32_t index, Key key) {
        if (!contains(index)) {
            positions_[index] = size();
            heap_.push_back({std::move(key), index});
        } else {
            heap_[positions_[index]].key = std::move(key);
        }
    }
    void restore() {
        for (std::uint32_t parents = (size() + children - 2) / children; parents > 0; --parents) {
            sift_down(parents - 1);
        }
    }

    /// Takes the index out, if it is in. O(log n).
    void erase(std::uint32_t index) {
        if (!contains(index)) {
            return;
        }
        const std::uint32_t position = positions_[index];
        positions_[index] = absent;
        Entry last = std::move(heap_.back());
        heap_.pop_back();
        if (position < size()) {
            const std::uint32_t moved = last.index;
            put(std::move(last), position);
            sift_up(position);
            sift_down(positions_[moved]);
        }
    }

  private:
    static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t children = 4;

    struct Entry {
        Key key;
        std::uint32_t index;
    };

    [[nodiscard]] static bool before(const Entry& a, const Entry& b) {
        if (a.key < b.key) {
            return true;
        }
        return !(b.key < a.key) && a.index < b.index;
    }

    void put(Entry entry, std::uint32_t position) {
        positions_[entry.index] = position;
        heap_[position] = std::move(entry);
    }

    void sift_up(std::uint32_t position) {
        Entry entry = std::move(heap_[position]);
        while (position > 0 && before(entry, heap_[(position - 1) / children])) {
            put(std::move(heap_[(position - 1) / children]), position);
            position = (position - 1) / children;
        }
        put(std::move(entry), position);
    }

    void sift_down(std::uint32_t position) {
        Entry entry = std::move(heap_[position]);
        for (std::uint32_t first = children * position + 1; first < size(); first = children * position + 1) {
            std::uint32_t least = first;
            for (std::uint32_t child = first + 1; child < std::min(first + children, size()); ++child) {
                least = before(heap_[child], heap_[least]) ? child : least;
            }
            if (!before(heap_[least], entry)) {
                break;
            }
            put(std::move(heap_[least]), position);
            position = least;
        }
        put(std::move(entry), position);
    }

    std::vector<std::uint32_t> positions_;  ///< by index: where in heap_, or absent
    std::vector<Entry> heap_;
};

// A queue (first in, first out) of the indices 0 .. n-1, each in it at most once, from which any index can
// leave at any time: a doubly linked list inside two arrays. Rejected: a ring buffer, from whose middle
// nothing can be taken, and std::list, which allocates.

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
