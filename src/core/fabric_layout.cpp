#include "core/fabric_layout.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

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

}  // namespace weir::core
