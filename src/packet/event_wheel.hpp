// The events of the packet model in the order of their time; of equal times in the order in which they were
// put in: without that, a PAUSE and the RESUME behind it may swap, and a lossless switch drops.
//
// A timing wheel: nearly all events are less than some microseconds ahead (a packet on a link, the delay of a
// cable), so each goes into the slot of its time, a short sorted list, and bits name the slots that have any.
// What is further ahead (timers) goes into a heap. Constant time per event however many there are, and hardly
// a branch that cannot be predicted; a heap of all would cost several for each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "core/assertion.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

// What a PacketNetwork stores: events, and the packets that wait in queues. A packet stays in one item on its
// whole way, as an event while it is on a link; nothing is copied or allocated per packet.

class Flow;

/// A cache line.
struct alignas(64) Item {
    enum class Kind : std::uint16_t {  // not of bytes, as PrioritySet
        unused,
        queued,                 ///< no event: a packet in the queue before a link
        arrives_at_host,        ///< a packet on a link to a host
        arrives_at_switch,      ///< a packet on a link to a switch
        may_have_errors,        ///< a packet on a link with errors
        transmitted_by_host,    ///< the link of a host is free again
        transmitted_by_switch,  ///< a link of a switch is free again
        wake,                   ///< a host: the time to send of one of its flows has come
        timeout,                ///< of a flow
        pause,                  ///< a PAUSE frame on a link
        resume,
        refresh,   ///< of a pause that was sent on a link
        left,      ///< the last frame of a socket's next datagram has left its host
        received,  ///< by the kernel of a host: the first packet in its ring
        read,      ///< by the program: the first datagram in a host's socket
        lost,      ///< a packet or frame on a link that was cut since
        failure,   ///< begins or ends
        converge,  ///< routes follow the cables that were cut or mended first of those not followed yet
        watch,     ///< a port of a switch: the watchdog looks at a queue
        examine,   ///< looks for a deadlock
        grant,     ///< a host: its next credit is due
        others,    ///< the next message of others is due
    };
    Picoseconds at;        ///< of an event; of a packet in a switch, when it came
    Item* next = nullptr;  ///< in its slot of the wheel, its queue, or the list of unused ones
    std::uint32_t index =
        0;  ///< link; wake, received, read, grant: host; timeout, left: flow; failure, others: its number
    Packet packet{};
    Kind kind = Kind::unused;
    Priority priority = 0;  ///< pauses, watch; failure: 1 if it begins
    Flow* flow = nullptr;   ///< of the packet; means nothing without one

    [[nodiscard]] bool on_link() const {
        return kind == Kind::arrives_at_host || kind == Kind::arrives_at_switch ||
               kind == Kind::may_have_errors;
    }
};

/// Items stay where they are. Memory grows to the largest number of items at a time and stays.
class Items {
  public:
    Item* add(Item::Kind kind, std::uint32_t index) {
        if (unused_ == nullptr) [[unlikely]] {
            unused_ = &all_.emplace_back();
        }
        Item* const added = unused_;
        unused_ = added->next;
        added->kind = kind;
        added->index = index;
        return added;
    }
    void remove(Item* removed) {
        removed->kind = Item::Kind::unused;
        removed->next = unused_;
        unused_ = removed;
    }
    /// Unused ones too, in the order in which they were made.
    [[nodiscard]] std::deque<Item>& all() { return all_; }
    [[nodiscard]] const std::deque<Item>& all() const { return all_; }

  private:
    std::deque<Item> all_;
    Item* unused_ = nullptr;
};

/// Packets before a link, first in, first out.
class PacketQueue {
  public:
    [[nodiscard]] bool empty() const { return first_ == nullptr; }

    void push(Item* added) {
        added->next = nullptr;
        (empty() ? first_ : last_->next) = added;
        last_ = added;
    }
    // Not of an empty queue.
    [[nodiscard]] Item* first() const { return first_; }
    [[nodiscard]] Item* last() const { return last_; }
    Item* pop() {
        Item* const popped = first_;
        first_ = popped->next;
        __builtin_prefetch(first_);  // it has waited for long
        return popped;
    }

  private:
    Item* first_ = nullptr;
    Item* last_ = nullptr;
};

class EventWheel {
  public:
    /// `horizon`: nearly all events are less than that ahead. `slots`: a power of 2, at least 4096; about as
    /// many as there are events at a time, or a slot has many.
    explicit EventWheel(Picoseconds horizon, std::size_t slots = least_slots)
        : slot_mask_(slots - 1),
          slot_bits_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(horizon.count) / slots))),
          span_(std::uint64_t{slot_mask_} << slot_bits_),
          summary_(slots / 64 / 64),
          words_(slots / 64),
          heads_(slots) {
        WEIR_ASSERT(std::has_single_bit(slots) && slots >= least_slots);
    }
    static constexpr std::size_t least_slots = 4096;

    /// When the next event is due; never() if there is none.
    [[nodiscard]] Picoseconds next_time() const { return next_at_; }

    /// Which one; nullptr if there is none.
    [[nodiscard]] const Item* next() const { return next_; }

    /// `at` is neither before the event that was popped last nor never().
    void push(Picoseconds at, Item* added) {
        added->at = at;
        // Also if it is before, which push_far() refuses.
        if (static_cast<std::uint64_t>(at.count - popped_at_.count) >= span_) [[unlikely]] {
            push_far(added);
            return;
        }
        const std::size_t slot = slot_of(at);
        Item** link = &heads_[slot];
        Item* next = *link;
        if (next == nullptr) {
            words_[slot / 64] |= std::uint64_t{1} << slot % 64;
            summary_[slot / 64 / 64] |= std::uint64_t{1} << slot / 64 % 64;
        } else {
            for (; next != nullptr && next->at <= at; next = *link) {
                link = &next->next;
            }
        }
        added->next = next;
        *link = added;
        if (at < next_at_) {
            set_next(slot, added);
        }
    }

    /// The next event, if it is due until then, which is no longer in the wheel; else nullptr. Looks for the
    /// one after it at once: a processor does so while that one is handled.
    Item* pop(Picoseconds until) {
        Item* const popped = next_;
        if (next_at_ > until || popped == nullptr) [[unlikely]] {
            return nullptr;
        }
        popped_at_ = next_at_;
        const std::size_t slot = next_slot_;
        if (slot == far) [[unlikely]] {
            pop_far();
        } else {
            heads_[slot] = popped->next;
            if (popped->next == nullptr) {
                words_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
            }
            popped_slot_ = slot;
        }
        find_next();
        return popped;
    }

  private:
    static constexpr std::size_t far = std::numeric_limits<std::size_t>::max();

    struct Far {
        Picoseconds at;
        std::uint64_t number = 0;
        Item* item = nullptr;
    };
    /// A type, which calls of the standard library are compiled for: a function would be called by its
    /// address.
    struct Later {
        bool operator()(const Far& a, const Far& b) const {
            return a.at != b.at ? a.at > b.at : a.number > b.number;
        }
    };

    [[nodiscard]] std::size_t slot_of(Picoseconds at) const {
        return (static_cast<std::uint64_t>(at.count) >> slot_bits_) & slot_mask_;
    }

    [[gnu::noinline]] void push_far(Item* added) {
        WEIR_ASSERT(added->at >= popped_at_ && added->at != Picoseconds::never());
        far_.push_back({added->at, ++far_pushed_, added});
        std::push_heap(far_.begin(), far_.end(), Later{});
        far_at_ = far_.front().at;
        if (added->at < next_at_) {
            set_next(far, added);
        }
    }

    [[gnu::noinline]] void pop_far() {
        std::pop_heap(far_.begin(), far_.end(), Later{});
        far_.pop_back();
        far_at_ = far_.empty() ? Picoseconds::never() : far_.front().at;
        popped_slot_ = slot_of(popped_at_);
    }

    void set_next(std::size_t slot, Item* item) {
        next_at_ = item->at;
        next_slot_ = slot;
        next_ = item;
    }

    /// The first slot from that of popped_at_ on, all round, has what is next in the wheel. An event far
    /// ahead was put in before all others of the same time.
    void find_next() {
        const std::uint64_t bits = words_[popped_slot_ / 64] >> popped_slot_ % 64;
        const std::size_t slot =
            bits != 0 ? popped_slot_ + static_cast<std::size_t>(std::countr_zero(bits)) : search();
        if (const std::uint64_t behind = bits & (bits - 1); behind != 0) {
            __builtin_prefetch(heads_[popped_slot_ + static_cast<std::size_t>(std::countr_zero(behind))]);
        }
        Item* const item = slot == far ? nullptr : heads_[slot];
        if (item != nullptr && item->at < far_at_) [[likely]] {
            set_next(slot, item);
        } else {
            next_at_ = far_at_;
            next_slot_ = far;
            next_ = far_.empty() ? nullptr : far_.front().item;
        }
    }
    /// In the words behind this one, then those before it and the slots of this one before popped_at_. far:
    /// there is none.
    [[nodiscard]] std::size_t search() {
        const std::size_t after = (popped_slot_ / 64 + 1) % words_.size();
        // The words of the summary that holds this one are looked at twice: those behind it, and at last all.
        std::uint64_t bits = summary_[after / 64] >> after % 64 << after % 64;
        for (std::size_t looked = 0, at = after / 64; looked <= summary_.size();
             ++looked, at = (at + 1) % summary_.size(), bits = summary_[at]) {
            for (; bits != 0; bits &= bits - 1) {
                const std::size_t word = at * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                if (words_[word] != 0) {
                    return word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]));
                }
                summary_[at] &= ~(bits & -bits);
            }
        }
        return far;
    }

    std::size_t slot_mask_;
    int slot_bits_;
    std::uint64_t span_;  ///< what is less far ahead goes into a slot, in ps
    Picoseconds next_at_ = Picoseconds::never();
    std::size_t next_slot_ = far;  ///< the slot that has it; far: the heap
    Item* next_ = nullptr;
    Picoseconds popped_at_;
    std::size_t popped_slot_ = 0;                ///< that of popped_at_
    Picoseconds far_at_ = Picoseconds::never();  ///< the first in the heap
    std::vector<std::uint64_t> summary_;         ///< a bit for each word that may not be 0
    std::vector<std::uint64_t> words_;           ///< a bit for each slot that has an event
    std::vector<Item*> heads_;
    std::vector<Far> far_;
    std::uint64_t far_pushed_ = 0;
};

}  // namespace weir::packet
