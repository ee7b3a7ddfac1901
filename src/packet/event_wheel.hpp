// The events of the packet model in the order of their time; of equal times in the order in which they were
// put in: without that, a PAUSE and the RESUME behind it may swap, and a lossless switch drops.
//
// A timing wheel: nearly all events are less than some microseconds ahead (a packet on a link, the delay of a
// cable), so each goes into the slot of its time, a short sorted list, and bits name the slots that have any.
// What is further ahead (timers) goes into a heap. Constant time per event however many there are, and hardly
// a branch that cannot be predicted; a heap of all would cost several for each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/assertion.hpp"
#include "packet/picoseconds.hpp"

namespace weir::packet {

/// Event: trivially copyable. Memory grows to the largest number of events at a time and stays.
template <typename Event>
class EventWheel {
  public:
    EventWheel() {
        heads_.fill(none);
        nodes_.reserve(1024);
    }

    [[nodiscard]] bool empty() const { return next_at_ == Picoseconds::never(); }
    /// Of the next event; never() if there is none.
    [[nodiscard]] Picoseconds next_time() const { return next_at_; }

    /// `at` is neither before the event that was popped last nor never().
    void push(Picoseconds at, const Event& event) {
        WEIR_ASSERT(at >= popped_at_ && at != Picoseconds::never());
        next_at_ = std::min(next_at_, at);
        if (slot_number(at) - slot_number(popped_at_) >= slot_count) {
            far_.push_back({at, ++far_pushed_, event});
            std::push_heap(far_.begin(), far_.end(), later);
            return;
        }
        const auto slot = static_cast<std::size_t>(slot_number(at)) % slot_count;
        const std::uint32_t added = allocate();
        std::uint32_t* link = &heads_[slot];
        while (*link != none && nodes_[*link].at <= at) {
            link = &nodes_[*link].next;
        }
        nodes_[added] = {at, *link, event};
        *link = added;
        words_[slot / 64] |= std::uint64_t{1} << slot % 64;
        summary_ |= std::uint64_t{1} << slot / 64;
    }

    /// Removes the next event. Not on an empty queue.
    Event pop() {
        WEIR_ASSERT(!empty());
        popped_at_ = next_at_;
        // An event far ahead was put in before all others of the same time.
        if (!far_.empty() && far_.front().at == next_at_) {
            const Event event = far_.front().event;
            std::pop_heap(far_.begin(), far_.end(), later);
            far_.pop_back();
            find_next();
            return event;
        }
        const auto slot = static_cast<std::size_t>(slot_number(next_at_)) % slot_count;
        const std::uint32_t taken = heads_[slot];
        Node& node = nodes_[taken];
        heads_[slot] = node.next;
        const Event event = node.event;
        node.next = free_;
        free_ = taken;
        if (heads_[slot] == none) {
            words_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
            if (words_[slot / 64] == 0) {
                summary_ &= ~(std::uint64_t{1} << slot / 64);
            }
        }
        find_next();
        return event;
    }

  private:
    /// 4096 slots of 2.05 ns: 8.4 us.
    static constexpr int slot_bits = 11;
    static constexpr std::size_t word_count = 64;
    static constexpr std::size_t slot_count = word_count * 64;
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct Node {
        Picoseconds at;
        std::uint32_t next = none;
        Event event{};
    };
    struct Far {
        Picoseconds at;
        std::uint64_t number = 0;
        Event event{};
    };

    static bool later(const Far& a, const Far& b) { return a.at != b.at ? a.at > b.at : a.number > b.number; }

    static std::uint64_t slot_number(Picoseconds at) {
        return static_cast<std::uint64_t>(at.count) >> slot_bits;
    }

    std::uint32_t allocate() {
        if (free_ == none) {
            nodes_.emplace_back();
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
        const std::uint32_t allocated = free_;
        free_ = nodes_[allocated].next;
        return allocated;
    }

    /// The first slot from that of popped_at_ on, all round, has what is next in the wheel.
    void find_next() {
        next_at_ = far_.empty() ? Picoseconds::never() : far_.front().at;
        if (summary_ == 0) {
            return;
        }
        const auto from = static_cast<std::size_t>(slot_number(popped_at_)) % slot_count;
        std::size_t word = from / 64;
        std::uint64_t bits = words_[word] >> from % 64 << from % 64;
        if (bits == 0) {
            // The words behind this one, then those before it and the slots of this one before `from`.
            const std::uint64_t turned = std::rotr(summary_, static_cast<int>((word + 1) % word_count));
            word = (word + 1 + static_cast<std::size_t>(std::countr_zero(turned))) % word_count;
            bits = words_[word];
        }
        const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        next_at_ = std::min(next_at_, nodes_[heads_[slot]].at);
    }

    Picoseconds next_at_ = Picoseconds::never();
    Picoseconds popped_at_;
    std::uint64_t summary_ = 0;  ///< a bit for each word that is not 0
    std::uint32_t free_ = none;  ///< first of the list of unused nodes
    std::array<std::uint64_t, word_count> words_{};
    std::array<std::uint32_t, slot_count> heads_{};
    std::vector<Node> nodes_;
    std::vector<Far> far_;
    std::uint64_t far_pushed_ = 0;
};

}  // namespace weir::packet
