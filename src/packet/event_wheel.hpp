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
#include <vector>

#include "core/assertion.hpp"
#include "packet/items.hpp"

namespace weir::packet {

class EventWheel {
  public:
    /// `horizon`: nearly all events are less than that ahead. `items` must outlive it.
    EventWheel(Items& items, Picoseconds horizon)
        : items_(&items),
          slot_bits_(
              static_cast<int>(std::bit_width(static_cast<std::uint64_t>(horizon.count) / slot_count))) {
        heads_.fill(no_item);
    }

    /// When the next event is due; never() if there is none.
    [[nodiscard]] Picoseconds next_time() const { return next_at_; }

    /// `at` is neither before the event that was popped last nor never().
    void push(Picoseconds at, ItemIndex added) {
        WEIR_ASSERT(at >= popped_at_ && at != Picoseconds::never());
        Item* const items = items_->data();
        items[added].at = at;
        const std::uint64_t turn = turn_of(at);
        if (turn - turn_of(popped_at_) >= slot_count) [[unlikely]] {
            push_far(at, added);
            return;
        }
        const std::size_t slot = turn % slot_count;
        ItemIndex* link = &heads_[slot];
        if (*link == no_item) {
            words_[slot / 64] |= std::uint64_t{1} << slot % 64;
            summary_ |= std::uint64_t{1} << slot / 64;
        }
        while (*link != no_item && items[*link].at <= at) {
            link = &items[*link].next;
        }
        items[added].next = *link;
        *link = added;
        if (at < next_at_) {
            set_next(at, slot, added);
        }
    }

    /// The next event, if it is due until then, which is no longer in the wheel; else no_item.
    ItemIndex pop(Picoseconds until) {
        if (next_at_ > until || next_item_ == no_item) {
            return no_item;
        }
        popped_at_ = next_at_;
        const ItemIndex popped = next_item_;
        if (next_slot_ == far) {
            pop_far();
        } else {
            heads_[next_slot_] = (*items_)[popped].next;
            if (heads_[next_slot_] == no_item) {
                clear_bit(next_slot_);
            }
        }
        find_next();
        return popped;
    }

  private:
    static constexpr std::size_t word_count = 64;
    static constexpr std::size_t slot_count = word_count * 64;
    static constexpr std::size_t far = slot_count;

    struct Far {
        Picoseconds at;
        std::uint64_t number = 0;
        ItemIndex item = no_item;
    };
    /// A type, which calls of the standard library are compiled for: a function would be called by its
    /// address.
    struct Later {
        bool operator()(const Far& a, const Far& b) const {
            return a.at != b.at ? a.at > b.at : a.number > b.number;
        }
    };

    /// Time in units of slots.
    [[nodiscard]] std::uint64_t turn_of(Picoseconds at) const {
        return static_cast<std::uint64_t>(at.count) >> slot_bits_;
    }

    [[gnu::noinline]] void push_far(Picoseconds at, ItemIndex added) {
        far_.push_back({at, ++far_pushed_, added});
        std::push_heap(far_.begin(), far_.end(), Later{});
        far_at_ = far_.front().at;
        if (at < next_at_) {
            set_next(at, far, added);
        }
    }

    [[gnu::noinline]] void pop_far() {
        std::pop_heap(far_.begin(), far_.end(), Later{});
        far_.pop_back();
        far_at_ = far_.empty() ? Picoseconds::never() : far_.front().at;
    }

    void set_next(Picoseconds at, std::size_t slot, ItemIndex item) {
        next_at_ = at;
        next_slot_ = slot;
        next_item_ = item;
    }

    void clear_bit(std::size_t slot) {
        std::uint64_t& word = words_[slot / 64];
        word &= ~(std::uint64_t{1} << slot % 64);
        summary_ &= ~(std::uint64_t{word == 0} << slot / 64);  // no branch: it could not be foretold
    }

    /// The first slot from that of popped_at_ on, all round, has what is next in the wheel. An event far
    /// ahead was put in before all others of the same time.
    void find_next() {
        if (summary_ == 0) {
            return find_far();
        }
        const std::size_t from = turn_of(popped_at_) % slot_count;
        // The next 64 slots, of two words: nearly always one of them has an event.
        std::size_t word = from / 64;
        const std::uint64_t bits = words_[word] >> from % 64 | words_[(word + 1) % word_count]
                                                                   << 1 << (63 - from % 64);
        std::size_t slot = (from + static_cast<std::size_t>(std::countr_zero(bits))) % slot_count;
        if (bits == 0) [[unlikely]] {
            // The words behind this one, then those before it and the slots of this one before `from`.
            const std::uint64_t turned = std::rotr(summary_, static_cast<int>((word + 1) % word_count));
            word = (word + 1 + static_cast<std::size_t>(std::countr_zero(turned))) % word_count;
            slot = word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]));
        }
        const ItemIndex item = heads_[slot];
        if (const Picoseconds at = (*items_)[item].at; at < far_at_) [[likely]] {
            set_next(at, slot, item);
        } else {
            find_far();
        }
    }
    void find_far() { set_next(far_at_, far, far_.empty() ? no_item : far_.front().item); }

    Items* items_;
    int slot_bits_;
    Picoseconds next_at_ = Picoseconds::never();
    std::size_t next_slot_ = far;  ///< the slot that has it; far: the heap
    ItemIndex next_item_ = no_item;
    Picoseconds popped_at_;
    Picoseconds far_at_ = Picoseconds::never();  ///< the first in the heap
    std::uint64_t summary_ = 0;                  ///< a bit for each word that is not 0
    std::array<std::uint64_t, word_count> words_{};
    std::array<ItemIndex, slot_count> heads_{};
    std::vector<Far> far_;
    std::uint64_t far_pushed_ = 0;
};

}  // namespace weir::packet
