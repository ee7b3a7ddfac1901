#include "core/fabric_layout.hpp"

#include <deque>
#include <map>
#include <numeric>

#include "core/random.hpp"

namespace weir::core {

namespace {

/// Of named shapes, tier by tier.
class Builder {
  public:
    Builder(const NetworkPlan& network, const Placement& placement)
        : network_(network), plan_(network.fabric.topology), placement_(placement) {}

    FabricLayout build() {
        const bool star = plan_.kind == TopologyKind::star;
        leaves_ = star ? 1 : plan_.leaves;
        pods_ = plan_.kind == TopologyKind::three_tier ? plan_.pods : 1;
        layout_.shared_out = placement_.shared_out();
        add_switches(Tier::leaf, leaves_);
        add_ports();
        if (!star) {
            add_switches(Tier::spine, pods_ * plan_.spines);
            add_uplinks();
        }
        if (plan_.kind == TopologyKind::three_tier) {
            add_switches(Tier::core, plan_.cores);
            add_core_links();
        }
        return std::move(layout_);
    }

  private:
    void add_switches(Tier tier, std::uint32_t count) {
        for (std::uint32_t index = 0; index < count; ++index) {
            layout_.switches.push_back({tier, index});
        }
    }
    void add_ports() {
        const bool rails = plan_.kind == TopologyKind::rail_optimized;
        const std::uint32_t groups = rails ? leaves_ / plan_.nics : leaves_;
        for (std::uint32_t index = 0; index < placement_.hosts().size(); ++index) {
            const Placement::Host& host = placement_.hosts()[index];
            const std::uint64_t place = index < layout_.shared_out ? index : 0;
            const auto group = static_cast<std::uint32_t>(place * groups / layout_.shared_out);
            for (std::uint32_t nic = 0; nic < host.nics; ++nic) {
                layout_.ports.push_back({index, rails ? group * plan_.nics + nic : group, host.rate,
                                         cable_delay(network_, Tier::host)});
            }
        }
    }
    void add_uplinks() {
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) {
            const auto pod = static_cast<std::uint32_t>(std::uint64_t{leaf} * pods_ / leaves_);
            for (std::uint32_t spine = 0; spine < plan_.spines; ++spine) {
                connect(leaf, leaves_ + pod * plan_.spines + spine, plan_.uplinks, plan_.uplink_rate);
            }
        }
    }
    void add_core_links() {
        const std::uint32_t plane = plan_.cores / plan_.spines;
        const std::uint32_t spines = pods_ * plan_.spines;
        for (std::uint32_t spine = 0; spine < spines; ++spine) {
            for (std::uint32_t core = 0; core < plane; ++core) {
                connect(leaves_ + spine, leaves_ + spines + spine % plan_.spines * plane + core,
                        plan_.core_links, plan_.core_rate);
            }
        }
    }
    void connect(std::uint32_t lower, std::uint32_t upper, std::uint32_t cables, BitRate rate) {
        const SwitchName lower_name = layout_.switches[lower];
        const auto own =
            std::find_if(plan_.own_cables.begin(), plan_.own_cables.end(), [&](const OwnCables& some) {
                return some.lower == lower_name && some.upper == layout_.switches[upper];
            });
        layout_.cables.insert(layout_.cables.end(), cables,
                              {lower, upper, own == plan_.own_cables.end() ? rate : own->rate,
                               cable_delay(network_, lower_name.tier)});
    }

    const NetworkPlan& network_;
    const TopologyPlan& plan_;
    const Placement& placement_;
    std::uint32_t leaves_ = 1;
    std::uint32_t pods_ = 1;
    FabricLayout layout_;
};

/// Capacities between nodes; a flow takes from them and gives to the way back.
class LargestFlow {
  public:
    explicit LargestFlow(std::size_t nodes) : left_(nodes) {}

    void add(std::size_t from, std::size_t to, BitRate rate) {
        left_[from][to] += rate.bits_per_second;
        left_[to].try_emplace(from, 0);
    }
    std::int64_t most(std::size_t from, std::size_t to) {
        std::int64_t sum = 0;
        while (const std::int64_t more = augment(from, to)) {
            sum += more;
        }
        return sum;
    }

  private:
    /// By a shortest way on which something is left; 0: there is none.
    std::int64_t augment(std::size_t from, std::size_t to) {
        std::vector<std::size_t> before(left_.size(), left_.size());
        std::deque<std::size_t> waiting{from};
        before[from] = from;
        while (!waiting.empty() && before[to] == left_.size()) {
            const std::size_t node = waiting.front();
            waiting.pop_front();
            for (const auto& [next, rate] : left_[node]) {
                if (rate > 0 && before[next] == left_.size()) {
                    before[next] = node;
                    waiting.push_back(next);
                }
            }
        }
        if (before[to] == left_.size()) {
            return 0;
        }
        std::int64_t least = left_[before[to]][to];
        for (std::size_t node = to; node != from; node = before[node]) {
            least = std::min(least, left_[before[node]][node]);
        }
        for (std::size_t node = to; node != from; node = before[node]) {
            left_[before[node]][node] -= least;
            left_[node][before[node]] += least;
        }
        return least;
    }

    std::vector<std::map<std::size_t, std::int64_t>> left_;
};

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

Duration cable_delay(const NetworkPlan& network, Tier lower) {
    const TopologyPlan& plan = network.fabric.topology;
    const Duration own = lower == Tier::host   ? plan.host_delay
                         : lower == Tier::leaf ? plan.uplink_delay
                                               : plan.core_delay;
    return own.ns > 0 ? own : Duration{network.latency.ns / 2};
}

Duration way_delay(const NetworkPlan& network, const FabricLayout& layout, const Placement::Ports& way) {
    const FabricLayout::Port& first = layout.ports[way.from];
    const FabricLayout::Port& last = layout.ports[way.to];
    const SwitchHops hops = hops_between(network.fabric.topology, first.leaf, last.leaf);
    return first.delay + last.delay + cable_delay(network, Tier::leaf) * hops.uplinks +
           cable_delay(network, Tier::spine) * hops.core_links;
}

bool FabricLayout::has(Tier tier) const {
    return std::any_of(switches.begin(), switches.end(), [&](SwitchName name) { return name.tier == tier; });
}

FabricLayout fabric_layout(const NetworkPlan& network, const Placement& placement) {
    return Builder(network, placement).build();
}

std::string switch_text(SwitchName name) {
    const char* tier = name.tier == Tier::leaf ? "leaf-" : name.tier == Tier::spine ? "spine-" : "core-";
    return tier + std::to_string(name.index);
}

double oversubscription(const FabricLayout& layout, Tier tier) {
    std::vector<double> below(layout.switches.size());
    std::vector<double> above(layout.switches.size());
    for (const FabricLayout::Port& port : layout.ports) {
        below[port.leaf] +=
            port.host < layout.shared_out ? static_cast<double>(port.rate.bits_per_second) : 0;
    }
    for (const FabricLayout::Cable& cable : layout.cables) {
        below[cable.upper] += static_cast<double>(cable.rate.bits_per_second);
        above[cable.lower] += static_cast<double>(cable.rate.bits_per_second);
    }
    double most = 0;
    for (std::size_t index = 0; index < layout.switches.size(); ++index) {
        if (layout.switches[index].tier == tier && above[index] > 0) {
            most = std::max(most, below[index] / above[index]);
        }
    }
    return most;
}

BisectionBandwidth bisection(const FabricLayout& layout) {
    const std::size_t source = layout.switches.size();
    const std::size_t sink = source + 1;
    LargestFlow flow(sink + 1);
    std::array<BitRate, 2> of_half{};
    for (const FabricLayout::Port& port : layout.ports) {
        if (port.host >= layout.shared_out) {
            continue;
        }
        const bool first = port.host < layout.shared_out / 2;
        flow.add(first ? source : port.leaf, first ? port.leaf : sink, port.rate);
        of_half[first ? 0 : 1].bits_per_second += port.rate.bits_per_second;
    }
    for (const FabricLayout::Cable& cable : layout.cables) {
        flow.add(cable.lower, cable.upper, cable.rate);
        flow.add(cable.upper, cable.lower, cable.rate);
    }
    return {{flow.most(source, sink)}, std::min(of_half[0], of_half[1])};
}

SwitchHops hops_between(const TopologyPlan& plan, std::uint32_t from_leaf, std::uint32_t to_leaf) {
    if (from_leaf == to_leaf) {
        return {};
    }
    const auto pod_of = [&](std::uint64_t leaf) { return leaf * plan.pods / plan.leaves; };
    const bool over_cores = plan.kind == TopologyKind::three_tier && pod_of(from_leaf) != pod_of(to_leaf);
    return {2, over_cores ? 2U : 0U};
}

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
