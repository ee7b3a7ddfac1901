// Metamorphic relations of the packet network: how a result has to change, or not to, when the input is
// changed in a certain way. Each holds exactly, for random networks under random traffic.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"
#include "packet/packet_network.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

constexpr std::int64_t mega = 1'000'000;
constexpr Picoseconds microsecond = Picoseconds::nanoseconds(1000);
constexpr Picoseconds millisecond = microsecond * 1000;

/// A host by the number that it has in every variant of a scenario.
using Name = std::uint32_t;

struct Host {
    Name name = 0;
    core::BitRate rate;
    std::uint32_t leaf = 0;
};

struct Message {
    Picoseconds at;
    Name from = 0;
    Name to = 0;
    core::Bytes bytes;
};

/// Hosts in the order in which they are numbered, and when what is sent.
struct Scenario {
    std::vector<Host> hosts;
    std::uint32_t leaves = 1;  ///< 1: no spines
    std::uint32_t spines = 2;
    core::BitRate between{10'000 * mega};
    core::Duration delay{500};
    core::SwitchPlan switches;
    core::NicPlan nics;
    core::TcpPlan tcp;
    PacketNetwork::Protocol protocol{};
    bool datagrams = false;
    std::vector<Message> messages;  ///< by time
    std::vector<std::pair<Name, Name>> connected_first;
    std::uint64_t seed = 1;
    Picoseconds begin{};
};

/// When each message arrived (never(): it did not), and when its sender was informed.
struct Outcome {
    std::vector<std::pair<Picoseconds, Picoseconds>> messages;
    std::uint64_t dropped = 0;
    std::uint64_t marked = 0;
    bool operator==(const Outcome&) const = default;
};

Topology topology_of(const Scenario& scenario) {
    Topology topology;
    for (std::uint32_t host = 0; host < scenario.hosts.size(); ++host) {
        topology.add_host();
        topology.set_identity({host}, scenario.hosts[host].name);
    }
    std::vector<NodeIndex> leaves;
    for (std::uint32_t leaf = 0; leaf < scenario.leaves; ++leaf) {
        leaves.push_back(topology.add_switch());
    }
    for (std::uint32_t host = 0; host < scenario.hosts.size(); ++host) {
        topology.connect({host}, leaves[scenario.hosts[host].leaf], scenario.hosts[host].rate,
                         scenario.delay);
    }
    for (std::uint32_t spine = 0; scenario.leaves > 1 && spine < scenario.spines; ++spine) {
        const NodeIndex added = topology.add_switch();
        for (const NodeIndex leaf : leaves) {
            topology.connect(leaf, added, scenario.between, scenario.delay);
        }
    }
    return topology;
}

class Run {
  public:
    explicit Run(const Scenario& scenario)
        : scenario_(scenario),
          topology_(topology_of(scenario)),
          network_({.topology = topology_,
                    .switches = scenario.switches,
                    .nics = scenario.nics,
                    .tcp = scenario.tcp,
                    .datagrams = {{9000}, true},
                    .seed = scenario.seed,
                    .begin = scenario.begin}) {
        for (std::uint32_t host = 0; host < scenario.hosts.size(); ++host) {
            nodes_[scenario.hosts[host].name] = {host};
        }
        for (const auto& [from, to] : scenario.connected_first) {
            flow(from, to);
        }
    }

    Outcome outcome() {
        constexpr auto never = std::make_pair(Picoseconds::never(), Picoseconds::never());
        outcome_.messages.assign(scenario_.messages.size(), never);
        for (std::uint32_t index = 0; index < scenario_.messages.size(); ++index) {
            const Message& message = scenario_.messages[index];
            // What happens at that very instant comes first, as in a simulation.
            advance(message.at);
            const FlowIndex by = flow(message.from, message.to);
            if (scenario_.datagrams) {
                network_.post_datagram(message.at, by, nodes_.at(message.to), index, message.bytes);
            } else {
                network_.post(message.at, by, index, message.bytes);
            }
        }
        advance(scenario_.messages.back().at + millisecond * 10'000);
        for (LinkIndex link = 0; link < topology_.links().size(); ++link) {
            for (Priority priority = 0; priority < priority_count; ++priority) {
                outcome_.dropped += network_.counts(link, priority).dropped;
                outcome_.marked += network_.counts(link, priority).marked;
            }
        }
        return outcome_;
    }

  private:
    FlowIndex flow(Name from, Name to) {
        const auto [known, added] = flows_.try_emplace({from, scenario_.datagrams ? from : to});
        if (added) {
            known->second = scenario_.datagrams
                                ? network_.open_socket(nodes_.at(from), 3)
                                : network_.connect(nodes_.at(from), nodes_.at(to), 3, scenario_.protocol);
        }
        return known->second;
    }
    void advance(Picoseconds until) {
        while (network_.next_time() <= until && network_.next_time() != Picoseconds::never()) {
            for (const PacketNetwork::Report& report : network_.advance(until)) {
                using enum PacketNetwork::Report::Kind;
                auto& times = outcome_.messages[report.message];
                if (report.kind != lost) {
                    (report.kind == arrived ? times.first : times.second) = report.at;
                }
            }
        }
    }

    const Scenario& scenario_;
    Topology topology_;
    PacketNetwork network_;
    std::map<Name, NodeIndex> nodes_;
    std::map<std::pair<Name, Name>, FlowIndex> flows_;
    Outcome outcome_;
};

Outcome outcome_of(const Scenario& scenario) {
    return Run(scenario).outcome();
}

std::vector<Message> draw_messages(core::Random& random, std::uint64_t hosts, bool datagrams) {
    std::vector<Message> messages;
    Picoseconds at;
    for (int message = 0; message < 40; ++message) {
        const auto from = static_cast<Name>(random.below(hosts));
        // Half of all to one host, so that there is a queue.
        auto to = static_cast<Name>(random.below(2) == 0 ? 0 : random.below(hosts));
        to = to == from ? static_cast<Name>((to + 1) % hosts) : to;
        messages.push_back(
            {at, from, to, {static_cast<std::int64_t>(datagrams ? 8000 : 1 + random.below(200'000))}});
        at += microsecond * static_cast<std::int64_t>(random.below(datagrams ? 10 : 60));
    }
    return messages;
}

/// Congested: what is random is used.
Scenario draw_scenario(std::uint64_t seed) {
    core::Random random(seed, 7);
    Scenario drawn;
    drawn.seed = seed;
    const bool marks = random.below(4) > 0;
    drawn.leaves = static_cast<std::uint32_t>(1 + random.below(3));
    drawn.spines = static_cast<std::uint32_t>(1 + random.below(3));
    const std::uint64_t hosts = 3 + random.below(6);
    for (std::uint64_t host = 0; host < hosts; ++host) {
        drawn.hosts.push_back({static_cast<Name>(host),
                               {(random.below(2) == 0 ? 1000 : 10'000) * mega},
                               static_cast<std::uint32_t>(random.below(drawn.leaves))});
    }
    drawn.delay = {static_cast<std::int64_t>(random.below(2000))};
    core::SwitchPlan& switches = drawn.switches;
    const bool pfc = random.below(2) == 0;
    switches.lossless = pfc ? core::mask_of(3) : core::PriorityMask{0};
    // Enough for what is on the longest cable and half sent, in both directions.
    switches.headroom_at_100g = {200'000};
    switches.pool = {static_cast<std::int64_t>(100'000 + random.below(400'000)) +
                     (pfc ? 20 * switches.headroom_at_100g.count : 0)};
    switches.ecn.on = marks;
    switches.ecn.all_above = {static_cast<std::int64_t>(10'000 + random.below(100'000))};
    switches.ecn.probability_at_top = 0.2;
    drawn.nics.recovery =
        random.below(2) == 0 ? core::LossRecovery::go_back_n : core::LossRecovery::selective;
    drawn.nics.ack_timeout = core::Duration::milliseconds(2);
    drawn.nics.dcqcn.on = marks;
    drawn.nics.control = static_cast<core::PairControl>(random.below(3));
    drawn.tcp.ecn = marks;
    drawn.tcp.least_timeout = core::Duration::milliseconds(1);
    drawn.tcp.initial_timeout = core::Duration::milliseconds(2);
    drawn.protocol =
        random.below(3) == 0 ? PacketNetwork::Protocol::tcp : PacketNetwork::Protocol::queue_pair;
    drawn.datagrams = random.below(4) == 0;
    drawn.messages = draw_messages(random, hosts, drawn.datagrams);
    return drawn;
}

}  // namespace

TEST_CASE("Traffic that is later by some time moves every instant by exactly that time") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{61}));
    CAPTURE(seed);
    const Scenario scenario = draw_scenario(seed);
    const Picoseconds later = millisecond * static_cast<std::int64_t>(seed) + Picoseconds{123'456'789};
    Scenario moved = scenario;
    for (Message& message : moved.messages) {
        message.at += later;
    }
    Outcome expected = outcome_of(scenario);
    for (auto& [arrived, sent] : expected.messages) {
        arrived = arrived == Picoseconds::never() ? arrived : arrived + later;
        sent = sent == Picoseconds::never() ? sent : sent + later;
    }
    CHECK(outcome_of(moved) == expected);
    moved.begin = later;
    CHECK(outcome_of(moved) == expected);
}

TEST_CASE("Hosts that have no traffic change nothing") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{61}));
    CAPTURE(seed);
    const Scenario scenario = draw_scenario(seed);
    const Outcome expected = outcome_of(scenario);
    Scenario larger = scenario;
    // Their headroom is not taken from the pool of the others.
    larger.switches.pool.count +=
        scenario.switches.lossless != 0 ? core::headroom(scenario.switches, {10'000 * mega}).count : 0;
    larger.hosts.push_back({100, {10'000 * mega}, 0});
    if (scenario.leaves == 1 || scenario.switches.lossless == 0) {
        CHECK(outcome_of(larger) == expected);
        std::rotate(larger.hosts.begin(), larger.hosts.end() - 1, larger.hosts.end());
        CHECK(outcome_of(larger) == expected);
    }
}

TEST_CASE("Hosts in another order have the same results, if they keep their random numbers") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{61}));
    CAPTURE(seed);
    const Scenario scenario = draw_scenario(seed);
    Scenario permuted = scenario;
    std::reverse(permuted.hosts.begin(), permuted.hosts.end());
    CHECK(outcome_of(permuted) == outcome_of(scenario));
}

TEST_CASE("Ways and random times do not depend on which pair was connected first") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{61}));
    CAPTURE(seed);
    const Scenario scenario = draw_scenario(seed);
    Scenario connected = scenario;
    std::transform(scenario.messages.rbegin(), scenario.messages.rend(),
                   std::back_inserter(connected.connected_first),
                   [](const Message& message) { return std::pair(message.from, message.to); });
    CHECK(outcome_of(connected) == outcome_of(scenario));
}

TEST_CASE(
    "Two settings with one seed differ only by the setting: marks at one port change nothing at another") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{11}));
    CAPTURE(seed);
    Scenario scenario;
    scenario.seed = seed;
    for (Name name = 0; name < 6; ++name) {
        scenario.hosts.push_back({name, {10'000 * mega}, 0});
    }
    // Hosts 1 and 2 fill the port of host 0; host 4 sends to host 3, packet by packet among others'.
    for (std::int64_t message = 0; message < 50; ++message) {
        const Picoseconds at = microsecond * (20 * message);
        scenario.messages.push_back({at, 1, 0, {100'000}});
        scenario.messages.push_back({at, 2, 0, {100'000}});
        scenario.messages.push_back({at, 4, 3, {10'000}});
    }
    const auto apart = [&scenario](bool marks) {
        scenario.switches.ecn.on = marks;
        Outcome all = outcome_of(scenario);
        CHECK((all.marked > 0) == marks);
        std::vector<std::pair<Picoseconds, Picoseconds>> of_host_4;
        for (std::size_t message = 2; message < all.messages.size(); message += 3) {
            of_host_4.push_back(all.messages[message]);
        }
        return of_host_4;
    };
    CHECK(apart(true) == apart(false));
}
