#include "core/ideal_time.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/assertion.hpp"

namespace weir::core {

namespace {

/// Picoseconds, rounded up.
WideInteger transmission(std::int64_t bytes, BitRate rate) {
    return (static_cast<WideInteger>(bytes) * 8 * 1'000'000'000'000 + rate.bits_per_second - 1) /
           rate.bits_per_second;
}

/// `full` packets of `packet_bytes`, then one of `last_bytes`, over links one behind the other.
WideInteger store_and_forward(std::int64_t full, std::int64_t packet_bytes, std::int64_t last_bytes,
                              std::span<const BitRate> links) {
    WideInteger first_through = 0;  // the first full packet, over the links so far
    WideInteger slowest = 0;        // of them, for a full packet
    WideInteger full_through = 0;   // all full packets
    WideInteger last_through = 0;
    for (const BitRate link : links) {
        const WideInteger each = transmission(packet_bytes, link);
        if (full > 0) {
            first_through += each;
            slowest = std::max(slowest, each);
            full_through = first_through + (full - 1) * slowest;
        }
        last_through = std::max(last_through, full_through) + transmission(last_bytes, link);
    }
    return last_through;
}

}  // namespace

IdealTimes::IdealTimes(const Plan& plan, const NetworkPlan& network)
    : model_(network.model),
      packet_(packet_shape(network)),
      latency_(network.latency),
      topology_(network.fabric.topology),
      producers_(plan.producers),
      links_(producer_links(network, plan.producers)) {
    WEIR_ASSERT(!plan.lossy());
    if (network.framing == Framing::none) {
        packet_.payload = network.mtu.count;
    }
    links_.insert(links_.begin(), network.producer_link);
    const std::vector<BitRate> consumers = consumer_links(network, plan.consumers);
    links_.insert(links_.end(), consumers.begin(), consumers.end());
    for (const BitRate link : links_) {
        payload_rates_.push_back(payload_rate(network, link));
    }
}

Duration IdealTimes::of(ProducerId from, ConsumerId to, Bytes bytes) const {
    const std::uint32_t sender = 1 + from.value;
    const std::uint32_t receiver = 1 + producers_ + to.value;
    if (model_ == NetworkModel::packet) {
        return of_packets(sender, receiver, bytes);
    }
    return latency_ + time_for(std::min(payload_rates_[sender], payload_rates_[receiver]), bytes);
}

std::uint32_t IdealTimes::leaf_of(std::uint32_t host) const {
    return static_cast<std::uint32_t>(std::uint64_t{host} * topology_.leaves / links_.size());
}

Duration IdealTimes::of_packets(std::uint32_t from, std::uint32_t to, Bytes bytes) const {
    const bool over_spine = topology_.kind == TopologyKind::leaf_spine && leaf_of(from) != leaf_of(to);
    std::array<BitRate, 4> way{links_[from]};
    std::size_t length = 1;
    for (; over_spine && length < 3; ++length) {
        way[length] = topology_.uplink_rate;
    }
    way[length++] = links_[to];
    const std::int64_t full = (bytes.count - 1) / packet_.payload;
    const std::int64_t last = bytes.count - full * packet_.payload;
    const WideInteger picoseconds = store_and_forward(full, packet_.payload + packet_.overhead,
                                                      last + packet_.overhead, std::span(way).first(length));
    const Duration cables{latency_.ns / 2 * static_cast<std::int64_t>(length)};
    return cables + Duration{static_cast<std::int64_t>((picoseconds + 999) / 1000)};
}

}  // namespace weir::core
