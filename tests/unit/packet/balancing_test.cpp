#include "packet/balancing.hpp"

#include <cmath>
#include <numeric>
#include <tuple>

#include "catch.hpp"
#include "leaf_spine.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

using core::BalancingKind;
using core::BalancingPlan;

/// Expectation of the fullest of `bins` into which `balls` were thrown, each bin as likely as the others:
/// P(fullest <= m) = balls! / bins^balls x the coefficient of x^balls in (sum of x^j / j!, j = 0 .. m)^bins.
double expected_fullest(std::size_t balls, std::size_t bins) {
    double expected = 0;
    for (std::size_t most = 0; most < balls; ++most) {
        std::vector<double> product(balls + 1);
        product[0] = 1;
        for (std::size_t bin = 0; bin < bins; ++bin) {
            std::vector<double> next(balls + 1);
            for (std::size_t have = 0; have <= balls; ++have) {
                double term = product[have];
                for (std::size_t more = 0; more <= most && have + more <= balls; ++more) {
                    next[have + more] += term;
                    term /= static_cast<double>(more + 1);
                }
            }
            product = next;
        }
        const auto count = static_cast<double>(balls);
        const double log_ways = std::lgamma(count + 1) - count * std::log(static_cast<double>(bins));
        expected += 1 - product[balls] * std::exp(log_ways);
    }
    return expected;
}

/// (sum)^2 / (n x sum of squares).
double jain(const std::vector<double>& loads) {
    const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
    return sum * sum /
           (static_cast<double>(loads.size()) *
            std::inner_product(loads.begin(), loads.end(), loads.begin(), 0.0));
}

core::NicPlan patient_nic(core::LossRecovery recovery) {
    core::NicPlan nic = plain_nic();
    nic.recovery = recovery;
    nic.reorder = {1'000'000};
    return nic;
}

/// Two leaves with eight hosts each, four spines; host i sends to host 15 - i.
struct Crossed {
    struct Result {
        std::vector<std::tuple<std::uint32_t, MessageHandle, std::int64_t>> reports;
        std::vector<double> bytes;  ///< from leaf to leaf, by uplink of leaf 0
        std::uint64_t sent_again = 0;
        bool operator==(const Result&) const = default;
    };
    BalancingPlan balancing{};
    core::NicPlan nics = plain_nic();
    std::uint32_t queue_pairs = 1;
    core::Bytes message{200'000};
    Picoseconds pause{};  ///< between the messages of a flow
    core::Bytes queue{};  ///< at a port; 0: no limit

    [[nodiscard]] Result run() const {
        const core::BitRate rate{10 * giga};
        const Topology topology = leaf_spine(
            {.leaves = 2, .spines = 4, .hosts = {16, rate}, .between = rate, .delay = core::Duration{500}});
        core::SwitchPlan switches = plain_switch();
        switches.balancing = balancing;
        switches.egress_threshold = queue;
        PacketNetwork network({.topology = topology, .switches = switches, .nics = nics});
        std::vector<FlowIndex> flows;
        for (std::uint32_t host = 0; host < 8; ++host) {
            for (std::uint32_t number = 0; number < queue_pairs; ++number) {
                flows.push_back(network.connect({host}, {15 - host}, 0, {}, number));
            }
        }
        Result result;
        constexpr int messages = 4;
        for (int next = 0; next < messages; ++next) {
            for (const FlowIndex flow : flows) {
                network.post(pause * next, flow, static_cast<MessageHandle>(next), message);
            }
            const Picoseconds until = next + 1 < messages ? pause * (next + 1) : Picoseconds::never();
            while (network.next_time() != Picoseconds::never() && network.next_time() <= until) {
                for (const auto& report : network.advance(until)) {
                    result.reports.emplace_back(report.flow.value, report.message, report.at.count);
                }
            }
        }
        REQUIRE(result.reports.size() == 2 * messages * flows.size());
        for (std::uint32_t spine = 0; spine < 4; ++spine) {
            result.bytes.push_back(static_cast<double>(network.counts(2 * (16 + spine), 0).bytes));
        }
        for (const FlowIndex flow : flows) {
            result.sent_again += network.flow(flow).packets_sent_again();
        }
        return result;
    }
};

}  // namespace

TEST_CASE("ECMP's hash throws flows at ways like balls into bins") {
    constexpr std::uint64_t seeds = 4000;
    for (const auto& [pairs, queue_pairs, ways] :
         {std::tuple{16U, 1U, 8U}, {16U, 4U, 8U}, {2U, 16U, 4U}, {64U, 1U, 16U}}) {
        CAPTURE(pairs, queue_pairs, ways);
        const std::size_t flows = std::size_t{pairs} * queue_pairs;
        double sum_of_most = 0;
        double sum_of_squares = 0;
        std::vector<double> loads(ways);
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            std::fill(loads.begin(), loads.end(), 0);
            for (std::uint32_t pair = 0; pair < pairs; ++pair) {
                for (std::uint32_t number = 0; number < queue_pairs; ++number) {
                    // As a switch has it: with the identity of the receiver on top.
                    ++loads[hashed_way(path_of(seed, pair, 1000 + pair, number) + 1000 + pair, ways)];
                }
            }
            sum_of_most += *std::max_element(loads.begin(), loads.end());
            sum_of_squares += std::inner_product(loads.begin(), loads.end(), loads.begin(), 0.0);
        }
        CHECK(sum_of_most / seeds == Approx(expected_fullest(flows, ways)).epsilon(0.01));
        const auto balls = static_cast<double>(flows);
        CHECK(sum_of_squares / seeds == Approx(balls + balls * (balls - 1) / ways).epsilon(0.01));
    }
}

TEST_CASE("Ways in turn begin with ECMP's, and each round has all of them") {
    for (std::uint64_t ways = 2; ways < 6; ++ways) {
        for (std::uint64_t path = 0; path < 100; ++path) {
            CHECK(way_in_turn(path, 0, ways) == hashed_way(path, ways));
            for (std::uint64_t round = 0; round < 3; ++round) {
                std::vector<int> seen(ways);
                for (std::uint64_t turn = 0; turn < ways; ++turn) {
                    ++seen[way_in_turn(path, round * ways + turn, ways)];
                }
                CHECK(seen == std::vector<int>(ways, 1));
            }
        }
    }
}

TEST_CASE("Sprayed packets load all ways alike, and nothing is sent again where NICs wait for late ones") {
    const auto recovery = GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective);
    Crossed network{.balancing = {.kind = BalancingKind::spray}, .nics = patient_nic(recovery)};
    const Crossed::Result sprayed = network.run();
    CHECK(jain(sprayed.bytes) >= 0.999);
    CHECK(sprayed.sent_again == 0);
    network.balancing.kind = BalancingKind::adaptive;
    const Crossed::Result adaptive = network.run();
    CHECK(jain(adaptive.bytes) >= 0.999);
    CHECK(adaptive.sent_again == 0);
    network.balancing.kind = BalancingKind::ecmp;
    CHECK(jain(network.run().bytes) < 0.99);
    // A NIC that takes the first packet ahead for a loss.
    network.balancing.kind = BalancingKind::spray;
    network.nics.reorder = {};
    CHECK(network.run().sent_again > 0);
}

TEST_CASE("Flowlets with an endless gap are ECMP, and without a gap packet spraying") {
    const core::Bytes queue = GENERATE(core::Bytes{0}, core::Bytes{20'000});
    const auto recovery = GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective);
    Crossed network{.nics = patient_nic(recovery), .pause = microsecond * 300, .queue = queue};
    network.nics.ack_timeout = core::Duration::milliseconds(1);
    const Crossed::Result ecmp = network.run();
    network.balancing = {.kind = BalancingKind::flowlets, .gap = core::Duration::seconds(3600)};
    CHECK(network.run() == ecmp);
    network.balancing = {.kind = BalancingKind::spray};
    const Crossed::Result spray = network.run();
    network.balancing = {.kind = BalancingKind::flowlets, .gap = {}};
    CHECK(network.run() == spray);
    CHECK_FALSE(spray == ecmp);
}

TEST_CASE("A flow that pauses for the gap takes another way, and one that does not stays") {
    Crossed network{.balancing = {.kind = BalancingKind::flowlets, .gap = core::Duration::microseconds(50)},
                    .message = {10'000},
                    .pause = microsecond * 300};
    // Of each flow four flowlets, each with a way of its own.
    CHECK(network.run().bytes == std::vector<double>(4, 8 * 10'000));
    network.balancing.gap = core::Duration::microseconds(500);
    network.queue_pairs = 1;
    const Crossed::Result stays = network.run();
    network.balancing.kind = BalancingKind::ecmp;
    CHECK(network.run() == stays);
}

TEST_CASE("Queue pairs of two hosts have ways of their own, unless switches do not see them") {
    Crossed network{.queue_pairs = 16, .message = {5000}};
    const std::vector<double> apart = network.run().bytes;
    CHECK(*std::min_element(apart.begin(), apart.end()) > 0);
    network.balancing.hashes_queue_pairs = false;
    const std::vector<double> together = network.run().bytes;
    network.queue_pairs = 1;
    const std::vector<double> single = network.run().bytes;
    for (std::size_t link = 0; link < single.size(); ++link) {
        CHECK(together[link] == 16 * single[link]);
    }
    CHECK(apart != together);
}

TEST_CASE("Adaptive: two cables are loaded in proportion to their speeds") {
    Topology topology;
    for (int host = 0; host < 6; ++host) {
        topology.add_host();
    }
    const NodeIndex near = topology.add_switch();
    const NodeIndex far = topology.add_switch();
    for (std::uint32_t host = 0; host < 6; ++host) {
        topology.connect({host}, host < 3 ? near : far, {5 * giga}, core::Duration{500});
    }
    const LinkIndex fast = topology.connect(near, far, {10 * giga}, core::Duration{500});
    const LinkIndex slow = topology.connect(near, far, {5 * giga}, core::Duration{500});
    core::SwitchPlan switches = plain_switch();
    switches.balancing = {.kind = BalancingKind::adaptive};
    PacketNetwork network(
        {.topology = topology, .switches = switches, .nics = patient_nic(core::LossRecovery::selective)});
    for (std::uint32_t host = 0; host < 3; ++host) {
        network.post({}, network.connect({host}, {host + 3}, 0), 0, {3'000'000});
    }
    while (network.next_time() != Picoseconds::never()) {
        network.advance(Picoseconds::never());
    }
    const auto sent = [&](LinkIndex link) { return static_cast<double>(network.counts(link, 0).bytes); };
    CHECK(sent(fast) + sent(slow) == 9'000'000);
    CHECK(sent(fast) / sent(slow) == Approx(2).epsilon(0.02));
}
