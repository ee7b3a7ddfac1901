#include "packet/udp_socket.hpp"

#include <algorithm>

#include "core/assertion.hpp"
#include "core/datagram_frames.hpp"

namespace weir::packet {

UdpSocket::UdpSocket(const DatagramFraming& framing, const Ends& ends)
    : Flow(ends, framing.mtu), framing_(framing) {
    WEIR_ASSERT(framing.mtu.count + core::wire_cost(0, framing.mtu.count).bytes <
                std::numeric_limits<std::uint16_t>::max());
}

void UdpSocket::post_to(NodeIndex to, MessageHandle handle, core::Bytes bytes) {
    WEIR_ASSERT(bytes.count > 0);
    core::WireCost cost{(bytes.count + framing_.mtu.count - 1) / framing_.mtu.count, bytes.count};
    std::int64_t full = framing_.mtu.count;
    if (framing_.headers) {
        cost = core::wire_cost(bytes.count, framing_.mtu.count);
        full = core::full_fragment_bytes(framing_.mtu.count);
    }
    const auto frames = static_cast<std::uint32_t>(cost.frames);
    datagrams_.push({.content = {handle, bytes.count, frames},
                     .to = to,
                     .unresolved = frames,
                     .full_frame_bytes = static_cast<std::uint16_t>(full),
                     .last_frame_bytes = static_cast<std::uint16_t>(cost.bytes - (cost.frames - 1) * full)});
    update();
}

Packet UdpSocket::send(Picoseconds /*now*/) {
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

MessageHandle UdpSocket::complete_left() {
    Datagram& oldest = datagrams_.at(leaving_);
    const MessageHandle handle = oldest.content.handle;
    oldest.left = true;
    ++leaving_;
    remove_resolved();
    return handle;
}

std::optional<UdpSocket::Whole> UdpSocket::receive(const Packet& frame) {
    Datagram& received = datagram(frame.sequence);
    std::optional<Whole> whole;
    if (--received.unresolved == 0 && !received.lost) {
        whole = received.content;
    }
    remove_resolved();
    return whole;
}

void UdpSocket::on_dropped(const Packet& packet, std::vector<MessageHandle>& lost) {
    Datagram& dropped = datagram(packet.sequence);
    if (!dropped.lost) {
        dropped.lost = true;
        lost.push_back(dropped.content.handle);
    }
    --dropped.unresolved;
    remove_resolved();
}

void UdpSocket::remove_resolved() {
    while (!datagrams_.empty() && datagrams_.front().left && datagrams_.front().unresolved == 0) {
        datagrams_.pop();
        ++first_;
        --sending_;
        --leaving_;
    }
}

// A socket gets its frames by receive(), and no replies.
void UdpSocket::on_reply(const Packet& /*reply*/, Picoseconds /*now*/, std::vector<MessageHandle>& /*sent*/) {
}
Flow::Replies UdpSocket::on_data(const Packet& /*packet*/, Picoseconds /*now*/,
                                 std::vector<MessageHandle>& /*arrived*/) {
    return {};
}

}  // namespace weir::packet
