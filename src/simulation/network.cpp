#include "simulation/network.hpp"

#include "core/assertion.hpp"
#include "simulation/fluid_network.hpp"

namespace weir::simulation {

void Network::cancel(core::Instant /*now*/, std::uint32_t /*producer*/, core::StreamId /*stream*/) {
    WEIR_UNREACHABLE("this network cannot cancel a transfer");
}

void Network::set_failed(core::Instant /*now*/, std::uint32_t /*number*/, const Disturbance& /*disturbance*/,
                         bool /*on*/) {
    WEIR_UNREACHABLE("this network has no switches and links that could fail");
}

std::unique_ptr<Network> make_network(const core::Plan& plan, const core::NetworkPlan& network,
                                      Events& events, NetworkClient& client) {
    if (network.model == core::NetworkModel::packet) {
        return make_switched_network(plan, network, events, client);
    }
    WEIR_ASSERT(!plan.lossy());
    return std::make_unique<FluidNetwork>(plan, network, events, client);
}

}  // namespace weir::simulation
