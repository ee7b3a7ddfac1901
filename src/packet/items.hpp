// What a PacketNetwork stores: events, and the packets that wait in queues. A packet stays in one item on its
// whole way, as an event while it is on a link; nothing is copied or allocated per packet.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "packet/packet.hpp"
#include "packet/picoseconds.hpp"

namespace weir::packet {

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

}  // namespace weir::packet
