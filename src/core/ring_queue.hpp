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
        return elements_[(head_ + position) & (elements_.size() - 1)];
    }

    [[nodiscard]] T& at(std::size_t position) {
        WEIR_ASSERT(position < size_);
        return elements_[(head_ + position) & (elements_.size() - 1)];
    }

    /// Appends. Not on a full queue.
    void push(T element) {
        WEIR_ASSERT(size_ < bound_);
        if (size_ == elements_.size()) {
            grow();
        }
        elements_[(head_ + size_) & (elements_.size() - 1)] = std::move(element);
        ++size_;
    }

    /// Appends an element to be filled in, which has any value. Not on a full queue.
    T& append() {
        WEIR_ASSERT(size_ < bound_);
        if (size_ == elements_.size()) {
            grow();
        }
        return elements_[(head_ + size_++) & (elements_.size() - 1)];
    }

    /// Removes and returns the oldest element. Not on an empty queue.
    T pop() {
        WEIR_ASSERT(size_ > 0);
        T element = std::move(elements_[head_]);
        head_ = (head_ + 1) & (elements_.size() - 1);
        --size_;
        return element;
    }

  private:
    void grow() {
        std::vector<T> larger(elements_.empty() ? 16 : elements_.size() * 2);
        for (std::size_t position = 0; position < size_; ++position) {
            larger[position] = std::move(elements_[(head_ + position) & (elements_.size() - 1)]);
        }
        elements_ = std::move(larger);
        head_ = 0;
    }

    std::vector<T> elements_;  ///< its size is a power of two
    std::size_t head_ = 0;
    std::size_t size_ = 0;
    std::size_t bound_;
};

}  // namespace weir::core
