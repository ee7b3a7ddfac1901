// Fluid transfers through a fabric: against closed forms, and against the same transfers packet by packet.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"
#include "fluid_network.hpp"
#include "simulation/disturbance.hpp"
#include "simulation/fair_shares.hpp"
#include "transfers.hpp"

using namespace weir::core;
using namespace weir::simulation;
using weir::simulation::test::chunk_bytes;
using weir::simulation::test::line;
using weir::simulation::test::Transfers;

namespace fluid_fabric_test {

constexpr Duration latency = Duration::microseconds(1);
constexpr Instant long_enough = Instant{} + Duration::seconds(1);

/// Two spines, unless said otherwise.
TopologyPlan leaf_spine(std::uint32_t leaves, BitRate uplink, std::uint32_t spines = 2) {
    return {.kind = TopologyKind::leaf_spine, .leaves = leaves, .spines = spines, .uplink_rate = uplink};
}

NetworkPlan fabric_network(const TopologyPlan& topology, const PlacementPlan& placement,
                           NetworkModel model = NetworkModel::fluid) {
    NetworkPlan network{.model = model,
                        .producer_link = line,
                        .consumer_link = line,
                        .framing = Framing::none,
                        .mtu = {1000},
                        .latency = latency,
                        .scheduler_time = {},
                        .fluid_fabric = model == NetworkModel::fluid};
    network.fabric.topology = topology;
    network.fabric.placement = placement;
    network.fabric.switches.pool = {std::int64_t{1} << 40};
    network.fabric.switches.balancing.kind = BalancingKind::spray;
    network.fabric.nics.dcqcn.on = false;
    network.fabric.nics.ack_bytes = {1};
    network.fabric.nics.reorder = {std::int64_t{1} << 30};
    return network;
}

Disturbance failure(Disturbance::Kind kind, const char* place, double factor = 0) {
    Disturbance made;
    made.kind = kind;
    made.place = place;
    made.factor = factor;
    return made;
}

/// Rates of flows on paths over links of these capacities.
std::vector<std::int64_t> path_rates(const std::vector<std::int64_t>& capacities,
                                     const std::vector<std::vector<PathLink>>& paths) {
    FairShares network = test::fluid_network(capacities, static_cast<std::uint32_t>(paths.size()));
    std::vector<FlowId> flows;
    for (const std::vector<PathLink>& path : paths) {
        flows.push_back(network.begin({}, path, test::long_flow));
    }
    network.share_out({});
    std::vector<std::int64_t> rates;
    for (const FlowId flow : flows) {
        rates.push_back(network.rate(flow).bits_per_second);
    }
    return rates;
}

constexpr PathLink use(std::uint32_t link, std::uint32_t of = 1) {
    return {{link}, PathLink::whole / of};
}

}  // namespace fluid_fabric_test

using namespace fluid_fabric_test;

TEST_CASE("Max-min shares of paths are those of the textbook") {
    // A parking lot: one flow over all of n links, and one over each.
    for (const std::uint32_t links : {1U, 2U, 5U}) {
        std::vector<std::vector<PathLink>> paths{{}};
        for (std::uint32_t link = 0; link < links; ++link) {
            paths.front().push_back(use(link));
            paths.push_back({use(link)});
        }
        CHECK(path_rates(std::vector<std::int64_t>(links, 1000), paths) ==
              std::vector<std::int64_t>(links + 1, 500));
    }
    // Bertsekas and Gallager, figure 6.11: what a flow cannot use behind a narrow link is others'.
    CHECK(path_rates({1000, 1000, 300}, {{use(0), use(1)}, {use(1), use(2)}, {use(2)}, {use(2)}, {use(0)}}) ==
          std::vector<std::int64_t>{500, 100, 100, 100, 500});
    // Half of a flow on each of two links; the narrow one stops the whole of it.
    CHECK(path_rates({1000, 1000}, {{use(0, 2), use(1, 2)}}) == std::vector<std::int64_t>{2000});
    CHECK(path_rates({1000, 200}, {{use(0, 2), use(1, 2)}}) == std::vector<std::int64_t>{400});
    // 0.5 of the one and all of the other fill 900 at equal rates.
    CHECK(path_rates({900, 5000}, {{use(0, 2), use(1, 2)}, {use(0)}}) == std::vector<std::int64_t>{600, 600});
    CHECK(path_rates({1000}, {{}, {use(0)}}) == std::vector<std::int64_t>{0, 1000});
    CHECK(path_rates({0, 1000}, {{use(0, 2), use(1, 2)}, {use(1)}}) == std::vector<std::int64_t>{0, 1000});
}

TEST_CASE("On paths of two links shares are those of two links") {
    Random random(3, 7);
    for (int trial = 0; trial < 30; ++trial) {
        std::vector<std::int64_t> capacities;
        for (int link = 0; link < 8; ++link) {
            capacities.push_back(100 + static_cast<std::int64_t>(random.below(5000)));
        }
        FairShares pairs = test::fluid_network(capacities);
        FairShares paths = test::fluid_network(capacities);
        std::vector<std::pair<FlowId, FlowId>> flows;
        for (std::int64_t step = 0; step < 40; ++step) {
            const Instant now{step * 1'000'000};
            if (!flows.empty() && random.below(3) == 0) {
                const std::size_t ended = random.below(flows.size());
                pairs.end(now, flows[ended].first);
                paths.end(now, flows[ended].second);
                flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(ended));
            } else {
                const auto up = static_cast<std::uint32_t>(random.below(4));
                const auto down = static_cast<std::uint32_t>(4 + random.below(4));
                flows.emplace_back(pairs.begin(now, {up}, {down}, test::long_flow),
                                   paths.begin(now, {use(up), use(down)}, test::long_flow));
            }
            pairs.share_out(now);
            paths.share_out(now);
            for (const auto& [pair, path] : flows) {
                // The last digit depends on which of two links is full first.
                CHECK(std::abs(pairs.rate(pair).bits_per_second - paths.rate(path).bits_per_second) <= 8);
            }
        }
    }
}

TEST_CASE("Fluid transfers of ranks on one host share its NIC, and its memory if they stay there") {
    for (const std::uint32_t per_host : {1U, 2U}) {
        const std::vector<std::uint32_t> hosts =
            per_host == 1 ? std::vector<std::uint32_t>{0, 1, 2, 3} : std::vector<std::uint32_t>{0, 0, 2, 3};
        Transfers transfers(2, 2, fabric_network({}, {.kind = PlacementKind::listed, .hosts = hosts}));
        transfers.send(0, 0, 20);
        transfers.send(1, 1, 20);
        transfers.run(long_enough);
        const Instant end = Instant{} + Duration::nanoseconds(20 * chunk_bytes) * per_host + latency;
        CHECK(transfers.last_[0] == end);
        CHECK(transfers.last_[1] == end);
    }
    PlacementPlan by_worker{.kind = PlacementKind::by_worker};
    by_worker.memory_rate = {4 * line.bits_per_second};
    Transfers transfers(2, 2, fabric_network({}, by_worker));
    transfers.send(0, 0, 20);
    transfers.send(1, 0, 20);
    transfers.run(long_enough);
    CHECK(transfers.last_[0] == Instant{} + Duration::nanoseconds(20 * chunk_bytes) + latency);
    CHECK(transfers.received_[0] == 40);
}

TEST_CASE("Spread over two spines, all hosts of a leaf share what its uplinks carry") {
    // Four producers at one leaf, four consumers at the other one, and 2 x 1 line between.
    const PlacementPlan placement{.kind = PlacementKind::listed, .hosts = {0, 1, 2, 3, 4, 5, 6, 7}};
    NetworkPlan network = fabric_network(leaf_spine(2, line), placement);
    Transfers transfers(4, 4, network);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        transfers.send(rank, rank, 20);
    }
    transfers.run(long_enough);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        CHECK(transfers.rate_to(rank) == Approx(0.5).epsilon(0.001));
    }
}

TEST_CASE(
    "A fluid transfer stands still from a cut until routes have converged, and then has the other way") {
    const PlacementPlan placement{.kind = PlacementKind::listed, .hosts = {0, 1}};
    for (const BalancingKind balancing : {BalancingKind::ecmp, BalancingKind::spray}) {
        NetworkPlan network = fabric_network(leaf_spine(2, line), placement);
        network.fabric.switches.balancing.kind = balancing;
        network.fabric.switches.convergence = Duration::milliseconds(3);
        // Two cables of hosts, half of the latency each, and two between switches.
        network.fabric.topology.uplink_delay = Duration::microseconds(7);
        const Duration cables = latency + Duration::microseconds(14);
        std::vector<Duration> late;
        for (const char* link : {"leaf-0:spine-0", "leaf-0:spine-1"}) {
            Transfers transfers(1, 1, network);
            transfers.send(0, 0, 100);  // 10 ms
            transfers.run(Instant{} + Duration::milliseconds(4));
            transfers.network().set_failed(transfers.now(), 0, failure(Disturbance::Kind::cut_link, link),
                                           true);
            const Instant cut = transfers.now();
            transfers.run(cut + Duration::milliseconds(5));
            transfers.network().set_failed(transfers.now(), 0, failure(Disturbance::Kind::cut_link, link),
                                           false);
            transfers.run(long_enough);
            late.push_back(transfers.last_[0] - (Instant{} + Duration::milliseconds(10) + cables));
            CHECK(transfers.received_[0] == 100);
        }
        // By ECMP one of the two has it; spread, both have half of it.
        std::sort(late.begin(), late.end());
        const Duration convergence = network.fabric.switches.convergence;
        CHECK(late.front() == (balancing == BalancingKind::ecmp ? Duration{} : convergence));
        CHECK(late.back() == convergence);
    }
}

TEST_CASE("A slow link holds back what is spread over it, in proportion to its part") {
    const PlacementPlan placement{.kind = PlacementKind::listed, .hosts = {0, 1}};
    Transfers transfers(1, 1, fabric_network(leaf_spine(2, line), placement));
    transfers.network().set_failed(transfers.now(), 0,
                                   failure(Disturbance::Kind::degrade_link, "leaf-0:spine-1", 0.2), true);
    transfers.send(0, 0, 20);
    transfers.run(long_enough);
    CHECK(transfers.rate_to(0) == Approx(0.4).epsilon(0.001));  // half of it needs 0.2 of a line
}

TEST_CASE("A fluid takes the ways of packets, and as long as they do") {
    // Each host of four leaves sends to one of another leaf, through two spines with uplinks of a line.
    const PlacementPlan placement{.kind = PlacementKind::listed, .hosts = {0, 1, 2, 3, 4, 5, 6, 7}};
    for (const BalancingKind balancing : {BalancingKind::ecmp, BalancingKind::spray}) {
        for (const std::uint32_t turn : {2U, 3U, 5U}) {
            std::vector<double> seconds;
            for (const NetworkModel model : {NetworkModel::fluid, NetworkModel::packet}) {
                NetworkPlan network = fabric_network(leaf_spine(4, line), placement, model);
                network.fabric.switches.balancing.kind = balancing;
                Transfers transfers(4, 4, network, turn);
                for (std::uint32_t rank = 0; rank < 4; ++rank) {
                    transfers.send(rank, (rank + turn) % 4, 20);
                }
                transfers.run(long_enough);
                Instant last;
                for (const auto& [consumer, end] : transfers.last_) {
                    last = std::max(last, end);
                }
                seconds.push_back((last - Instant{}).in_seconds());
            }
            CAPTURE(turn, static_cast<int>(balancing));
            CHECK(seconds[0] == Approx(seconds[1]).epsilon(0.02));
        }
    }
}
