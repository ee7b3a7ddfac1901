#include "judge/cause_leaves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "files/formatting.hpp"
#include "judge/cause_links.hpp"
#include "record/pairs.hpp"

namespace weir::judge {

namespace {

using core::NodeId;
using core::Role;

constexpr double far_slower = 2;  ///< times

/// Of transfers: what they moved, and for how long they were under way.
struct PairMoved {
    double bits = 0;
    double under_way_s = 0;

    void add(const PairMoved& more) {
        bits += more.bits;
        under_way_s += more.under_way_s;
    }
    [[nodiscard]] double rate() const { return under_way_s > 0 ? bits / under_way_s : 0; }
};

/// Of one rank: with hosts of its own leaf, and of others.
struct NearAndFar {
    PairMoved near;
    PairMoved far;
    [[nodiscard]] bool has_both() const { return near.rate() > 0 && far.rate() > 0; }
};

struct BetweenLeaves {
    NearAndFar all;
    std::map<NodeId, NearAndFar> of_ranks;
    std::map<std::pair<std::string, std::string>, PairMoved> ways;  ///< from leaf, to another one
};

/// Pairs of one host are left out: what they move crosses no cable.
BetweenLeaves sum_up(const HeldRun& run) {
    BetweenLeaves sums;
    std::map<NodeId, const record::RankRecord*> ranks;
    for (const record::RankRecord& rank : run.ranks) {
        ranks[rank.summary.node] = &rank;
    }
    for (std::uint32_t consumer = 0; consumer < run.facts.traffic->consumers(); ++consumer) {
        const NodeId to_node{Role::consumer, consumer};
        for (const record::ProducerTraffic& entry : run.facts.traffic->of({consumer})) {
            const NodeId from_node{Role::producer, entry.producer};
            const record::RankRecord& from = *ranks.at(from_node);
            const record::RankRecord& to = *ranks.at(to_node);
            const PairMoved moved{8 * static_cast<double>(entry.traffic.bytes.count),
                                  run.facts.traffic->under_way({entry.producer}, {consumer}).in_seconds()};
            const bool one_host = !from.host.empty() && from.host == to.host;
            if (from.leaf.empty() || to.leaf.empty() || one_host || moved.under_way_s <= 0) {
                continue;
            }
            const auto part = from.leaf == to.leaf ? &NearAndFar::near : &NearAndFar::far;
            (sums.all.*part).add(moved);
            (sums.of_ranks[from_node].*part).add(moved);
            (sums.of_ranks[to_node].*part).add(moved);
            if (from.leaf != to.leaf) {
                sums.ways[{from.leaf, to.leaf}].add(moved);
            }
        }
    }
    return sums;
}

/// How many times as fast as the far transfers of a rank its near ones are: the median over the ranks of a
/// role that have both; 0: none has.
double times_of(const BetweenLeaves& sums, Role role) {
    std::vector<double> times;
    for (const auto& [node, moved] : sums.of_ranks) {
        if (node.role == role && moved.has_both()) {
            times.push_back(moved.near.rate() / moved.far.rate());
        }
    }
    if (times.empty()) {
        return 0;
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

}  // namespace

std::optional<NamedCause> between_leaves(const HeldRun& run) {
    if (run.facts.traffic == nullptr || !is_for_links(run)) {
        return std::nullopt;
    }
    // What waits for messages goes more slowly the longer the way is.
    constexpr double mostly = 0.5;
    if (run.held.travel.share(run.held.travel.rounds) >= mostly) {
        return std::nullopt;
    }
    const BetweenLeaves sums = sum_up(run);
    // Both, since one slow consumer is slow for each producer, and the other way round.
    if (times_of(sums, Role::consumer) < far_slower || times_of(sums, Role::producer) < far_slower) {
        return std::nullopt;
    }
    const auto slowest =
        std::min_element(sums.ways.begin(), sums.ways.end(),
                         [](const auto& a, const auto& b) { return a.second.rate() < b.second.rate(); });
    const auto& [from, to] = slowest->first;
    return cause_of(
        CauseKind::uplinks, run.held.owners.network,
        fmt::format("a transfer between leaves went at {}, and within a leaf at {}; the slowest way is "
                    "from {} to {}, with {}.",
                    rate_text(sums.all.far.rate()), rate_text(sums.all.near.rate()), from, to,
                    rate_text(slowest->second.rate())),
        fmt::format("look at the cables between {} and {}: use faster ones, or more of them", from, to));
}

}  // namespace weir::judge
