#include "packet/packet_network.hpp"

namespace weir::packet {

std::vector<std::uint64_t> PacketNetwork::bytes_inside() const {
    std::vector<std::uint64_t> bytes(flows_.size());
    const auto add = [&](const core::RingQueue<Packet>& packets) {
        for (std::size_t index = 0; index < packets.size(); ++index) {
            const Packet& packet = packets.at(index);
            bytes[packet.flow.value] += packet.wire_bytes;
        }
    };
    for (const Link& link : links_) {
        add(link.on_the_way);
        for (const core::RingQueue<Packet>& queue : link.queues) {
            add(queue);
        }
    }
    return bytes;
}

}  // namespace weir::packet
