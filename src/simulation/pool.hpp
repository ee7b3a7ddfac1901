// Elements that come and go, by index: an index that was freed is used again, the last one first. Memory
// grows to the largest number of elements at a time and stays.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weir::simulation {

template <typename T>
class Pool {
  public:
    /// Moves in an element; its index is valid until remove().
    std::uint32_t add(T element) {
        if (unused_.empty()) {
            elements_.push_back(std::move(element));
            return static_cast<std::uint32_t>(elements_.size() - 1);
        }
        const std::uint32_t index = unused_.back();
        unused_.pop_back();
        elements_[index] = std::move(element);
        return index;
    }

    /// As add(), of an element to be filled in, which has any value.
    std::uint32_t take() {
        if (unused_.empty()) {
            elements_.emplace_back();
            return static_cast<std::uint32_t>(elements_.size() - 1);
        }
        const std::uint32_t index = unused_.back();
        unused_.pop_back();
        return index;
    }

    /// The element keeps its value until its index is used again.
    void remove(std::uint32_t index) { unused_.push_back(index); }

    /// References last until the next add().
    T& operator[](std::uint32_t index) { return elements_[index]; }
    const T& operator[](std::uint32_t index) const { return elements_[index]; }

    /// Over all elements that were ever in use at a time, freed ones included.
    [[nodiscard]] auto begin() { return elements_.begin(); }
    [[nodiscard]] auto end() { return elements_.end(); }

  private:
    std::vector<T> elements_;
    std::vector<std::uint32_t> unused_;
};

}  // namespace weir::simulation
