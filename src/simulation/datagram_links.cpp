#include "simulation/datagram_links.hpp"

#include <algorithm>
#include <cmath>

#include "core/assertion.hpp"
#include "core/datagram_frames.hpp"

namespace weir::simulation {

using core::Bytes;
using core::Instant;

DatagramLinks::DatagramLinks(const core::Plan& plan, const core::NetworkPlan& network)
    : network_(network), ends_(plan.lossy() ? 1 + plan.producers + plan.consumers : 0) {
    if (!plan.lossy()) {
        return;
    }
    links_.resize(1 + plan.producers, {network.producer_link, network.producer_link});
    links_.resize(links_.size() + plan.consumers, {network.consumer_link, network.consumer_link});
}

void DatagramLinks::set_factor(Instant now, std::uint32_t node, double factor) {
    if (node >= links_.size()) {
        return;
    }
    Link& link = links_[node];
    if (!link.queue.empty()) {
        link.moved = moved_by(link, now);
        link.since = now;
    }
    link.rate = {std::llround(static_cast<double>(link.full.bits_per_second) * factor)};
    set_end(node);
}

Bytes DatagramLinks::on_the_wire(Bytes payload) const {
    if (network_.framing == core::Framing::none) {
        return payload;
    }
    return {core::wire_cost(payload.count, network_.mtu.count).bytes};
}

void DatagramLinks::hand_over(Instant now, std::uint32_t producer, std::uint32_t datagram, Bytes payload) {
    put(now, producer, {datagram, on_the_wire(payload)});
}

bool DatagramLinks::reach_port(Instant now, std::uint32_t consumer, std::uint32_t datagram, Bytes payload) {
    const Link& link = links_[consumer];
    const Bytes bytes = on_the_wire(payload);
    Bytes waiting;
    if (!link.queue.empty()) {
        const BitNanoseconds moved = std::min(moved_by(link, now), bit_nanoseconds(link.queue.front().bytes));
        waiting = link.queued - Bytes{static_cast<std::int64_t>(moved / bit_nanoseconds(Bytes{1}))};
    }
    if (waiting + bytes > network_.port_buffer) {
        return false;
    }
    put(now, consumer, {datagram, bytes});
    return true;
}

void DatagramLinks::put(Instant now, std::uint32_t node, const Queued& queued) {
    Link& link = links_[node];
    const bool first = link.queue.empty();
    link.queue.push(queued);
    link.queued += queued.bytes;
    if (first) {
        link.moved = 0;
        link.since = now;
        set_end(node);
    }
}

DatagramLinks::Passed DatagramLinks::pop_next() {
    const std::uint32_t node = ends_.top();
    const Instant end{ends_.key(node)};
    Link& link = links_[node];
    const Queued passed = link.queue.pop();
    link.queued -= passed.bytes;
    // It ended within the last nanosecond: the rest of that one is the next datagram's.
    link.moved = moved_by(link, end) - bit_nanoseconds(passed.bytes);
    WEIR_ASSERT(link.moved >= 0);
    link.since = end;
    set_end(node);
    return {node, passed.datagram};
}

void DatagramLinks::set_end(std::uint32_t node) {
    const Link& link = links_[node];
    if (link.queue.empty()) {
        ends_.erase(node);
        return;
    }
    const BitNanoseconds rest = bit_nanoseconds(link.queue.front().bytes) - link.moved;
    const std::int64_t rate = link.rate.bits_per_second;
    if (rest > 0 && rate == 0) {
        ends_.erase(node);
        return;
    }
    // What has all moved ends now, also if its link was just taken away. Beyond the clock's range is "not in
    // this run".
    const BitNanoseconds end = link.since.ns + (rest <= 0 ? 0 : core::quotient(rest + rate - 1, rate));
    constexpr BitNanoseconds latest = Instant::never().ns - 1;
    ends_.update(node, static_cast<std::int64_t>(std::min(end, latest)));
}

}  // namespace weir::simulation
