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
#include "packet/packet.hpp"

namespace weir::packet {

// What a PacketNetwork stores: events, and the packets that wait in queues. A packet stays in one item on its
// whole way, as an event while it is on a link; nothing is copied or allocated per packet.

using ItemIndex = std::uint32_t;
inline constexpr ItemIndex no_item = std::numeric_limits<ItemIndex>::max();

/// A cache line.
struct alignas(64) Item {
    enum class Kind : std::uint8_t {
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
    Picoseconds at;            ///< of an event; of a packet in a switch, when it came
    ItemIndex next = no_item;  ///< in its slot of the wheel, its queue, or the list of unused ones
    std::uint32_t index =
        0;  ///< link; wake, received, read, grant: host; timeout, left: flow; failure, others: its number
    Packet packet{};
    Kind kind = Kind::unused;
    Priority priority = 0;  ///< pauses, watch; failure: 1 if it begins

    [[nodiscard]] bool on_link() const {
        return kind == Kind::arrives_at_host || kind == Kind::arrives_at_switch ||
               kind == Kind::may_have_errors;
    }
};

/// References to items last until the next add(). Memory grows to the largest number of items at a time and
/// stays.
class Items {
  public:
    ItemIndex add(Item::Kind kind, std::uint32_t index) {
        if (unused_ == no_item) {
            unused_ = static_cast<ItemIndex>(items_.size());
            items_.emplace_back();
        }
        const ItemIndex added = unused_;
        Item& item = items_[added];
        unused_ = item.next;
        item.kind = kind;
        item.index = index;
        return added;
    }
    void remove(ItemIndex removed) {
        items_[removed].kind = Item::Kind::unused;
        items_[removed].next = unused_;
        unused_ = removed;
    }
    [[nodiscard]] Item& operator[](ItemIndex index) { return items_[index]; }
    [[nodiscard]] const Item& operator[](ItemIndex index) const { return items_[index]; }
    [[nodiscard]] Item* data() { return items_.data(); }
    /// Unused ones too.
    [[nodiscard]] const std::vector<Item>& all() const { return items_; }

  private:
    std::vector<Item> items_;
    ItemIndex unused_ = no_item;
};

/// Packets before a link, first in, first out.
class PacketQueue {
  public:
    [[nodiscard]] bool empty() const { return first_ == no_item; }

    void push(Items& items, ItemIndex added) {
        items[added].next = no_item;
        (empty() ? first_ : items[last_].next) = added;
        last_ = added;
    }
    // Not of an empty queue.
    [[nodiscard]] ItemIndex first() const { return first_; }
    [[nodiscard]] ItemIndex last() const { return last_; }
    ItemIndex pop(Items& items) {
        const ItemIndex popped = first_;
        first_ = items[popped].next;
        __builtin_prefetch(items.data() + first_);  // it has waited for long
        return popped;
    }

  private:
    ItemIndex first_ = no_item;
    ItemIndex last_ = no_item;
};

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
