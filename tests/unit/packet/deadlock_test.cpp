// Deadlocks: four switches in a ring (Hu et al., HotNets 2016), and leaves and spines with cables cut.
#include "catch.hpp"
#include "leaf_spine.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

LinkIndex ring_link(std::uint32_t position) {
    return 2 * (4 + position % 4);
}

/// Flows from A by B and C to D and from C by D and A to B, each of 40 Gb/s, and one from B to C if it has a
/// rate.
struct Ring {
    Ring(core::Arbitration arbitration, double third, bool watchdog = false) {
        const auto switch_of = [](std::uint32_t position) { return NodeIndex{4 + position % 4}; };
        for (std::uint32_t hop = 0; hop < 3; ++hop) {
            topology.set_way(switch_of(hop), {3}, ring_link(hop));
            topology.set_way(switch_of(2 + hop), {1}, ring_link(2 + hop));
        }
        const NodeIndex from = topology.add_host();
        const NodeIndex to = topology.add_host();
        const core::Duration delay = core::Duration::microseconds(1);
        topology.connect(from, switch_of(1), {third > 0 ? static_cast<std::int64_t>(third * 1e9) : giga},
                         delay);
        topology.connect(to, switch_of(2), {40 * giga}, delay);
        core::SwitchPlan switches = plain_switch();
        switches.lossless = core::mask_of(0);
        switches.ingress_threshold = {40'000};
        switches.arbitration = arbitration;
        switches.watchdog.on = watchdog;
        switches.watchdog.detection = switches.watchdog.restoration = core::Duration::milliseconds(5);
        network = std::make_unique<PacketNetwork>(
            PacketNetwork::Setup{.topology = topology, .switches = switches, .nics = plain_nic()});
        stream(0, 3);
        stream(2, 1);
        if (third > 0) {
            stream(from.value, to.value);
        }
    }
    void stream(std::uint32_t from, std::uint32_t to) const {
        network->post({}, network->connect({from}, {to}, 0), 0, endless);
    }
    [[nodiscard]] double run_to(Picoseconds until) const {
        while (network->next_time() <= until) {
            network->advance(until);
        }
        double arrived = 0;
        for (std::uint32_t flow = 0; flow < network->flows(); ++flow) {
            arrived += network->flow({flow}).expected();
        }
        return arrived;
    }
    [[nodiscard]] std::vector<NetworkEvent> events(NetworkEvent::Kind kind) const {
        std::vector<NetworkEvent> found;
        for (const NetworkEvent& event : network->network_events()) {
            if (event.kind == kind) {
                found.push_back(event);
            }
        }
        return found;
    }

    Topology topology =
        ring(std::vector<core::BitRate>(4, {40 * giga}), {40 * giga}, core::Duration::microseconds(1));
    std::unique_ptr<PacketNetwork> network;
};

}  // namespace

TEST_CASE("A deadlock is found exactly where nothing arrives any more") {
    const auto [arbitration, third, deadlock] = GENERATE(
        std::tuple{core::Arbitration::ingress_round_robin, 0.0, false},
        std::tuple{core::Arbitration::ingress_round_robin, 40.0, false},
        std::tuple{core::Arbitration::fifo, 0.0, false}, std::tuple{core::Arbitration::fifo, 3.0, true},
        std::tuple{core::Arbitration::fifo, 40.0, true});
    CAPTURE(static_cast<int>(arbitration), third);
    Ring ring(arbitration, third);
    CHECK(ring.network->possible_deadlock().size() == 4);
    const double early = ring.run_to(millisecond * 10);
    const bool stands = ring.run_to(millisecond * 15) == early;
    CHECK(stands == deadlock);
    const std::vector<NetworkEvent> found = ring.events(NetworkEvent::Kind::deadlocked);
    REQUIRE(found.size() == (deadlock ? 1 : 0));
    if (deadlock) {
        std::vector<LinkIndex> cycle = found.front().cycle;
        std::sort(cycle.begin(), cycle.end());
        CHECK(cycle == std::vector<LinkIndex>{ring_link(0), ring_link(1), ring_link(2), ring_link(3)});
        CHECK(found.front().at < millisecond * 10);
    }
}

TEST_CASE("A watchdog that drops ends a deadlock") {
    Ring ring(core::Arbitration::fifo, 40, true);
    const double early = ring.run_to(millisecond * 4);
    REQUIRE(ring.events(NetworkEvent::Kind::deadlocked).size() == 1);
    CHECK(ring.run_to(millisecond * 80) > early);
    CHECK(ring.network->watchdogs().detected > 0);
    CHECK(ring.network->watchdogs().dropped.packets > 0);
    CHECK_FALSE(ring.events(NetworkEvent::Kind::resolved).empty());
}

TEST_CASE("Leaves and spines allow no deadlock, unless cuts make packets turn back at a leaf") {
    const Topology topology = leaf_spine({.leaves = 4,
                                          .spines = 2,
                                          .hosts = std::vector<core::BitRate>(8, {10 * giga}),
                                          .between = {10 * giga},
                                          .delay = {}});
    CHECK(buffer_cycle(topology).empty());
    CHECK(buffer_cycle(star({{giga}, {giga}}, {})).empty());
    std::vector<bool> unused(topology.links().size() / 2);
    unused[8 + 1] = true;  // leaf 0 to spine 1
    CHECK(buffer_cycle(topology, unused).empty());
    unused[8 + 2] = true;  // leaf 1 to spine 0: between them packets go down to another leaf and up again
    CHECK(buffer_cycle(topology, unused).size() == 4);
}
