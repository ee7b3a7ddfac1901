// The fluid network against SimGrid (Casanova, Giersch, Legrand, Quinson, Suter, "Versatile, scalable, and
// accurate simulation of distributed applications and platforms", 2014), which computes the same max-min fair
// sharing in doubles, with its own solver: the unit tests' reference was written by the same hand as what it
// tests, this one was not.
//
// A few dozen flow sets: producers with an up link each, consumers with a down link each, two classes of link
// speed, and flows between random pairs, several per pair among them, that all begin at 0 and run until they
// are through. So each set is solved again at every end, and what is compared, the mean throughput of each
// flow (its bytes / the time of its end), depends on all the solutions before. No flow may differ by more
// than 1 %. SimGrid has no schedulers, slots or chunks: this shows nothing of weir's protocol, only about
// how the network is shared.
//
// The program also checks itself: with one side's links changed by 3 %, all of them or only the slow or fast
// class, the comparison must fail.
//
//   simgrid_test [SimGrid's options...]     e.g. --cfg=network/model:LV08, to see what a model changes
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>

#include "core/assertion.hpp"
#include "core/random.hpp"
#include "simulation/fair_shares.hpp"

namespace s4u = simgrid::s4u;

using weir::core::BitRate;
using weir::core::Bytes;
using weir::core::Instant;
using weir::core::Random;
using weir::simulation::FairShares;
using weir::simulation::FlowId;
using weir::simulation::LinkId;

namespace {

constexpr double tolerance = 0.01;
constexpr std::uint64_t random_sets = 30;

struct Flow {
    std::uint32_t producer = 0;
    std::uint32_t consumer = 0;
    Bytes bytes;
};

struct FlowSet {
    std::uint64_t seed = 0;
    BitRate fast{100'000'000'000};
    BitRate slow{25'000'000'000};
    std::vector<BitRate> up{};    ///< by producer
    std::vector<BitRate> down{};  ///< by consumer
    std::vector<Flow> flows{};
};

FlowSet draw(std::uint64_t seed, std::uint32_t producers, std::uint32_t consumers) {
    Random random(seed, 0);
    FlowSet set{.seed = seed};
    // A third of the sets keep the speeds of which one is a multiple of the other, so that many shares are
    // equal. The others have odd ones.
    if (random.below(3) != 0) {
        set.slow = {1'000'000'000 * static_cast<std::int64_t>(7 + random.below(83))};
    }
    const double slow_part = random.uniform();
    const auto draw_links = [&](std::uint32_t count) {
        std::vector<BitRate> links;
        for (std::uint32_t link = 0; link < count; ++link) {
            links.push_back(random.uniform() < slow_part ? set.slow : set.fast);
        }
        return links;
    };
    set.up = draw_links(producers);
    set.down = draw_links(consumers);

    // From a few flows on a big network, where most links cannot fill, to several per pair.
    const std::uint64_t count = 1 + random.below(2 * std::uint64_t{producers} * consumers);
    const bool equal_sizes = random.below(4) == 0;
    while (set.flows.size() < count) {
        Flow flow{static_cast<std::uint32_t>(random.below(producers)),
                  static_cast<std::uint32_t>(random.below(consumers)), Bytes{400'000'000}};
        if (!equal_sizes) {
            // 20 MB to 2 GB, each order of magnitude as likely.
            flow.bytes.count = static_cast<std::int64_t>(2e7 * std::pow(100.0, random.uniform()));
        }
        const std::uint64_t in_parallel = random.below(8) == 0 ? 2 + random.below(3) : 1;
        set.flows.insert(set.flows.end(), in_parallel, flow);
    }
    return set;
}

std::vector<FlowSet> draw_all() {
    constexpr std::pair<std::uint32_t, std::uint32_t> fixed[] = {
        {1, 1}, {1, 6}, {6, 1}, {4, 6}, {4, 6}, {14, 72}, {18, 14}, {18, 14}, {20, 30}};
    std::vector<FlowSet> sets;
    std::uint64_t seed = 1;
    for (const auto& [producers, consumers] : fixed) {
        sets.push_back(draw(seed++, producers, consumers));
    }
    for (std::uint64_t i = 0; i < random_sets; ++i) {
        Random random(seed, 1);
        const auto producers = static_cast<std::uint32_t>(1 + random.below(20));
        const auto consumers = static_cast<std::uint32_t>(1 + random.below(30));
        sets.push_back(draw(seed++, producers, consumers));
    }
    return sets;
}

/// By set and flow, the time in seconds at which the flow was through.
using Ends = std::vector<std::vector<double>>;

std::vector<double> weir_ends(const FlowSet& set) {
    std::vector<BitRate> capacities = set.up;
    capacities.insert(capacities.end(), set.down.begin(), set.down.end());
    FairShares network(std::move(capacities), static_cast<std::uint32_t>(set.flows.size()));
    std::vector<std::size_t> place_of(set.flows.size());
    for (std::size_t i = 0; i < set.flows.size(); ++i) {
        const Flow& flow = set.flows[i];
        const LinkId down{static_cast<std::uint32_t>(set.up.size()) + flow.consumer};
        place_of[network.begin(Instant{}, {flow.producer}, down, flow.bytes).value] = i;
    }
    std::vector<double> ends(set.flows.size());
    network.share_out(Instant{});
    while (network.next_end() < Instant::never()) {
        const Instant now = network.next_end();
        const FlowId flow = network.next_to_end();
        ends[place_of[flow.value]] = (now - Instant{}).in_seconds();
        network.end(now, flow);
        network.share_out(now);
    }
    return ends;
}

Ends weir_ends(const std::vector<FlowSet>& sets) {
    Ends ends;
    for (const FlowSet& set : sets) {
        ends.push_back(weir_ends(set));
    }
    return ends;
}

/// All sets in one simulation, each with hosts and links of its own, as a process can have only one.
Ends simgrid_ends(const std::vector<FlowSet>& sets, int argc, char** argv) {
    std::vector<std::string> arguments = {
        argv[0],
        "--log=xbt_cfg.thresh:warning",
        // Max-min sharing of the whole links: LV08, the default, takes 3 % off each.
        "--cfg=network/model:CM02",
        // No acknowledgements, which by default take 5 % of each flow's rate on the way back.
        "--cfg=network/crosstraffic:0",
        // No limit by TCP's window. Without latency there should be none in any case.
        "--cfg=network/TCP-gamma:0",
        // Seconds. By default times are exact to 10 microseconds, and the shortest flows take 2 ms: 0.2 %
        // off.
        "--cfg=surf/precision:1e-9",
    };
    arguments.insert(arguments.end(), argv + 1, argv + argc);
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    int count = static_cast<int>(arguments.size());
    s4u::Engine engine(&count, pointers.data());

    // A star: what a host sends goes over its own links only, then over the receiver's. SimGrid needs bytes
    // per second.
    s4u::NetZone* zone = s4u::create_star_zone("zone");
    const auto add_host = [zone](const std::string& name, BitRate rate, bool sends) {
        s4u::Link* link = zone->create_link(name, static_cast<double>(rate.bits_per_second) / 8);
        link->set_latency(0.0)->set_sharing_policy(s4u::Link::SharingPolicy::SHARED)->seal();
        s4u::Host* host = zone->create_host(name, 1e9);
        host->seal();
        simgrid::kernel::routing::NetPoint* point = host->get_netpoint();
        zone->add_route(sends ? point : nullptr, sends ? nullptr : point, nullptr, nullptr,
                        {s4u::LinkInRoute(link)}, false);
        return host;
    };
    std::vector<std::vector<std::pair<s4u::Host*, s4u::Host*>>> pairs;
    for (const FlowSet& set : sets) {
        const std::string prefix = std::to_string(set.seed);
        std::vector<s4u::Host*> producers;
        for (std::size_t i = 0; i < set.up.size(); ++i) {
            producers.push_back(add_host(prefix + "-producer-" + std::to_string(i), set.up[i], true));
        }
        std::vector<s4u::Host*> consumers;
        for (std::size_t i = 0; i < set.down.size(); ++i) {
            consumers.push_back(add_host(prefix + "-consumer-" + std::to_string(i), set.down[i], false));
        }
        auto& of_set = pairs.emplace_back();
        for (const Flow& flow : set.flows) {
            of_set.emplace_back(producers[flow.producer], consumers[flow.consumer]);
        }
    }
    zone->seal();

    Ends ends;
    s4u::Actor::create("driver", engine.get_all_hosts().front(), [&] {
        std::vector<std::vector<s4u::CommPtr>> transfers;
        for (std::size_t set = 0; set < sets.size(); ++set) {
            auto& of_set = transfers.emplace_back();
            for (std::size_t i = 0; i < sets[set].flows.size(); ++i) {
                const auto& [from, to] = pairs[set][i];
                const auto bytes = static_cast<std::uint64_t>(sets[set].flows[i].bytes.count);
                of_set.push_back(s4u::Comm::sendto_async(from, to, bytes));
            }
        }
        for (const auto& of_set : transfers) {
            std::vector<double>& ends_of_set = ends.emplace_back();
            for (const s4u::CommPtr& transfer : of_set) {
                transfer->wait();
                ends_of_set.push_back(transfer->get_finish_time());
            }
        }
    });
    engine.run();
    return ends;
}

struct Worst {
    double ratio = 1.0;  ///< of the throughputs, weir / SimGrid: the one that is farthest from 1
    std::size_t set = 0;
    std::size_t flow = 0;
    std::size_t differing = 0;  ///< flows beyond the tolerance

    [[nodiscard]] bool agrees() const { return differing == 0; }
};

Worst compare(const std::vector<FlowSet>& sets, const Ends& weir, const Ends& simgrid) {
    Worst worst;
    double farthest = -1.0;
    for (std::size_t set = 0; set < sets.size(); ++set) {
        for (std::size_t flow = 0; flow < sets[set].flows.size(); ++flow) {
            const auto bytes = static_cast<double>(sets[set].flows[flow].bytes.count);
            const double ratio = (bytes / weir[set][flow]) / (bytes / simgrid[set][flow]);
            // Asked so that a time that is 0 or not a number, a flow that never ended, counts as well.
            const bool close = std::abs(ratio - 1.0) <= tolerance;
            worst.differing += close ? 0 : 1;
            const double distance =
                std::isfinite(ratio) && ratio > 0.0 ? std::abs(std::log(ratio)) : HUGE_VAL;
            if (distance > farthest) {
                farthest = distance;
                worst.ratio = ratio;
                worst.set = set;
                worst.flow = flow;
            }
        }
    }
    return worst;
}

void print_set(const FlowSet& set, std::size_t flow, const std::vector<double>& weir,
               const std::vector<double>& simgrid) {
    std::printf("seed %ju: %zu x %zu, %zu flows, links of %jd and %jd b/s; flow %zu is the one\n",
                std::uintmax_t{set.seed}, set.up.size(), set.down.size(), set.flows.size(),
                std::intmax_t{set.fast.bits_per_second}, std::intmax_t{set.slow.bits_per_second}, flow);
    const auto print_links = [](const char* name, const std::vector<BitRate>& links) {
        std::printf("%s:", name);
        for (const BitRate link : links) {
            std::printf(" %jd", std::intmax_t{link.bits_per_second});
        }
        std::printf("\n");
    };
    print_links("up", set.up);
    print_links("down", set.down);
    std::printf("flow producer consumer bytes weir/s simgrid/s\n");
    for (std::size_t i = 0; i < set.flows.size(); ++i) {
        const Flow& it = set.flows[i];
        std::printf("%zu %u %u %jd %.9f %.9f\n", i, it.producer, it.consumer, std::intmax_t{it.bytes.count},
                    weir[i], simgrid[i]);
    }
}

/// The same sets with the links of these speeds 3 % faster; no class: all of them.
std::vector<FlowSet> changed(std::vector<FlowSet> sets, std::optional<BitRate FlowSet::*> which) {
    for (FlowSet& set : sets) {
        for (std::vector<BitRate>* links : {&set.up, &set.down}) {
            for (BitRate& link : *links) {
                if (!which || link == set.*(*which)) {
                    link.bits_per_second = link.bits_per_second / 100 * 103;
                }
            }
        }
    }
    return sets;
}

}  // namespace

int main(int argc, char** argv) {
    weir::core::set_assertion_handler([](const char* expression, const char* file, int line) noexcept {
        std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, expression);
    });
    const std::vector<FlowSet> sets = draw_all();
    std::size_t flows = 0;
    for (const FlowSet& set : sets) {
        flows += set.flows.size();
    }
    const Ends simgrid = simgrid_ends(sets, argc, argv);
    if (simgrid.size() != sets.size()) {
        std::printf("FAILED: SimGrid ended before its flows\n");
        return 1;
    }

    bool passed = true;
    const Ends weir = weir_ends(sets);
    const Worst worst = compare(sets, weir, simgrid);
    std::printf(
        "%zu flow sets, %zu flows: weir's throughput / SimGrid's is at worst 1 %+.2e, in the set of seed "
        "%ju; %zu flows differ by more than %g %%\n",
        sets.size(), flows, worst.ratio - 1.0, std::uintmax_t{sets[worst.set].seed}, worst.differing,
        tolerance * 100);
    if (!worst.agrees()) {
        print_set(sets[worst.set], worst.flow, weir[worst.set], simgrid[worst.set]);
        passed = false;
    }

    const std::pair<const char*, std::optional<BitRate FlowSet::*>> changes[] = {
        {"all", std::nullopt}, {"the fast", &FlowSet::fast}, {"the slow", &FlowSet::slow}};
    for (const auto& [name, which] : changes) {
        const Worst result = compare(sets, weir_ends(changed(sets, which)), simgrid);
        // All links: nothing is left as it was.
        const bool seen = which ? !result.agrees() : result.differing == flows;
        std::printf("with %s links 3 %% faster in weir only: %zu flows differ, at worst 1 %+.2e: %s\n", name,
                    result.differing, result.ratio - 1.0, seen ? "seen, as it must be" : "NOT SEEN");
        passed = passed && seen;
    }
    std::puts(passed ? "passed" : "FAILED");
    return passed ? 0 : 1;
}
