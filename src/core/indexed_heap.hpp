// A priority queue over the indices 0 .. n-1 whose keys may change: a binary min-heap and the position of
// every index in it. Equal keys are ordered by index, so the top does not depend on history. Rejected:
// std::priority_queue (keys cannot change; leaving stale entries in it needs memory without bound) and
// std::set (allocates).
#pragma once

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
    explicit IndexedHeap(std::uint32_t capacity) : keys_(capacity), positions_(capacity, absent) {
        heap_.reserve(capacity);
    }

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(heap_.size()); }
    [[nodiscard]] bool contains(std::uint32_t index) const {
        WEIR_ASSERT(index < positions_.size());
        return positions_[index] != absent;
    }

    /// Key of an index that is in the heap.
    [[nodiscard]] const Key& key(std::uint32_t index) const {
        WEIR_ASSERT(contains(index));
        return keys_[index];
    }

    /// The index with the smallest key, of several the smallest index. The heap must not be empty. O(1).
    [[nodiscard]] std::uint32_t top() const {
        WEIR_ASSERT(!empty());
        return heap_.front();
    }

    /// Puts the index in, or changes its key. O(log n).
    void update(std::uint32_t index, Key key) {
        if (!contains(index)) {
            keys_[index] = std::move(key);
            positions_[index] = size();
            heap_.push_back(index);
            sift_up(positions_[index]);
            return;
        }
        const bool sooner = key < keys_[index];
        keys_[index] = std::move(key);
        if (sooner) {
            sift_up(positions_[index]);
        } else {
            sift_down(positions_[index]);
        }
    }

    /// As update(), but top() holds again only after restore(): together they are O(n), whatever the number
    /// of keys that change.
    void update_unsorted(std::uint32_t index, Key key) {
        if (!contains(index)) {
            positions_[index] = size();
            heap_.push_back(index);
        }
        keys_[index] = std::move(key);
    }
    void restore() {
        for (std::uint32_t position = size() / 2; position > 0; --position) {
            sift_down(position - 1);
        }
    }

    /// Takes the index out, if it is in. O(log n).
    void erase(std::uint32_t index) {
        if (!contains(index)) {
            return;
        }
        const std::uint32_t position = positions_[index];
        const std::uint32_t last = heap_.back();
        heap_.pop_back();
        positions_[index] = absent;
        if (last != index) {
            put(last, position);
            sift_up(position);
            sift_down(positions_[last]);
        }
    }

  private:
    static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
        if (keys_[a] < keys_[b]) {
            return true;
        }
        return !(keys_[b] < keys_[a]) && a < b;
    }

    void put(std::uint32_t index, std::uint32_t position) {
        heap_[position] = index;
        positions_[index] = position;
    }

    void sift_up(std::uint32_t position) {
        const std::uint32_t index = heap_[position];
        while (position > 0 && before(index, heap_[(position - 1) / 2])) {
            put(heap_[(position - 1) / 2], position);
            position = (position - 1) / 2;
        }
        put(index, position);
    }

    void sift_down(std::uint32_t position) {
        const std::uint32_t index = heap_[position];
        for (;;) {
            std::uint32_t child = 2 * position + 1;
            if (child >= size()) {
                break;
            }
            if (child + 1 < size() && before(heap_[child + 1], heap_[child])) {
                ++child;
            }
            if (!before(heap_[child], index)) {
                break;
            }
            put(heap_[child], position);
            position = child;
        }
        put(index, position);
    }

    std::vector<Key> keys_;                 ///< by index
    std::vector<std::uint32_t> positions_;  ///< by index: where in heap_, or absent
    std::vector<std::uint32_t> heap_;
};

}  // namespace weir::core
