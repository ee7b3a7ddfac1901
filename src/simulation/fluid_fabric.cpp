#include "simulation/fluid_fabric.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "packet/balancing.hpp"
#include "simulation/network_failures.hpp"

namespace weir::simulation {

using core::BitRate;
using packet::CableIndex;
using packet::FabricFailure;
using packet::LinkIndex;
using packet::NodeIndex;

namespace {

/// Of data, as packet by packet (SwitchedNetwork).
constexpr std::uint32_t data_flow = 0;

}  // namespace

FluidFabric::FluidFabric(const core::Plan& plan, const core::NetworkPlan& network)
    : row_{plan.producers, plan.consumers},
      plan_(network),
      seed_(plan.seed),
      convergence_(network.fabric.switches.convergence),
      placement_(network, plan.producers, plan.consumers, plan.seed),
      layout_(core::fabric_layout(network, placement_)),
      topology_(topology_of(plan, network, placement_)),
      names_(device_names(topology_, network, placement_)),
      factors_of_ranks_(row_.size(), 1.0),
      factors_of_hosts_(placement_.hosts().size(), 1.0),
      unused_(topology_.links().size() / 2) {}

// Capacities

std::vector<BitRate> FluidFabric::capacities() const {
    std::vector<BitRate> rates;
    const auto links = static_cast<std::uint32_t>(topology_.links().size() + placement_.hosts().size());
    rates.reserve(links);
    for (std::uint32_t link = 0; link < links; ++link) {
        rates.push_back(capacity({link}));
    }
    return rates;
}

BitRate FluidFabric::capacity(LinkId link) const {
    if (link.value >= topology_.links().size()) {
        return plan_.fabric.placement.memory_rate;
    }
    const BitRate rate = core::payload_rate(plan_, topology_.links()[link.value].rate);
    const double share = factor(link.value / 2);
    return share == 1 ? rate : BitRate{std::llround(static_cast<double>(rate.bits_per_second) * share)};
}

bool FluidFabric::is_cut(CableIndex cable) const {
    return std::any_of(failures_.begin(), failures_.end(), [cable](const auto& entry) {
        const FabricFailure& failure = entry.second;
        return failure.kind == FabricFailure::Kind::cut &&
               std::find(failure.cables.begin(), failure.cables.end(), cable) != failure.cables.end();
    });
}

/// What all failures together leave of a cable.
double FluidFabric::factor(CableIndex cable) const {
    if (is_cut(cable)) {
        return 0;
    }
    double least = 1;
    for (const auto& [number, failure] : failures_) {
        if (std::find(failure.cables.begin(), failure.cables.end(), cable) != failure.cables.end()) {
            least = std::min(least, failure.share);
        }
    }
    // Cables of ports are the first ones, in their order.
    for (std::uint32_t host = 0; host < factors_of_hosts_.size(); ++host) {
        const core::Placement::Host& its = placement_.hosts()[host];
        if (cable >= its.first_port && cable < its.first_port + its.nics) {
            return std::min(least, factors_of_hosts_[host]);
        }
    }
    return least;
}

std::vector<LinkId> FluidFabric::set_link(FlatNode node, double factor) {
    factors_of_ranks_[node] = factor;
    const std::uint32_t index = placement_.host_of(node);
    const core::Placement::Host& host = placement_.hosts()[index];
    factors_of_hosts_[index] = 1;
    for (const FlatNode rank : host.ranks) {
        factors_of_hosts_[index] = std::min(factors_of_hosts_[index], factors_of_ranks_[rank]);
    }
    std::vector<LinkId> changed;
    for (std::uint32_t port = host.first_port; port < host.first_port + host.nics; ++port) {
        changed.insert(changed.end(), {LinkId{2 * port}, LinkId{2 * port + 1}});
    }
    return changed;
}

// Failures

std::vector<LinkId> FluidFabric::set_failed(std::uint32_t number, const Disturbance& disturbance, bool on) {
    const FabricFailure failure = failure_of(disturbance, topology_, names_);
    std::vector<LinkId> changed;
    std::vector<CableIndex> rerouted;
    std::vector<bool> was_cut;
    for (const CableIndex cable : failure.cables) {
        was_cut.push_back(is_cut(cable));
        changed.insert(changed.end(), {LinkId{2 * cable}, LinkId{2 * cable + 1}});
    }
    if (on) {
        failures_.emplace(number, failure);
    } else {
        failures_.erase(number);
    }
    for (std::size_t i = 0; i < failure.cables.size(); ++i) {
        if (is_cut(failure.cables[i]) != was_cut[i]) {
            rerouted.push_back(failure.cables[i]);
        }
    }
    unrouted_.push({std::move(rerouted), on});
    return changed;
}

bool FluidFabric::converge() {
    const Rerouted next = unrouted_.pop();
    for (const CableIndex cable : next.cables) {
        unused_[cable] = next.cut;
    }
    if (!next.cables.empty()) {
        ways_.clear();
    }
    return !next.cables.empty();
}

// Ways

const std::vector<LinkIndex>& FluidFabric::ways(NodeIndex from, NodeIndex to) {
    const auto found = ways_.find(to.value);
    return (found != ways_.end() ? found : ways_.emplace(to.value, topology_.ways_to(to, unused_)).first)
        ->second[from.value];
}

core::Duration FluidFabric::delay(FlatNode from, FlatNode to) const {
    return placement_.on_one_host(from, to)
               ? plan_.fabric.placement.memory_delay
               : core::way_delay(plan_, layout_, placement_.ports(from, to, data_flow));
}

std::vector<PathLink> FluidFabric::path(FlatNode from, FlatNode to) {
    if (placement_.on_one_host(from, to)) {
        return {{memory_of(placement_.host_of(from))}};
    }
    const core::Placement::Ports ports = placement_.ports(from, to, data_flow);
    const NodeIndex target{ports.to};
    const std::uint64_t hash =
        packet::path_of(seed_, topology_.identity({ports.from}), topology_.identity(target),
                        hashed_number(placement_, row_, from, to, data_flow)) +
        topology_.identity(target);
    const bool spreads = plan_.fabric.switches.balancing.spreads_fluid();
    std::vector<PathLink> path;
    // All ways are equally long: one step of all of them after the other.
    std::map<std::uint32_t, std::uint32_t> here{{ports.from, PathLink::whole}};
    while (!here.empty() && here.begin()->first != target.value) {
        std::map<std::uint32_t, std::uint32_t> next;
        for (const auto& [node, parts] : here) {
            const std::vector<LinkIndex>& all = ways({node}, target);
            if (all.empty()) {
                return {};
            }
            const auto count = static_cast<std::uint32_t>(all.size());
            const std::uint32_t first =
                spreads ? 0 : static_cast<std::uint32_t>(packet::hashed_way(hash, count));
            for (std::uint32_t way = first; way < (spreads ? count : first + 1); ++way) {
                // Rounded up: no link gets more than it carries.
                const std::uint32_t part = spreads ? (parts + count - 1) / count : parts;
                path.push_back({LinkId{all[way]}, part});
                next[topology_.links()[all[way]].to.value] += part;
            }
        }
        here = std::move(next);
    }
    return path;
}

}  // namespace weir::simulation
