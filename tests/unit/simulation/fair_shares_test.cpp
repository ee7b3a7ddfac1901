#include "simulation/fair_shares.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fluid_network.hpp"

using weir::core::Bytes;
using weir::core::Instant;
using weir::simulation::FairShares;
using weir::simulation::FlowId;
using namespace weir::simulation::test;

namespace {

/// For amounts that fit into 64 bits.
std::int64_t moved_at(const FairShares& network, FlowId flow, std::int64_t ns) {
    return static_cast<std::int64_t>(network.moved(flow, Instant{ns}));
}

}  // namespace

TEST_CASE("a flow alone has the rate of the smaller of its links") {
    const std::int64_t up = GENERATE(std::int64_t{1}, 1000, 2000, 100000000000);
    const std::int64_t down = GENERATE(std::int64_t{1}, 1000, 2000, 25000000000);
    FairShares network = fluid_network({up, down});
    const FlowId flow = begin_flow(network, 0, 1);
    network.share_out({});
    CHECK(flow_rate(network, flow) == std::min(up, down));
}

TEST_CASE("flows that share one link have equal parts of it") {
    const std::uint32_t flows = GENERATE(1U, 2U, 3U, 7U, 60U);
    const bool shares_up = GENERATE(true, false);
    CAPTURE(flows, shares_up);
    FairShares network = fluid_network(std::vector<std::int64_t>(flows + 1, 1000));
    std::vector<FlowId> ids;
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
        ids.push_back(shares_up ? begin_flow(network, 0, flow + 1) : begin_flow(network, flow + 1, 0));
    }
    network.share_out({});
    for (const FlowId flow : ids) {
        CHECK(flow_rate(network, flow) == 1000 / flows);
    }
}

TEST_CASE("a flow that is held back elsewhere leaves its part to the others") {
    // Bertsekas and Gallager's argument in small: links 0, 1 up and 2, 3 down. Link 2 is the first to be
    // full.
    FairShares network = fluid_network({10000, 10000, 4000, 10000});
    const FlowId a = begin_flow(network, 0, 2);
    const FlowId b = begin_flow(network, 1, 2);
    const FlowId c = begin_flow(network, 0, 3);
    network.share_out({});
    CHECK(flow_rate(network, a) == 2000);
    CHECK(flow_rate(network, b) == 2000);
    CHECK(flow_rate(network, c) == 8000);

    // Now link 3 is the second to be full, at less than the up links could give.
    const FlowId d = begin_flow(network, 1, 3);
    network.share_out({});
    CHECK(flow_rate(network, a) == 2000);
    CHECK(flow_rate(network, b) == 2000);
    CHECK(flow_rate(network, c) == 5000);
    CHECK(flow_rate(network, d) == 5000);

    // Without b there is more for a, and link 0 is full too.
    network.end({}, b);
    network.share_out({});
    CHECK(flow_rate(network, a) == 4000);
    CHECK(flow_rate(network, c) == 5000);
    CHECK(flow_rate(network, d) == 5000);
    network.set_capacity({}, {3}, {20000});
    network.share_out({});
    CHECK(flow_rate(network, a) == 4000);
    CHECK(flow_rate(network, c) == 6000);
    CHECK(flow_rate(network, d) == 10000);
    CHECK(network.capacity({3}) == BitRate{20000});
}

TEST_CASE("a change has effects along a chain of full links") {
    // up 0 - down 3 - up 1 - down 4 - up 2: each link holds back what the one before leaves it.
    FairShares network = fluid_network({900, 2000, 10000, 1000, 3000});
    const FlowId a = begin_flow(network, 0, 3);
    const FlowId b = begin_flow(network, 1, 3);
    const FlowId c = begin_flow(network, 1, 4);
    const FlowId d = begin_flow(network, 2, 4);
    network.share_out({});
    CHECK(flow_rate(network, a) == 500);
    CHECK(flow_rate(network, b) == 500);
    CHECK(flow_rate(network, c) == 1500);
    CHECK(flow_rate(network, d) == 1500);
    network.set_capacity({}, {0}, {100});
    network.share_out({});
    CHECK(flow_rate(network, a) == 100);
    CHECK(flow_rate(network, b) == 900);
    CHECK(flow_rate(network, c) == 1100);
    CHECK(flow_rate(network, d) == 1900);
}

TEST_CASE("nothing moves over a link without capacity, and goes on when it is back") {
    FairShares network = fluid_network({1000, 1000, 1000});
    // 1000 bytes: 8 s at 1000 b/s.
    const FlowId stopped = begin_flow(network, 0, 1, Bytes{1000});
    const FlowId other = begin_flow(network, 0, 2);
    network.share_out({});
    CHECK(flow_rate(network, stopped) == 500);
    CHECK(network.next_end().ns == 16000000000);

    network.set_capacity(Instant{1000000000}, {1}, {0});
    network.share_out(Instant{1000000000});
    CHECK(flow_rate(network, stopped) == 0);
    CHECK(flow_rate(network, other) == 1000);
    CHECK(moved_at(network, stopped, 1000000000) == 500000000000);
    CHECK(moved_at(network, stopped, 3000000000) == 500000000000);
    CHECK(network.next_to_end() == other);

    // One that begins meanwhile does not move either and takes nothing from others.
    const FlowId late = begin_flow(network, 0, 1, Bytes{1000}, Instant{2000000000});
    network.share_out(Instant{2000000000});
    CHECK(flow_rate(network, late) == 0);
    CHECK(flow_rate(network, other) == 1000);
    CHECK(network.next_to_end() == other);
    network.end(Instant{2500000000}, late);
    network.end(Instant{2500000000}, other);
    network.share_out(Instant{2500000000});
    CHECK(network.next_end() == Instant::never());

    network.set_capacity(Instant{3000000000}, {1}, {750});
    network.share_out(Instant{3000000000});
    CHECK(flow_rate(network, stopped) == 750);
    CHECK(network.next_to_end() == stopped);
    CHECK(network.next_end().ns == 3000000000 + 10000000000);
    CHECK(moved_at(network, stopped, 13000000000) == 8000000000000);
}

TEST_CASE("a flow on two links without capacity moves when both are back") {
    FairShares network = fluid_network({0, 0});
    const FlowId flow = begin_flow(network, 0, 1);
    network.share_out({});
    CHECK(flow_rate(network, flow) == 0);
    CHECK(network.next_end() == Instant::never());
    network.set_capacity({}, {0}, {10});
    network.share_out({});
    CHECK(flow_rate(network, flow) == 0);
    network.set_capacity({}, {1}, {20});
    network.share_out({});
    CHECK(flow_rate(network, flow) == 10);
}

TEST_CASE("a flow ends in the first nanosecond in which all of it has moved") {
    const std::int64_t rate =
        GENERATE(std::int64_t{1}, 7, 999999999, 1000000000, 3000000000, 85800000000, 100000000000);
    const std::int64_t bytes = GENERATE(std::int64_t{1}, 3, 1000, 32768, 1000000007);
    const std::int64_t began = GENERATE(std::int64_t{-5000000000}, 0, 12345);
    CAPTURE(rate, bytes, began);
    FairShares network = fluid_network({rate, rate});
    const FlowId flow = begin_flow(network, 0, 1, Bytes{bytes}, Instant{began});
    network.share_out(Instant{began});
    const Instant end = network.next_end();
    CHECK(end == Instant{began} + weir::core::time_for({rate}, Bytes{bytes}));
    CHECK((network.moved(flow, end) >= bit_nanoseconds(Bytes{bytes})));
    CHECK((network.moved(flow, Instant{end.ns - 1}) < bit_nanoseconds(Bytes{bytes})));
}

TEST_CASE("what has moved is exact over changes of the rate") {
    FairShares network = fluid_network({1000000007, 333333333, 999999999});
    const FlowId flow = begin_flow(network, 0, 1, Bytes{100000000}, Instant{17});
    network.share_out(Instant{17});
    CHECK(moved_at(network, flow, 17) == 0);
    CHECK(moved_at(network, flow, 18) == 333333333);
    CHECK(moved_at(network, flow, 1017) == 333333333000);

    network.set_capacity(Instant{1018}, {1}, {900000001});
    const FlowId other = begin_flow(network, 0, 2, Bytes{1}, Instant{1018});
    network.share_out(Instant{1018});
    const std::int64_t until_then = 333333333LL * 1001;
    CHECK(flow_rate(network, flow) == 500000003);
    CHECK(moved_at(network, flow, 1018) == until_then);
    CHECK(moved_at(network, flow, 1021) == until_then + 3 * 500000003LL);
    // 8 bits at 0.5 Gb/s and 3 b/s: a little less than 16 ns.
    CHECK(network.next_to_end() == other);
    CHECK(network.next_end().ns == 1018 + 16);

    network.end(Instant{1034}, other);
    network.share_out(Instant{1034});
    const std::int64_t rest = 800000000LL * 1000000000 - until_then - 16 * 500000003LL;
    CHECK(flow_rate(network, flow) == 900000001);
    CHECK(network.next_end().ns == 1034 + (rest + 900000000) / 900000001);
}

TEST_CASE("of flows that end together the one with the lowest number is first, and none is left out") {
    FairShares network = fluid_network({3000, 1000, 1000, 1000});
    std::vector<FlowId> flows;
    for (std::uint32_t down = 1; down <= 3; ++down) {
        flows.push_back(begin_flow(network, 0, down, Bytes{1000}));
    }
    network.share_out({});
    const Instant end{8000000000};
    std::sort(flows.begin(), flows.end());
    for (const FlowId flow : flows) {
        CHECK(network.next_end() == end);
        CHECK(network.next_to_end() == flow);
        network.end(end, flow);
        // Others get more; what they have moved does not become less by that, nor does their end move on.
        network.set_capacity(end, {1 + flow.value % 3}, {2000});
        network.share_out(end);
    }
    CHECK(network.next_end() == Instant::never());
}

TEST_CASE("a flow may be taken out before its end and its number used again for a new one") {
    FairShares network = fluid_network({1000, 1000, 1000}, 2);
    const FlowId first = begin_flow(network, 0, 1, Bytes{1000});
    const FlowId second = begin_flow(network, 0, 2, Bytes{1000});
    network.share_out({});
    network.end(Instant{1000000000}, first);
    const FlowId third = begin_flow(network, 0, 1, Bytes{10}, Instant{1000000000});
    CHECK(third == first);
    network.share_out(Instant{1000000000});
    CHECK(moved_at(network, third, 1000000000) == 0);
    CHECK(flow_rate(network, third) == 500);
    CHECK(flow_rate(network, second) == 500);
    CHECK(moved_at(network, second, 2000000000) == 1000000000000);
    CHECK(network.next_to_end() == third);
    CHECK(network.next_end().ns == 1000000000 + 160000000);
}

TEST_CASE("a flow that ends before the network is settled was never there for the others") {
    FairShares network = fluid_network({1000, 1000, 1000});
    const FlowId stays = begin_flow(network, 0, 1);
    network.share_out({});
    const FlowId goes = begin_flow(network, 0, 2);
    network.end({}, goes);
    network.share_out({});
    CHECK(flow_rate(network, stays) == 1000);
}

TEST_CASE("a link that its flows cannot fill couples none of them, until they can") {
    // Up links 0, 1, 2 of 1000 b/s into link 3, which carries just as much as all three.
    FairShares network = fluid_network({1000, 1000, 1000, 3000, 1000});
    std::vector<FlowId> flows;
    for (std::uint32_t up = 0; up < 3; ++up) {
        flows.push_back(begin_flow(network, up, 3));
    }
    network.share_out({});

    // Concerns what begins and what shares link 0 with it, but not the flows on links 1 and 2.
    const FlowId other = begin_flow(network, 0, 4);
    network.share_out({});
    CHECK(flow_rate(network, flows[0]) == 500);
    CHECK(flow_rate(network, flows[1]) == 1000);

    network.set_capacity({}, {3}, {1500});
    network.share_out({});
    CHECK(flow_rate(network, flows[0]) == 500);
    CHECK(flow_rate(network, flows[1]) == 500);
    CHECK(flow_rate(network, other) == 500);

    // Now what changes on link 1 concerns everybody.
    network.set_capacity({}, {1}, {100});
    network.share_out({});
    CHECK(flow_rate(network, flows[0]) == 500);
    CHECK(flow_rate(network, flows[1]) == 100);
    CHECK(flow_rate(network, flows[2]) == 900);
    CHECK(flow_rate(network, other) == 500);
}

TEST_CASE("an end beyond the range of the clock is never, and not in the past") {
    FairShares network({{1}, {1}}, 4);
    network.begin(Instant{}, {0}, {1}, Bytes{2000000000});
    network.share_out(Instant{});
    CHECK(network.next_end().ns > std::int64_t{9000000000000000000});
}

TEST_CASE("a flow that has all moved ends, also if its link is taken away in that nanosecond") {
    FairShares network({{100}, {2000000000}}, 4);
    network.begin(Instant{}, {0}, {1}, Bytes{100});
    network.share_out(Instant{});
    const Instant end = network.next_end();
    network.set_capacity(end, {0}, {0});
    network.share_out(end);
    CHECK(network.next_end() == end);
}

TEST_CASE("a link that cannot fill takes no part in a tie of rounded shares") {
    FairShares network({{7}, {3}, {4}}, 8);
    const auto first = network.begin(Instant{}, {1}, {0}, Bytes{100});
    const auto second = network.begin(Instant{}, {2}, {0}, Bytes{100});
    network.share_out(Instant{});
    CHECK(network.rate(first).bits_per_second == 3);
    CHECK(network.rate(second).bits_per_second == 4);
}

TEST_CASE("each change of a watched rate is reported once") {
    FairShares network = fluid_network({1000, 600, 1000, 1000});
    std::vector<std::pair<std::uint32_t, std::int64_t>> heard;
    network.watch_rates(
        [&](FlowId flow) { heard.emplace_back(flow.value, network.rate(flow).bits_per_second); });
    const FlowId one = begin_flow(network, 0, 1);
    network.share_out(Instant{0});
    CHECK(heard == std::vector{std::pair(one.value, std::int64_t{0})});
    heard.clear();
    const FlowId two = begin_flow(network, 2, 1);
    const FlowId apart = begin_flow(network, 0, 3);
    network.share_out(Instant{10});
    std::sort(heard.begin(), heard.end());
    CHECK(heard == std::vector{std::pair(one.value, std::int64_t{600}), std::pair(two.value, std::int64_t{0}),
                               std::pair(apart.value, std::int64_t{0})});
    heard.clear();
    network.share_out(Instant{20});
    CHECK(heard.empty());
}
