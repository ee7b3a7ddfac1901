// Packets of one priority before a port of a switch that serves its ingress ports in turn: a queue for each,
// and a row of those that have something. One packet of each is sent, then that port goes to the end of the
// row, so ports that always have a packet have equally many sent, whoever of them has more.
//
// Rejected: equal bytes instead of packets (deficit round robin), since a crossbar's arbiter grants packets.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/ring_queue.hpp"
#include "packet/items.hpp"

namespace weir::packet {

class IngressTurns {
  public:
    explicit IngressTurns(std::size_t ports) : queues_(ports) {}

    [[nodiscard]] bool empty() const { return row_.empty(); }
    void push(Items& items, ItemIndex added) {
        const std::uint16_t port = items[added].packet.ingress_port;
        if (queues_[port].empty()) {
            row_.push(port);
        }
        queues_[port].push(items, added);
    }
    /// Not if it is empty.
    ItemIndex pop(Items& items) {
        const std::uint16_t port = row_.pop();
        const ItemIndex popped = queues_[port].pop(items);
        if (!queues_[port].empty()) {
            row_.push(port);
        }
        return popped;
    }

  private:
    std::vector<PacketQueue> queues_;     ///< by ingress port
    core::RingQueue<std::uint16_t> row_;  ///< of ports
};

}  // namespace weir::packet
