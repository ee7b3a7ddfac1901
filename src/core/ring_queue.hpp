// A first-in first-out queue in one block of memory. It grows by doubling up to a stated bound and never
// shrinks, so that a run in its steady state allocates nothing; std::deque allocates and frees a block every
// few elements.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "core/assertion.hpp"

namespace weir::core {

template <typename T>
class RingQueue {
  public:
    /// Without a bound: for what is bounded elsewhere.
    RingQueue() : bound_(std::numeric_limits<std::size_t>::max()) {}
    /// A queue that never holds more than `bound` elements.
    explicit RingQueue(std::size_t bound) : bound_(bound) {}

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] bool full() const { return size_ == bound_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// The oldest element. Not on an empty queue.
    [[nodiscard]] const T& front() const {
        WEIR_ASSERT(size_ > 0);
        return elements_[head_];
    }

    /// Element `position` places behind the oldest.
    [[nodiscard]] const T& at(std::size_t position) const {
        WEIR_ASSERT(position < size_);
        return elements_[(head_ + position) & mask_];
    }

    [[nodiscard]] T& at(std::size_t position) {
        WEIR_ASSERT(position < size_);
        return elements_[(head_ + position) & mask_];
    }

    /// Appends. Not on a full queue.
    void push(T element) { append() = std::move(element); }

    /// Appends an element to be filled in, which has any value. Not on a full queue.
    T& append() {
        WEIR_ASSERT(size_ < bound_);
        const std::size_t place = (head_ + size_) & mask_;
        if (place < elements_.size() && size_ <= mask_) {
            ++size_;
            return elements_[place];
        }
        return append_to_more();
    }

    /// Removes and returns the oldest element. Not on an empty queue.
    T pop() {
        WEIR_ASSERT(size_ > 0);
        T element = std::move(elements_[head_]);
        drop();
        return element;
    }

    /// Removes the oldest element. Not on an empty queue.
    void drop() {
        WEIR_ASSERT(size_ > 0);
        head_ = (head_ + 1) & mask_;
        --size_;
    }

  private:
    /// Where no element has been yet: memory that is not needed is not touched.
    T& append_to_more() {
        if (size_ > mask_ || elements_.empty()) {
            grow();
        }
        ++size_;
        return elements_.emplace_back();
    }

    void grow() {
        const std::size_t larger = elements_.empty() ? 16 : elements_.size() * 2;
        std::vector<T> moved;
        moved.reserve(larger);
        for (std::size_t position = 0; position < size_; ++position) {
            moved.push_back(std::move(elements_[(head_ + position) & mask_]));
        }
        elements_ = std::move(moved);
        mask_ = larger - 1;
        head_ = 0;
    }

    std::vector<T> elements_;  ///< grows up to mask_ + 1
    std::size_t mask_ = 0;     ///< a power of two - 1
    std::size_t head_ = 0;
    std::size_t size_ = 0;
    std::size_t bound_;
};

}  // namespace weir::core
