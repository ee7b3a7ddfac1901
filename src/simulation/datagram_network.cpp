#include "simulation/datagram_network.hpp"

#include <algorithm>
#include <cmath>

#include "core/datagram_frames.hpp"

namespace weir::simulation {

using core::Bytes;
using core::Instant;

DatagramNetwork::DatagramNetwork(const core::Plan& plan, const core::NetworkPlan& network)
    : network_(network) {
    if (!plan.lossy()) {
        return;
    }
    const Instant start = Instant{} - plan.warmup;
    links_.assign(1 + plan.producers, {network.producer_link, network.producer_link, start});
    links_.insert(links_.end(), plan.consumers, {network.consumer_link, network.consumer_link, start});
}

void DatagramNetwork::set_factor(std::uint32_t node, double factor) {
    if (node >= links_.size()) {
        return;
    }
    constexpr std::int64_t slowest = 1000;  // bit/s: what waits then stays in the order of time
    Link& link = links_[node];
    const std::int64_t rate = std::llround(static_cast<double>(link.full.bits_per_second) * factor);
    link.rate = {std::max(slowest, rate)};
}

Bytes DatagramNetwork::on_the_wire(Bytes payload) const {
    if (network_.framing == core::Framing::none) {
        return payload;
    }
    return {core::wire_cost(payload.count, network_.mtu.count).bytes};
}

Instant DatagramNetwork::leaves_at(Instant now, std::uint32_t producer, Bytes payload) {
    Link& link = links_[producer];
    link.free_at = std::max(now, link.free_at) + core::time_for(link.rate, on_the_wire(payload));
    return link.free_at;
}

std::optional<Instant> DatagramNetwork::arrives_at(Instant now, std::uint32_t consumer, Bytes payload) {
    Link& link = links_[consumer];
    const Bytes bytes = on_the_wire(payload);
    const Bytes queued = now < link.free_at ? core::bytes_in(link.rate, link.free_at - now) : Bytes{};
    if (queued + bytes > network_.port_buffer) {
        return std::nullopt;
    }
    link.free_at = std::max(now, link.free_at) + core::time_for(link.rate, bytes);
    return link.free_at + network_.latency;
}

}  // namespace weir::simulation
