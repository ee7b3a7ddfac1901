// The UDP socket of a host that sends. Datagrams go out in the order in which they were posted, whoever they
// are for, each as one IP packet or as several fragments, a frame each. Nothing is acknowledged or sent
// again: a datagram has arrived when all its frames have, and is lost with the first that is dropped.
#pragma once

#include <optional>

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
    UdpSocket(const DatagramFraming& framing, const Ends& ends);

    void post_to(NodeIndex to, MessageHandle handle, core::Bytes bytes);

    [[nodiscard]] std::int64_t next_wire_bytes() override {
        const Datagram& next = datagrams_.at(sending_);
        return frame_ + 1 == next.content.frames ? next.last_frame_bytes : next.full_frame_bytes;
    }
    Packet send(Picoseconds now) override;
    void on_reply(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) override;
    [[nodiscard]] Picoseconds timeout_at() const override { return Picoseconds::never(); }
    bool on_timeout(Picoseconds /*now*/) override { return false; }
    Replies on_data(const Packet& packet, Picoseconds now, std::vector<MessageHandle>& arrived) override;
    void on_dropped(const Packet& packet, std::vector<MessageHandle>& lost) override;

    /// The last frame of the next datagram has left the host. Returns which.
    MessageHandle complete_left();

    struct Whole {
        MessageHandle handle = 0;
        std::int64_t payload_bytes = 0;
        std::uint32_t frames = 0;
    };
    /// A frame has arrived. Returns its datagram if that is whole now.
    std::optional<Whole> receive(const Packet& frame);

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
    void remove_resolved();

    DatagramFraming framing_;
    core::RingQueue<Datagram> datagrams_;  ///< from the oldest of which something is not known yet
    std::uint32_t first_ = 0;              ///< serial number of the oldest; wraps around
    std::size_t sending_ = 0;              ///< in datagrams_: what goes next
    std::uint32_t frame_ = 0;              ///< of it
    std::size_t leaving_ = 0;              ///< in datagrams_: the next to leave
};

}  // namespace weir::packet
