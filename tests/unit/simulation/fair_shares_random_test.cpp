// Random changes of random networks: rates against a solution from nothing, progress and ends against sums.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"
#include "fluid_network.hpp"
#include "simulation/fair_shares.hpp"

using weir::core::Bytes;
using weir::core::Instant;
using weir::core::Random;
using weir::simulation::bit_nanoseconds;
using weir::simulation::BitNanoseconds;
using weir::simulation::FairShares;
using weir::simulation::FlowId;
using namespace weir::simulation::test;

namespace {

struct ModelFlow {
    FlowId id;
    std::uint32_t up = 0;
    std::uint32_t down = 0;
    BitNanoseconds total = 0;
    BitNanoseconds moved = 0;
};

/// Max-min fair rates from nothing, with the same integers: of links with an equal share the first first, and
/// a link that the other ends of its flows cannot fill limits none.
std::vector<std::int64_t> reference_rates(const std::vector<std::int64_t>& capacities,
                                          const std::vector<ModelFlow>& flows) {
    std::vector<std::int64_t> left = capacities;
    std::vector<std::int64_t> unfixed(capacities.size(), 0);
    std::vector<BitNanoseconds> offered(capacities.size(), 0);
    for (const ModelFlow& flow : flows) {
        ++unfixed[flow.up];
        ++unfixed[flow.down];
        offered[flow.up] += capacities[flow.down];
        offered[flow.down] += capacities[flow.up];
    }
    std::vector<std::optional<std::int64_t>> rates(flows.size());
    for (;;) {
        std::optional<std::size_t> least;
        for (std::size_t link = 0; link < capacities.size(); ++link) {
            if (unfixed[link] > 0 && offered[link] > capacities[link] &&
                (!least || left[link] / unfixed[link] < left[*least] / unfixed[*least])) {
                least = link;
            }
        }
        if (!least) {
            break;
        }
        const std::int64_t share = left[*least] / unfixed[*least];
        for (std::size_t flow = 0; flow < flows.size(); ++flow) {
            if (!rates[flow] && (flows[flow].up == *least || flows[flow].down == *least)) {
                rates[flow] = share;
                for (const std::uint32_t link : {flows[flow].up, flows[flow].down}) {
                    left[link] -= share;
                    --unfixed[link];
                }
            }
        }
    }
    std::vector<std::int64_t> result;
    result.reserve(rates.size());
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        result.push_back(
            rates[flow].value_or(std::min(capacities[flows[flow].up], capacities[flows[flow].down])));
    }
    return result;
}

/// Checks the definition: no link carries more than it can, and every flow has a bottleneck, a link that is
/// full and on which no other flow has more. `slack`: b/s that the rounding of rates may leave unused on a
/// link, besides one for each of its flows. Says what is wrong; empty: nothing.
std::string unfairness(const FairShares& network, const std::vector<std::int64_t>& capacities,
                       const std::vector<ModelFlow>& flows, std::int64_t slack) {
    std::vector<std::int64_t> load(capacities.size(), 0);
    std::vector<std::int64_t> most(capacities.size(), 0);
    std::vector<std::int64_t> count(capacities.size(), 0);
    for (const ModelFlow& flow : flows) {
        const std::int64_t rate = flow_rate(network, flow.id);
        for (const std::uint32_t link : {flow.up, flow.down}) {
            load[link] += rate;
            most[link] = std::max(most[link], rate);
            ++count[link];
        }
    }
    for (std::uint32_t link = 0; link < capacities.size(); ++link) {
        if (load[link] > capacities[link]) {
            return "link " + std::to_string(link) + " carries " + std::to_string(load[link]) + " of " +
                   std::to_string(capacities[link]);
        }
    }
    for (const ModelFlow& flow : flows) {
        const std::int64_t rate = flow_rate(network, flow.id);
        const auto is_bottleneck = [&](std::uint32_t link) {
            return capacities[link] - load[link] < count[link] + slack && most[link] - rate <= slack;
        };
        if (!is_bottleneck(flow.up) && !is_bottleneck(flow.down)) {
            return "flow " + std::to_string(flow.id.value) + " at " + std::to_string(rate) +
                   " b/s has no bottleneck; up carries " + std::to_string(load[flow.up]) + " of " +
                   std::to_string(capacities[flow.up]) + ", down " + std::to_string(load[flow.down]) +
                   " of " + std::to_string(capacities[flow.down]);
        }
    }
    return "";
}

/// As real links have it, often equal ones, rarely one that does not work.
std::int64_t random_capacity(Random& random) {
    switch (random.below(8)) {
        case 0:
            return random.below(3) == 0 ? 0 : 1000000000;
        case 1:
        case 2:
            return 10000000000;
        case 3:
        case 4:
            return 25000000000;
        case 5:
            return 100000000000;
        default:
            return static_cast<std::int64_t>(random.below(100000000000));
    }
}

}  // namespace

TEST_CASE("rates of random networks are max-min fair") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        Random random(seed, 0);
        const auto ups = static_cast<std::uint32_t>(1 + random.below(6));
        const auto downs = static_cast<std::uint32_t>(1 + random.below(9));
        // Small ones too, where rounding is a large part.
        const bool small = random.below(2) == 0;
        std::vector<std::int64_t> capacities(ups + downs);
        for (std::int64_t& capacity : capacities) {
            capacity = small ? static_cast<std::int64_t>(random.below(50)) : random_capacity(random);
        }
        FairShares network = fluid_network(capacities);
        std::vector<ModelFlow> flows(random.below(60));
        for (ModelFlow& flow : flows) {
            flow.up = static_cast<std::uint32_t>(random.below(ups));
            flow.down = static_cast<std::uint32_t>(ups + random.below(downs));
            flow.id = begin_flow(network, flow.up, flow.down);
        }
        network.share_out({});
        REQUIRE(unfairness(network, capacities, flows, 0) == "");
        const std::vector<std::int64_t> expected = reference_rates(capacities, flows);
        for (std::size_t flow = 0; flow < flows.size(); ++flow) {
            REQUIRE(flow_rate(network, flows[flow].id) == expected[flow]);
        }
    }
}

TEST_CASE("rates, progress and ends are right after thousands of random changes") {
    const std::uint64_t seed = GENERATE(std::uint64_t{1}, 2, 3, 4, 5, 6);
    // The last two as in event building: each down link has flows from many up links, which it limits.
    const bool builds = seed > 4;
    const std::uint32_t ups = builds ? 30 : 6;
    const std::uint32_t downs = builds ? 5 : 9;
    const std::uint32_t limit = builds ? 90 : 40;
    Random random(seed, 0);
    std::vector<std::int64_t> capacities(ups + downs);
    for (std::int64_t& capacity : capacities) {
        capacity = random_capacity(random);
    }
    FairShares network = fluid_network(capacities, limit);
    std::vector<ModelFlow> flows;
    Instant now{};
    int ended = 0;
    for (int step = 0; step < 4000; ++step) {
        CAPTURE(seed, step, now.ns);
        // Sometimes few flows, sometimes as many as there may be.
        const std::uint64_t wanted = 1 + (step / 500 * 13) % limit;
        const std::uint64_t changes = 1 + random.below(3);
        for (std::uint64_t change = 0; change < changes; ++change) {
            if (random.below(builds ? 100 : 10) == 0) {
                const auto link = static_cast<std::uint32_t>(random.below(ups + downs));
                capacities[link] = random_capacity(random);
                network.set_capacity(now, {link}, {capacities[link]});
            } else if (flows.size() < limit &&
                       (flows.empty() || random.below(100) < (flows.size() < wanted ? 70U : 30U))) {
                ModelFlow flow;
                flow.up = static_cast<std::uint32_t>(random.below(ups));
                flow.down = static_cast<std::uint32_t>(ups + random.below(downs));
                const Bytes bytes{static_cast<std::int64_t>(1 + random.below(2000000))};
                flow.total = bit_nanoseconds(bytes);
                flow.id = network.begin(now, {flow.up}, {flow.down}, bytes);
                flows.push_back(flow);
            } else if (!flows.empty()) {
                const auto place = static_cast<std::ptrdiff_t>(random.below(flows.size()));
                network.end(now, flows[static_cast<std::size_t>(place)].id);
                flows.erase(flows.begin() + place);
            }
        }
        network.share_out(now);

        REQUIRE(unfairness(network, capacities, flows, 0) == "");
        const std::vector<std::int64_t> expected = reference_rates(capacities, flows);
        for (std::size_t flow = 0; flow < flows.size(); ++flow) {
            REQUIRE(flow_rate(network, flows[flow].id) == expected[flow]);
        }

        // Ends come one by one until time can move on, as in a simulation.
        for (;;) {
            Instant end = Instant::never();
            FlowId first{};
            for (const ModelFlow& flow : flows) {
                const std::int64_t rate = flow_rate(network, flow.id);
                if (rate == 0) {
                    continue;
                }
                const BitNanoseconds rest = std::max<BitNanoseconds>(flow.total - flow.moved, 0);
                const Instant at{now.ns + static_cast<std::int64_t>((rest + rate - 1) / rate)};
                if (at < end || (at == end && flow.id < first)) {
                    end = at;
                    first = flow.id;
                }
            }
            REQUIRE(network.next_end().ns == end.ns);
            if (end != Instant::never()) {
                REQUIRE(network.next_to_end() == first);
            }
            const Instant step_end{now.ns + static_cast<std::int64_t>(random.below(50000))};
            const Instant next = std::min(end, step_end);
            for (ModelFlow& flow : flows) {
                flow.moved += BitNanoseconds{flow_rate(network, flow.id)} * (next.ns - now.ns);
            }
            now = next;
            if (next != end) {
                break;
            }
            network.end(now, first);
            ++ended;
            flows.erase(std::find_if(flows.begin(), flows.end(),
                                     [&](const ModelFlow& flow) { return flow.id == first; }));
            network.share_out(now);
        }
        const bool all_moved = std::all_of(flows.begin(), flows.end(), [&](const ModelFlow& flow) {
            return network.moved(flow.id, now) == flow.moved && flow.moved < flow.total;
        });
        REQUIRE(all_moved);
    }
    CAPTURE(seed);
    CHECK(ended > 500);
}

TEST_CASE("a hub gives its flows what solving everything anew gives them") {
    const std::uint64_t seed = GENERATE(std::uint64_t{1}, 2, 3, 4, 5, 6);
    constexpr std::uint32_t limit = 40;
    constexpr std::uint32_t downs = 12;
    Random random(seed, 0);
    // Up links 0 and 1; nearly all flows are on the first. Small capacities make ties, of shares and of ends.
    const bool small = seed % 2 == 0;
    std::vector<std::int64_t> capacities(2 + downs, small ? 700 : 100'000'000);
    capacities[0] = small ? 977 : 1'000'000'007;
    FairShares network = fluid_network(capacities, limit);
    std::vector<ModelFlow> flows;
    std::vector<std::uint32_t> watched;
    network.watch_rates([&](FlowId flow) { watched.push_back(flow.value); });
    Instant now{};
    std::uint64_t ended = 0;
    for (int step = 0; step < 6000; ++step) {
        CAPTURE(seed, step, now.ns);
        if (random.below(400) == 0) {
            const auto link = static_cast<std::uint32_t>(random.below(capacities.size()));
            capacities[link] = random.below(4) == 0 ? 0 : capacities[link] / 2 + 50;
            network.set_capacity(now, {link}, {capacities[link]});
        } else if (random.below(8) == 0 && !flows.empty()) {
            const auto place = static_cast<std::ptrdiff_t>(random.below(flows.size()));
            network.end(now, flows[static_cast<std::size_t>(place)].id);
            flows.erase(flows.begin() + place);
        } else if (flows.size() < limit) {
            ModelFlow flow;
            flow.up = random.below(200) == 0 ? 1 : 0;
            flow.down = static_cast<std::uint32_t>(2 + random.below(downs));
            const Bytes bytes{small ? static_cast<std::int64_t>(1 + random.below(3)) : 32000};
            flow.total = bit_nanoseconds(bytes);
            flow.id = network.begin(now, {flow.up}, {flow.down}, bytes);
            flows.push_back(flow);
        }
        std::vector<std::int64_t> before;
        before.reserve(flows.size());
        for (const ModelFlow& flow : flows) {
            before.push_back(flow_rate(network, flow.id));
        }
        network.watch_again();
        watched.clear();
        network.share_out(now);
        const std::vector<std::int64_t> expected = reference_rates(capacities, flows);
        Instant end = Instant::never();
        FlowId first{};
        for (std::size_t index = 0; index < flows.size(); ++index) {
            const ModelFlow& flow = flows[index];
            const std::int64_t rate = flow_rate(network, flow.id);
            REQUIRE(rate == expected[index]);
            REQUIRE(network.moved(flow.id, now) == flow.moved);
            const bool heard = std::find(watched.begin(), watched.end(), flow.id.value) != watched.end();
            REQUIRE((heard || rate == before[index]));
            const BitNanoseconds rest = std::max<BitNanoseconds>(flow.total - flow.moved, 0);
            if (rate > 0 || rest == 0) {
                const Instant at{now.ns +
                                 (rest == 0 ? 0 : static_cast<std::int64_t>((rest + rate - 1) / rate))};
                if (at < end || (at == end && flow.id < first)) {
                    end = at;
                    first = flow.id;
                }
            }
        }
        REQUIRE(network.next_end() == end);
        REQUIRE((end == Instant::never() || network.next_to_end() == first));
        const Instant next = std::min(end, now + weir::core::Duration{static_cast<std::int64_t>(
                                                     random.below(small ? 10'000'000 : 600'000))});
        for (ModelFlow& flow : flows) {
            flow.moved += BitNanoseconds{flow_rate(network, flow.id)} * (next.ns - now.ns);
        }
        now = next;
        if (now == end) {
            ++ended;
            network.end(now, first);
            flows.erase(std::find_if(flows.begin(), flows.end(),
                                     [&](const ModelFlow& flow) { return flow.id == first; }));
        }
    }
    CHECK(ended > 100);
}
