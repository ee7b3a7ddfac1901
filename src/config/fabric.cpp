#include "config/fabric.hpp"

#include <fmt/ranges.h>

#include "config/checks.hpp"
#include "config/option_values.hpp"
#include "config/passes.hpp"
#include "core/fabric_layout.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::OwnLinks;
using core::PlacementKind;
using core::Tier;
using core::TopologyKind;

/// Each is some kilobytes of memory.
constexpr std::uint64_t most_cables = 200'000;

core::SwitchName parse_switch_name(Text text) {
    for (const auto& [prefix, tier] :
         {std::pair{std::string_view("leaf-"), Tier::leaf}, {"spine-", Tier::spine}, {"core-", Tier::core}}) {
        if (text.starts_with(prefix)) {
            return {tier, count(text.substr(prefix.size()), 0, 1'000'000)};
        }
    }
    throw UsageError("'{}' is no switch; write leaf-N, spine-N or core-N", text);
}

core::OwnCables parse_cables(Text text) {
    const std::size_t colon = text.find(':');
    const std::size_t equals = text.find('=');
    if (colon == Text::npos || equals == Text::npos || equals < colon) {
        throw UsageError("'{}' does not say whose speed it is; write for example leaf-0:spine-1=50Gb/s",
                         text);
    }
    core::OwnCables cables{parse_switch_name(text.substr(0, colon)),
                           parse_switch_name(text.substr(colon + 1, equals - colon - 1)),
                           bounded(text.substr(equals + 1), core::BitRate{1000}, fastest_rate)};
    if (cables.lower.tier > cables.upper.tier) {
        std::swap(cables.lower, cables.upper);
    }
    return cables;
}

std::uint64_t cables_of(const core::TopologyPlan& plan) {
    const bool tiers = plan.kind == TopologyKind::three_tier;
    std::uint64_t cables = std::uint64_t{plan.leaves} * plan.spines * plan.uplinks;
    if (tiers) {
        cables += std::uint64_t{plan.pods} * plan.cores * plan.core_links;
    }
    return plan.kind == TopologyKind::star ? 0 : cables;
}

void check_multiple(const char* key, std::uint32_t value, const std::string& of, std::uint32_t part) {
    if (value % part != 0) {
        const std::uint32_t below = value / part * part;
        throw UsageError("[topology] {}: {} is no multiple of {}, {}; write {}{}", key, value, of, part,
                         below > 0 ? fmt::format("{} or ", below) : "", below + part);
    }
}

void check_spines(const core::FabricPlan& fabric) {
    const core::TopologyPlan& plan = fabric.topology;
    const bool rails_alone = plan.kind == TopologyKind::rail_optimized && plan.leaves == plan.nics &&
                             fabric.placement.kind == PlacementKind::by_rail;
    if (plan.kind != TopologyKind::star && plan.spines == 0 && !rails_alone) {
        throw UsageError(
            "[topology] spines: with 0 the leaves have no uplinks, which only rails can do without; write 1 "
            "or more, or kind = \"rail-optimized\" with a leaf for each NIC and [placement] kind = "
            "\"by-rail\"");
    }
}

void check_placement(const core::FabricPlan& fabric) {
    const core::PlacementPlan& plan = fabric.placement;
    const bool fixed = plan.kind == PlacementKind::by_rail || plan.kind == PlacementKind::listed;
    if (plan.kind == PlacementKind::by_rail && fabric.topology.nics < 2) {
        throw UsageError(
            "[placement] kind: by-rail needs hosts with several NICs; write [topology] nics = 2 or more, or "
            "by-worker");
    }
    if (fixed && plan.per_host != 1) {
        throw UsageError(
            "[placement] per-host: {} is not for this kind, which says itself who is on a host; leave it out",
            plan.per_host);
    }
    if ((plan.kind == PlacementKind::listed) == plan.hosts.empty()) {
        throw UsageError(
            plan.hosts.empty()
                ? "[placement] hosts: explicit needs the host of each worker; write hosts = [0, 1, ...], or "
                  "another kind"
                : "[placement] hosts: a list is for kind = \"explicit\"; write that, or leave the list out");
    }
}

void check_list(const RunRequest& request) {
    const core::PlacementPlan& plan = request.network.fabric.placement;
    const core::Plan& ranks = request.plan;
    if (plan.kind != PlacementKind::listed) {
        return;
    }
    const bool workers = ranks.producers == ranks.consumers;
    const bool lists_workers = workers && plan.hosts.size() == ranks.producers;
    if (!lists_workers && plan.hosts.size() != ranks.producers + ranks.consumers) {
        throw UsageError(
            "--switch: [placement] hosts: {} are listed for {} producers and {} consumers; write {}{}",
            plan.hosts.size(), ranks.producers, ranks.consumers,
            workers ? fmt::format("{} (one for each worker) or ", ranks.producers) : "",
            ranks.producers + ranks.consumers);
    }
}

void check_hosts(const RunRequest& request) {
    const core::FabricPlan& fabric = request.network.fabric;
    const core::TopologyPlan& topology = fabric.topology;
    const core::PlacedUnits units =
        core::placed_units(fabric, request.plan.producers, request.plan.consumers);
    if (topology.hosts > 0 && units.hosts() > topology.hosts) {
        throw UsageError(
            "--switch: [topology] hosts: there are {}, and the ranks need {}; write hosts = {} or more, or "
            "more ranks for each ([placement] per-host)",
            topology.hosts, units.hosts(), units.hosts());
    }
    const std::uint64_t hosts = std::max(units.hosts(), topology.hosts);
    if (hosts * topology.nics > most_cables) {
        throw UsageError(
            "--switch: [topology] nics: {} hosts with {} NICs are {} ports, and at most {} are possible; "
            "make them fewer",
            hosts, topology.nics, hosts * topology.nics, most_cables);
    }
    const std::uint32_t groups = topology.leaves / topology.nics;
    if (topology.kind == TopologyKind::rail_optimized && groups > hosts) {
        throw UsageError(
            "--switch: [topology] leaves: {} hosts with {} NICs leave rails without hosts; write leaves = {} "
            "or less",
            hosts, topology.nics, hosts * topology.nics);
    }
}

std::string rank_text(const core::Plan& plan, std::uint32_t rank) {
    return rank == 0                ? "the scheduler"
           : rank <= plan.producers ? fmt::format("producer {}", rank - 1)
                                    : fmt::format("consumer {}", rank - 1 - plan.producers);
}

bool has_hosts(const RunRequest& request) {
    return core::has_fabric(request.network) && request.plan.producers > 0 && request.plan.consumers > 0;
}

/// Whether this is a producer that sends data to that consumer.
bool sends(const core::Plan& plan, std::uint32_t from, std::uint32_t to) {
    if (from == 0 || from > plan.producers || to <= plan.producers) {
        return false;
    }
    return !plan.addressed() ||
           plan.traffic->pair(core::ProducerId{from - 1}, core::ConsumerId{to - 1 - plan.producers});
}

/// Ranks that share NICs.
void check_shared_hosts(const RunRequest& request, const core::Placement& placement) {
    const core::Plan& plan = request.plan;
    std::vector<core::BitRate> links = core::producer_links(request.network, plan.producers);
    links.insert(links.begin(), request.network.producer_link);
    const std::vector<core::BitRate> more = core::consumer_links(request.network, plan.consumers);
    links.insert(links.end(), more.begin(), more.end());
    for (const core::Placement::Host& host : placement.hosts()) {
        if (plan.lossy() && host.ranks.size() > 1) {
            throw UsageError(
                "--switch: [placement] kind: with --transport datagram each rank needs a host of its own; "
                "write kind = \"rows\" and per-host = 1");
        }
        const auto fastest = std::find_if(host.ranks.begin(), host.ranks.end(),
                                          [&](std::uint32_t rank) { return links[rank] == host.rate; });
        for (const std::uint32_t rank : host.ranks) {
            if (rank != 0 && links[rank] != host.rate) {
                throw UsageError(
                    "--switch: [placement] kind: {} and {} share a host, and their links have {} and {}; "
                    "give both the same (--producer-link, --consumer-link), or write kind = \"rows\"",
                    rank_text(plan, *fastest), rank_text(plan, rank), files::exact(host.rate),
                    files::exact(links[rank]));
            }
        }
    }
}

void check_own_cables(const core::TopologyPlan& topology, const core::FabricLayout& layout) {
    for (const core::OwnCables& own : topology.own_cables) {
        const bool found = std::any_of(
            layout.cables.begin(), layout.cables.end(), [&](const core::FabricLayout::Cable& cable) {
                return layout.switches[cable.lower] == own.lower && layout.switches[cable.upper] == own.upper;
            });
        if (!found) {
            throw UsageError(
                "--switch: [topology] own-rates: there is no cable {}:{}; --dry-run draws those that there "
                "are",
                core::switch_text(own.lower), core::switch_text(own.upper));
        }
    }
}

constexpr std::string_view advice = "write for example 100Gb/s,0-3=25Gb/s,7=400Gb/s";

BitRate link_speed(Text text) {
    return bounded(text, BitRate{1000}, fastest_rate);
}

OwnLinks own_links(Text text) {
    const std::size_t equals = text.find('=');
    if (equals == Text::npos) {
        throw UsageError("'{}' does not say whose speed it is; {}", text, advice);
    }
    const std::vector<std::uint32_t> hosts = parse_index_list(text.substr(0, equals));
    return {hosts.front(), hosts.back(), link_speed(text.substr(equals + 1))};
}

void check_hosts(const char* option, const std::vector<OwnLinks>& own, const char* role,
                 std::uint32_t hosts) {
    if (hosts > 0 && !own.empty() && own.back().last >= hosts) {
        throw UsageError("--{}: there is no {} {}; write indices from 0 to {}", option, role, own.back().last,
                         hosts - 1);
    }
}

}  // namespace

std::vector<core::OwnCables> parse_own_cables(std::string_view text) {
    std::vector<core::OwnCables> all;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        all.push_back(parse_cables(text.substr(0, comma)));
        const core::OwnCables& last = all.back();
        if (std::any_of(all.begin(), all.end() - 1, [&](const core::OwnCables& other) {
                return other.lower == last.lower && other.upper == last.upper;
            })) {
            throw UsageError("{}:{} is listed twice; write one speed for it", core::switch_text(last.lower),
                             core::switch_text(last.upper));
        }
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return all;
}

std::string own_cables_text(const std::vector<core::OwnCables>& cables) {
    std::vector<std::string> texts;
    texts.reserve(cables.size());
    for (const core::OwnCables& own : cables) {
        texts.push_back(fmt::format("{}:{}={}", core::switch_text(own.lower), core::switch_text(own.upper),
                                    to_text(own.rate)));
    }
    return fmt::format("{}", fmt::join(texts, ","));
}

void check_topology(const core::FabricPlan& fabric) {
    const core::TopologyPlan& plan = fabric.topology;
    check_spines(fabric);
    if (plan.kind == TopologyKind::three_tier) {
        check_multiple("leaves", plan.leaves, "pods", plan.pods);
        check_multiple("cores", plan.cores, "spines (of each pod)", plan.spines);
    }
    if (plan.kind == TopologyKind::rail_optimized) {
        check_multiple("leaves", plan.leaves, "nics", plan.nics);
    }
    if (cables_of(plan) > most_cables) {
        throw UsageError(
            "[topology] uplinks: all in all there are {} cables between switches, and at most {} are "
            "possible; make leaves, spines or uplinks fewer",
            cables_of(plan), most_cables);
    }
    check_placement(fabric);
}

void check_ranks_on_hosts(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (!has_hosts(request)) {
        return;
    }
    check_list(request);
    check_hosts(request);
    const core::Placement placed(request.network, plan.producers, plan.consumers, plan.seed);
    check_shared_hosts(request, placed);
    check_queue_pairs(request, placed);
    check_own_cables(request.network.fabric.topology, core::fabric_layout(request.network, placed));
}

std::string inside_hosts_text(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (!request.simulated || !has_hosts(request)) {
        return {};
    }
    const core::Placement placed(request.network, plan.producers, plan.consumers, plan.seed);
    std::uint64_t pairs = 0;
    std::string first;
    for (const core::Placement::Host& host : placed.hosts()) {
        for (const std::uint32_t from : host.ranks) {
            for (const std::uint32_t to : host.ranks) {
                if (sends(plan, from, to) && pairs++ == 0) {
                    first = fmt::format("{} sends to {}", rank_text(plan, from), rank_text(plan, to));
                }
            }
        }
    }
    return pairs == 0 ? std::string{}
                      : fmt::format(
                            "{} on one host{}: such data is copied in its memory and crosses no link; "
                            "[placement] kind = \"rows\" gives each rank a host of its own",
                            first, pairs == 1 ? "" : fmt::format(" ({} such pairs)", pairs));
}

void parse_link_speeds(std::string_view text, BitRate& usual, std::vector<OwnLinks>& own) {
    std::size_t comma = text.find(',');
    const BitRate speed = link_speed(text.substr(0, comma));
    std::vector<OwnLinks> found;
    while (comma != Text::npos) {
        text.remove_prefix(comma + 1);
        comma = text.find(',');
        found.push_back(own_links(text.substr(0, comma)));
    }
    std::sort(found.begin(), found.end(),
              [](const OwnLinks& a, const OwnLinks& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < found.size(); ++i) {
        if (found[i].first <= found[i - 1].last) {
            throw UsageError("host {} has two speeds; write it once", found[i].first);
        }
    }
    usual = speed;
    own = std::move(found);
}

std::string link_speeds_text(BitRate usual, const std::vector<OwnLinks>& own) {
    std::string text = to_text(usual);
    for (const OwnLinks& some : own) {
        text += some.first == some.last ? fmt::format(",{}={}", some.first, to_text(some.rate))
                                        : fmt::format(",{}-{}={}", some.first, some.last, to_text(some.rate));
    }
    return text;
}

void check_own_links(const RunRequest& request) {
    if (request.simulated) {
        check_hosts("producer-link", request.network.own_producer_links, "producer", request.plan.producers);
        check_hosts("consumer-link", request.network.own_consumer_links, "consumer", request.plan.consumers);
    }
}

}  // namespace weir::config
