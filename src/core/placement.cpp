#include "core/placement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/assertion.hpp"
#include "core/random.hpp"

namespace weir::core {

namespace {

/// Places 0, 1, ... in a random order (Fisher and Yates).
std::vector<std::uint32_t> shuffled(std::uint32_t places, std::uint64_t seed) {
    std::vector<std::uint32_t> order(places);
    std::iota(order.begin(), order.end(), 0U);
    Random random(seed, random_stream(RandomPurpose::placement, 0));
    for (std::uint32_t left = places; left > 1; --left) {
        std::swap(order[left - 1], order[random.below(left)]);
    }
    return order;
}

}  // namespace

PlacedUnits placed_units(const FabricPlan& fabric, std::uint32_t producers, std::uint32_t consumers) {
    const PlacementPlan& plan = fabric.placement;
    if (plan.kind == PlacementKind::rows) {
        return {false, 1 + producers + consumers, plan.per_host};
    }
    if (plan.kind == PlacementKind::listed) {
        const auto last = std::max_element(plan.hosts.begin(), plan.hosts.end());
        return {plan.hosts.size() == producers && producers == consumers,
                last == plan.hosts.end() ? 0 : *last + 1, 1};
    }
    const bool workers = plan.kind != PlacementKind::random || producers == consumers;
    return {workers, workers ? std::max(producers, consumers) : producers + consumers,
            plan.kind == PlacementKind::by_rail ? fabric.topology.nics : plan.per_host};
}

Placement::Placement(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers,
                     std::uint64_t seed)
    : producers_(producers),
      consumers_(consumers),
      seed_(seed),
      by_rail_(network.fabric.placement.kind == PlacementKind::by_rail),
      host_of_(1 + producers + consumers),
      rail_of_(host_of_.size()) {
    place(network.fabric);
    const std::vector<BitRate> links = rank_links(network, producers, consumers, network.producer_link);
    std::uint32_t port = 0;
    for (std::uint32_t index = 0; index < hosts_.size(); ++index) {
        Host& host = hosts_[index];
        host.nics = index < shared_out_ ? network.fabric.topology.nics : 1;
        host.first_port = port;
        port += host.nics;
        host.rate = host.ranks.empty() ? network.producer_link : BitRate{};
        for (const std::uint32_t rank : host.ranks) {
            host.rate = std::max(host.rate, links[rank]);
        }
    }
}

void Placement::place(const FabricPlan& fabric) {
    const PlacementPlan& plan = fabric.placement;
    const PlacedUnits units = placed_units(fabric, producers_, consumers_);
    WEIR_ASSERT(fabric.topology.hosts == 0 || units.hosts() <= fabric.topology.hosts);
    shared_out_ = std::max(units.hosts(), fabric.topology.hosts);
    hosts_.resize(shared_out_);
    if (plan.kind == PlacementKind::listed) {
        const auto listed = static_cast<std::uint32_t>(plan.hosts.size());
        WEIR_ASSERT(units.workers || listed == producers_ + consumers_);
        for (std::uint32_t unit = 0; unit < listed; ++unit) {
            put(units, unit, plan.hosts[unit]);
        }
    } else {
        std::vector<std::uint32_t> places;
        if (plan.kind == PlacementKind::random) {
            places = shuffled(shared_out_ * units.per_host, plan.seed == 0 ? seed_ : plan.seed);
        }
        for (std::uint32_t unit = 0; unit < units.count; ++unit) {
            put(units, unit, places.empty() ? unit : places[unit]);
        }
    }
    if (plan.kind != PlacementKind::rows) {
        if (!plan.scheduler_shares) {
            hosts_.emplace_back();
        }
        put_rank(0, plan.scheduler_shares ? 0 : shared_out_, 0);
    }
    for (Host& host : hosts_) {
        std::sort(host.ranks.begin(), host.ranks.end());
    }
}

/// `place`: a host, or one of several on a host.
void Placement::put(const PlacedUnits& units, std::uint32_t unit, std::uint32_t place) {
    const std::uint32_t host = place / units.per_host;
    const std::uint32_t rail = place % units.per_host;
    if (!units.workers) {
        const bool with_scheduler = units.count == 1 + producers_ + consumers_;
        put_rank(with_scheduler ? unit : 1 + unit, host, rail);
        return;
    }
    if (unit < producers_) {
        put_rank(1 + unit, host, rail);
    }
    if (unit < consumers_) {
        put_rank(1 + producers_ + unit, host, rail);
    }
}

void Placement::put_rank(std::uint32_t rank, std::uint32_t host, std::uint32_t rail) {
    host_of_[rank] = host;
    rail_of_[rank] = rail;
    hosts_[host].ranks.push_back(rank);
}

Placement::Ports Placement::ports(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
    const Host& sender = hosts_[host_of_[from]];
    const Host& receiver = hosts_[host_of_[to]];
    Ports ports{sender.first_port, receiver.first_port};
    if (by_rail_ && from != 0 && to != 0) {
        ports.from += rail_of_[from];
        ports.to += rail_of_[from];
    } else if (!by_rail_ && (sender.nics > 1 || receiver.nics > 1)) {
        // By role and index: a rank more changes nothing for the others.
        const auto identity = [&](std::uint32_t rank) {
            const NodeId node = node_of(rank);
            return static_cast<std::uint32_t>(node.role) << 29U | node.index;
        };
        Random random(seed_, random_stream(RandomPurpose::placement, identity(from), identity(to), number));
        ports.from += static_cast<std::uint32_t>(random.below(sender.nics));
        ports.to += static_cast<std::uint32_t>(random.below(receiver.nics));
    }
    return ports;
}

bool Placement::has(Role role, std::uint32_t host) const {
    const std::vector<std::uint32_t>& ranks = hosts_[host].ranks;
    return std::any_of(ranks.begin(), ranks.end(),
                       [&](std::uint32_t rank) { return node_of(rank).role == role; });
}

std::vector<std::uint32_t> Placement::receivers_of_others(std::uint32_t host) const {
    std::vector<std::uint32_t> receivers;
    for (std::uint32_t other = 0; has(Role::producer, host) && other < hosts_.size(); ++other) {
        if (other != host && has(Role::consumer, other)) {
            receivers.push_back(other);
        }
    }
    return receivers;
}

NodeId Placement::node_of(std::uint32_t rank) const {
    if (rank == 0) {
        return scheduler_node();
    }
    return rank <= producers_ ? NodeId{Role::producer, rank - 1}
                              : NodeId{Role::consumer, rank - 1 - producers_};
}

std::string Placement::name(std::uint32_t host) const {
    const std::vector<std::uint32_t>& ranks = hosts_[host].ranks;
    if (ranks.size() == 1) {
        const NodeId node = node_of(ranks.front());
        const std::string role = role_name(node.role);
        return node.role == Role::scheduler ? role : role + '-' + std::to_string(node.index);
    }
    const bool is_worker = ranks.size() == 2 && ranks.front() != 0 &&
                           node_of(ranks.front()).role != node_of(ranks.back()).role &&
                           node_of(ranks.front()).index == node_of(ranks.back()).index;
    return is_worker ? "worker-" + std::to_string(node_of(ranks.front()).index)
                     : "host-" + std::to_string(host);
}

std::uint32_t Placement::most(std::uint32_t first, std::uint32_t count) const {
    std::vector<std::uint32_t> on(hosts_.size());
    std::uint32_t most = 0;
    for (std::uint32_t rank = first; rank < first + count; ++rank) {
        most = std::max(most, ++on[host_of_[rank]]);
    }
    return most;
}

}  // namespace weir::core
