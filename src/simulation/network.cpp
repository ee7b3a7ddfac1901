#include "simulation/network.hpp"

#include "core/assertion.hpp"
#include "simulation/fluid_network.hpp"
#include "simulation/switched_network.hpp"

namespace weir::simulation {

FlatNode NodeRow::flat(core::NodeId node) const {
    switch (node.role) {
        case core::Role::scheduler:
            return 0;
        case core::Role::producer:
            return producer(node.index);
        case core::Role::consumer:
            break;
    }
    return consumer(node.index);
}

core::NodeId NodeRow::id(FlatNode node) const {
    if (node == 0) {
        return core::scheduler_node();
    }
    return is_producer(node) ? core::NodeId{core::Role::producer, node - producer(0)}
                             : core::NodeId{core::Role::consumer, node - consumer(0)};
}

void Network::cancel(core::Instant /*now*/, std::uint32_t /*producer*/, core::StreamId /*stream*/) {
    WEIR_UNREACHABLE("this network cannot cancel a transfer");
}

std::unique_ptr<Network> make_network(const core::Plan& plan, const core::NetworkPlan& network,
                                      Events& events, NetworkClient& client) {
    if (network.model == core::NetworkModel::packet) {
        return std::make_unique<SwitchedNetwork>(plan, network, events, client);
    }
    WEIR_ASSERT(!plan.lossy());
    return std::make_unique<FluidNetwork>(plan, network, events, client);
}

}  // namespace weir::simulation
