// The UDP socket of a host that sends. Datagrams go out in the order in which they were posted, whoever they
// are for, each as one IP packet or as several fragments, a frame each. Nothing is acknowledged or sent
// again: a datagram has arrived when all its frames have, and is lost with the first that is dropped.
#pragma once

#include <algorithm>
#include <optional>

#include "core/assertion.hpp"
#include "core/datagram_frames.hpp"
#include "core/ring_queue.hpp"
#include "packet/flow.hpp"

namespace weir::packet {

struct DatagramFraming {
    core::Bytes mtu{1500};  ///< of an IP packet
    bool headers = true;    ///< Ethernet, IP and UDP; else the wire carries payload only
};

class UdpSocket final : public Flow {
  public:
    /// `ends.to` does not count.
    UdpSocket(const DatagramFraming& framing, const Ends& ends) : Flow(ends, framing.mtu), framing_(framing) {
        WEIR_ASSERT(framing.mtu.count + core::wire_cost(0, framing.mtu.count).bytes <
                    std::numeric_limits<std::uint16_t>::max());
    }

    void post_to(NodeIndex to, MessageHandle handle, core::Bytes bytes) {
        WEIR_ASSERT(bytes.count > 0);
        core::WireCost cost{(bytes.count + framing_.mtu.count - 1) / framing_.mtu.count, bytes.count};
        std::int64_t full = framing_.mtu.count;
        if (framing_.headers) {
            cost = core::wire_cost(bytes.count, framing_.mtu.count);
            full = core::full_fragment_bytes(framing_.mtu.count);
        }
        const auto frames = static_cast<std::uint32_t>(cost.frames);
        datagrams_.push(
            {.content = {handle, bytes.count, frames},
             .to = to,
             .unresolved = frames,
             .full_frame_bytes = static_cast<std::uint16_t>(full),
             .last_frame_bytes = static_cast<std::uint16_t>(cost.bytes - (cost.frames - 1) * full)});
        update();
    }

    [[nodiscard]] std::int64_t next_wire_bytes() override {
        const Datagram& next = datagrams_.at(sending_);
        return frame_ + 1 == next.content.frames ? next.last_frame_bytes : next.full_frame_bytes;
    }
    Packet send(Picoseconds /*now*/) override {
        const Datagram& sent = datagrams_.at(sending_);
        const auto serial = static_cast<std::uint32_t>(first_ + sending_);
        const bool last = ++frame_ == sent.content.frames;
        if (last) {
            ++sending_;
            frame_ = 0;
        }
        update();
        return {.flow = ends_.index,
                .to = sent.to,
                .sequence = serial,
                .wire_bytes = last ? sent.last_frame_bytes : sent.full_frame_bytes,
                .priority = ends_.priority,
                .datagram = true,
                .last = last};
    }
    void on_dropped(const Packet& packet, std::vector<MessageHandle>& lost) override {
        Datagram& dropped = datagram(packet.sequence);
        if (!dropped.lost) {
            dropped.lost = true;
            lost.push_back(dropped.content.handle);
        }
        --dropped.unresolved;
        remove_resolved();
    }

    /// The last frame of the next datagram has left the host. Returns which.
    MessageHandle complete_left() {
        Datagram& oldest = datagrams_.at(leaving_);
        const MessageHandle handle = oldest.content.handle;
        oldest.left = true;
        ++leaving_;
        remove_resolved();
        return handle;
    }

    struct Whole {
        MessageHandle handle = 0;
        std::int64_t payload_bytes = 0;
        std::uint32_t frames = 0;
    };
    /// A frame has arrived. Returns its datagram if that is whole now.
    std::optional<Whole> receive(const Packet& frame) {
        Datagram& received = datagram(frame.sequence);
        std::optional<Whole> whole;
        if (--received.unresolved == 0 && !received.lost) {
            whole = received.content;
        }
        remove_resolved();
        return whole;
    }

  private:
    struct Datagram {
        Whole content;
        NodeIndex to;
        std::uint32_t unresolved = 0;  ///< frames that have neither arrived nor been dropped
        std::uint16_t full_frame_bytes = 0;
        std::uint16_t last_frame_bytes = 0;
        bool left = false;
        bool lost = false;
    };
    void update() override { has_packet_ = sending_ < datagrams_.size(); }
    [[nodiscard]] Datagram& datagram(std::uint32_t serial) { return datagrams_.at(serial - first_); }
    void remove_resolved() {
        while (!datagrams_.empty() && datagrams_.front().left && datagrams_.front().unresolved == 0) {
            datagrams_.pop();
            ++first_;
            --sending_;
            --leaving_;
        }
    }

    DatagramFraming framing_;
    core::RingQueue<Datagram> datagrams_;  ///< from the oldest of which something is not known yet
    std::uint32_t first_ = 0;              ///< serial number of the oldest; wraps around
    std::size_t sending_ = 0;              ///< in datagrams_: what goes next
    std::uint32_t frame_ = 0;              ///< of it
    std::size_t leaving_ = 0;              ///< in datagrams_: the next to leave
};

}  // namespace weir::packet
