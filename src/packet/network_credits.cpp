// Hosts of a PacketNetwork that give credits (credits.hpp).
#include <algorithm>

#include "packet/packet_network.hpp"

namespace weir::packet {

/// Of a host's link, as it is now, for what the host gives away of it.
double PacketNetwork::granted_byte_time_ps(NodeIndex node) const {
    const Link& uplink = links_[nodes_[node.value].uplink];
    return static_cast<double>(uplink.picoseconds_per_byte_fixed) / 65536 / nics_->credits.share;
}

Picoseconds PacketNetwork::next_grant(NodeIndex node) const {
    const core::BitRate rate = topology_->links()[nodes_[node.value].uplink].rate;
    return granters_[node.value].next_at(unasked_bytes(nics_->credits, rate), granted_byte_time_ps(node));
}

/// A packet has come to a host: it tells what its sender wants, or takes a part of the link.
void PacketNetwork::account_for(const Packet& packet, Flow& flow) {
    const NodeIndex node = packet.to;
    CreditGranter& granter = granters_[node.value];
    const bool heard = flow.demand != nullptr && flow.ends().to == node &&
                       (packet.kind == Packet::Kind::data || packet.kind == Packet::Kind::ask);
    if (!heard) {
        granter.charge(packet.wire_bytes, granted_byte_time_ps(node), now_);
        return;
    }
    granter.charge(flow.demand->hear(packet), granted_byte_time_ps(node), now_);
    if (packet.kind == Packet::Kind::ask) {
        granter.charge(packet.wire_bytes, granted_byte_time_ps(node), now_);
        ++host_counts_[node.value].asked;
        if (!flow.demand->wants()) {
            give_credit(flow);  // the one that gave it was lost
        }
    }
    if (flow.demand->wants() && !flow.in_credit_row) {
        flow.in_credit_row = true;
        granter.row.push(flow.ends().index);
        grant_later(node);
    }
}

/// The next credit, unless one is due already.
void PacketNetwork::grant_later(NodeIndex node) {
    CreditGranter& granter = granters_[node.value];
    if (granter.pending || granter.row.empty()) {
        return;
    }
    granter.pending = true;
    push(std::max(now_, next_grant(node)), Item::Kind::grant, node.value);
}

/// The flow whose turn it is gets a credit, unless more has come in the meantime.
void PacketNetwork::grant_at(NodeIndex node) {
    CreditGranter& granter = granters_[node.value];
    granter.pending = false;
    if (next_grant(node) <= now_) {
        Flow& flow = *flows_[granter.row.pop().value];
        granter.charge(flow.demand->give(nics_->credits.grant.count), granted_byte_time_ps(node), now_);
        give_credit(flow);
        flow.in_credit_row = flow.demand->wants();
        if (flow.in_credit_row) {
            granter.row.push(flow.ends().index);
        }
    }
    grant_later(node);
}

void PacketNetwork::give_credit(Flow& flow) {
    Packet credit{.flow = flow.ends().index,
                  .to = flow.ends().from,
                  .wire_bytes = static_cast<std::uint16_t>(nics_->ack_bytes.count),
                  .kind = Packet::Kind::credit,
                  .priority = nics_->cnp_priority};
    flow.demand->fill(credit);
    flow.traffic.sent += credit.wire_bytes;
    ++host_counts_[flow.ends().to.value].credits_sent;
    enqueue_at_host(credit, flow.ends().to);
}

}  // namespace weir::packet
