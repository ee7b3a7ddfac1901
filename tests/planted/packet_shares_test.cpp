// The packet network beside the fluid one: where nothing is lost, paused or marked, and each flow has a
// window, packets share links max-min fairly too. Acknowledgements weigh next to nothing here; the windows
// are much larger than what is on the links.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"
#include "packet/packet_network.hpp"
#include "simulation/fair_shares.hpp"

using namespace weir;

namespace {

struct Pair {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

constexpr core::Bytes endless{4'000'000'000};

std::vector<double> fluid_rates(const std::vector<core::BitRate>& hosts, const std::vector<Pair>& pairs) {
    std::vector<core::BitRate> links = hosts;
    links.insert(links.end(), hosts.begin(), hosts.end());
    simulation::FairShares shares(links, static_cast<std::uint32_t>(pairs.size()));
    std::vector<simulation::FlowId> flows;
    for (const Pair& pair : pairs) {
        flows.push_back(
            shares.begin({}, {pair.from}, {static_cast<std::uint32_t>(hosts.size()) + pair.to}, endless));
    }
    shares.share_out({});
    std::vector<double> rates;
    for (const simulation::FlowId flow : flows) {
        rates.push_back(static_cast<double>(shares.rate(flow).bits_per_second));
    }
    return rates;
}

std::vector<double> packet_rates(const std::vector<core::BitRate>& hosts, const std::vector<Pair>& pairs,
                                 std::uint64_t seed) {
    using packet::Picoseconds;
    core::SwitchPlan switches;
    switches.pool = {1'000'000'000};
    switches.strict = core::mask_of(7);
    core::NicPlan nics;
    nics.payload = {1000};
    nics.overhead = {0};
    nics.ack_bytes = {1};
    nics.packets_per_ack = 4;
    nics.ack_priority = 7;
    nics.strict = core::mask_of(7);
    nics.recovery = core::LossRecovery::selective;
    nics.window = {200'000};
    // Queues of slow links hold packets for longer than the time-outs of real NICs.
    nics.ack_timeout = nics.selective_timeout_low = nics.selective_timeout_high = core::Duration::seconds(10);
    const packet::Topology topology = packet::star(hosts, core::Duration::nanoseconds(500));
    packet::PacketNetwork network({.topology = topology, .switches = switches, .nics = nics, .seed = seed});
    std::vector<packet::FlowIndex> flows;
    for (const Pair& pair : pairs) {
        flows.push_back(network.connect({pair.from}, {pair.to}, 0));
        network.post({}, flows.back(), 0, endless);
    }
    const auto run_to = [&](double seconds) {
        const Picoseconds until = Picoseconds::microseconds(seconds * 1e6);
        while (network.next_time() <= until) {
            network.advance(until);
        }
    };
    run_to(0.5);
    std::vector<double> rates;
    for (const packet::FlowIndex flow : flows) {
        rates.push_back(-static_cast<double>(network.flow(flow).expected()));
    }
    run_to(1.5);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        CHECK(network.flow(flows[flow]).packets_sent_again() == 0);
        rates[flow] = (rates[flow] + network.flow(flows[flow]).expected()) * 8000;
    }
    return rates;
}

}  // namespace

TEST_CASE("On random sets of flows packets get what the fluid gives them, within 3 %") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{16}));
    core::Random random(seed, 0);
    constexpr std::int64_t megabits[] = {100, 250, 400, 1000};
    std::vector<core::BitRate> hosts(3 + random.below(6));
    for (core::BitRate& host : hosts) {
        host = {megabits[random.below(4)] * 1'000'000};
    }
    std::vector<Pair> pairs(1 + random.below(14));
    for (Pair& pair : pairs) {
        pair.from = static_cast<std::uint32_t>(random.below(hosts.size()));
        pair.to = static_cast<std::uint32_t>((pair.from + 1 + random.below(hosts.size() - 1)) % hosts.size());
    }
    const std::vector<double> fluid = fluid_rates(hosts, pairs);
    const std::vector<double> packets = packet_rates(hosts, pairs, seed);
    for (std::size_t flow = 0; flow < pairs.size(); ++flow) {
        CAPTURE(seed, flow, pairs[flow].from, pairs[flow].to);
        CHECK(packets[flow] == Approx(fluid[flow]).epsilon(0.03));
    }
}
