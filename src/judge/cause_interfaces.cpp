#include "judge/cause_interfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "files/formatting.hpp"
#include "judge/cause_links.hpp"

namespace weir::judge {

using core::Role;

namespace {

/// The interfaces of a role, and what is needed of each.
struct Demand {
    const HeldRun& run;
    Role role;
    const std::vector<RankInterface>& interfaces;
    double needed_bits;

    [[nodiscard]] std::uint32_t ranks() const {
        return role == Role::producer ? run.plan.producers : run.plan.consumers;
    }
    /// How much of what is needed does not go through.
    [[nodiscard]] double missing(double needed, double bits) const {
        return std::max(run.held.owners.network, 1 - fraction(bits, needed));
    }
};

using Interfaces = std::vector<RankInterface>;

double sum_of(const Interfaces& interfaces, double RankInterface::* field) {
    return std::accumulate(interfaces.begin(), interfaces.end(), 0.0,
                           [&](double sum, const RankInterface& one) { return sum + one.*field; });
}

const RankInterface& slowest_of(const Interfaces& interfaces) {
    return *std::min_element(interfaces.begin(), interfaces.end(),
                             [](const RankInterface& a, const RankInterface& b) { return a.bits < b.bits; });
}

bool are_alike(const Interfaces& interfaces) {
    return std::all_of(interfaces.begin(), interfaces.end(),
                       [&](const RankInterface& one) { return one.bits == interfaces.front().bits; });
}

/// What carried far less, or more, is not what the speed was said of. Of datagrams only what arrived whole
/// was seen.
bool is_used(const HeldRun& run, double seen_bits, double bits) {
    constexpr double far_less = 0.5;
    constexpr double more = 1.02;
    return (run.plan.lossy() || seen_bits >= far_less * bits) && seen_bits <= more * bits;
}

/// Ranks of the same role that share the interface of a host.
std::size_t sharing(const HeldRun& run, const record::RankRecord& rank) {
    return static_cast<std::size_t>(
        std::count_if(run.ranks.begin(), run.ranks.end(), [&](const record::RankRecord& other) {
            return !rank.host.empty() && other.host == rank.host &&
                   other.summary.node.role == rank.summary.node.role;
        }));
}

std::string role_text(Role role) {
    return std::string(core::role_name(role));
}

NamedCause of_one(const Demand& of, const RankInterface& one, const std::string& needed, double share) {
    const std::size_t ranks = sharing(of.run, *one.rank);
    const std::string part =
        ranks > 1 ? fmt::format(" for it, the part of one of {} ranks on its host", ranks) : "";
    return cause_at(
        links_of(of.role), *one.rank, share,
        fmt::format("the interface of {} has {}{}, and {}.", files::node_text(one.rank->summary.node),
                    rate_text(one.bits), part, needed),
        "look at the speed of this host's port and cable; or give it a faster link, or lower --rate");
}

NamedCause of_all(const Demand& of, std::string text, double share) {
    return cause_of(links_of(of.role), share, std::move(text),
                    fmt::format("lower --rate, or use more {}s or faster links", role_text(of.role)));
}

std::string needed_of_each(const Demand& of) {
    return fmt::format("{} are needed of each", rate_text(of.needed_bits));
}

/// Each has to move its own share.
std::optional<NamedCause> each_by_itself(const Demand& of) {
    Interfaces slow;
    for (const RankInterface& one : of.interfaces) {
        if (one.bits <= of.needed_bits && is_used(of.run, one.seen_bits, one.bits)) {
            slow.push_back(one);
        }
    }
    if (slow.empty()) {
        return std::nullopt;
    }
    const RankInterface& slowest = slowest_of(slow);
    const double share = of.missing(of.needed_bits, slowest.bits);
    if (slow.size() == 1 && of.ranks() > 1) {
        return of_one(of, slowest, fmt::format("{} are needed of it", rate_text(of.needed_bits)), share);
    }
    if (slow.size() == of.ranks() && are_alike(slow)) {
        return of_all(of,
                      fmt::format("interfaces of {}s have {}, and {}.", role_text(of.role),
                                  rate_text(slowest.bits), needed_of_each(of)),
                      share);
    }
    std::vector<std::uint32_t> indices;
    for (const RankInterface& one : slow) {
        indices.push_back(one.rank->summary.node.index);
    }
    return of_all(of,
                  fmt::format("interfaces of {} have too little: the slowest, of {}, has {}, and {}.",
                              files::name_some(role_text(of.role), indices),
                              files::node_text(slowest.rank->summary.node), rate_text(slowest.bits),
                              needed_of_each(of)),
                  share);
}

/// What one cannot take goes to others, as long as all together have room.
std::optional<NamedCause> all_together(const Demand& of) {
    const double bits = sum_of(of.interfaces, &RankInterface::bits);
    const double needed = of.needed_bits * of.ranks();
    // One to which nothing was sent has an interface too.
    if (of.interfaces.size() < of.ranks() || needed < bits ||
        !is_used(of.run, sum_of(of.interfaces, &RankInterface::seen_bits), bits)) {
        return std::nullopt;
    }
    const double share = of.missing(needed, bits);
    if (are_alike(of.interfaces)) {
        return of_all(of,
                      fmt::format("interfaces of {}s have {}, and {}.", role_text(of.role),
                                  rate_text(of.interfaces.front().bits), needed_of_each(of)),
                      share);
    }
    const std::string together =
        fmt::format("all {} {}s together have {} of the {} that are needed", of.ranks(), role_text(of.role),
                    rate_text(bits), rate_text(needed));
    const RankInterface& slowest = slowest_of(of.interfaces);
    const auto ranks = static_cast<double>(of.ranks());
    const double others = (bits - slowest.bits) / std::max(1.0, ranks - 1);
    if (slowest.bits < of.needed_bits && others * ranks > needed) {
        return of_one(of, slowest,
                      fmt::format("{} are needed of it; {}", rate_text(of.needed_bits), together), share);
    }
    return of_all(
        of,
        fmt::format("interfaces of {}s have {} together, and {} are needed of them; the slowest, of "
                    "{}, has {}.",
                    role_text(of.role), rate_text(bits), rate_text(needed),
                    files::node_text(slowest.rank->summary.node), rate_text(slowest.bits)),
        share);
}

}  // namespace

std::optional<NamedCause> interfaces_too_slow(const HeldRun& run) {
    const auto& ranks = run.ranks;
    const bool one_host = std::all_of(ranks.begin(), ranks.end(), [&](const record::RankRecord& rank) {
        return !rank.host.empty() && rank.host == ranks.front().host;
    });
    // Datagrams that are lost hold streams, and all of the time looks like that of messages.
    if ((!is_for_links(run) && !run.plan.lossy()) || run.plan.addressed() || one_host ||
        run.plan.generation == core::Generation::saturate) {
        return std::nullopt;
    }
    const HoldUp& held = run.held;
    if (auto cause = each_by_itself({run, Role::producer, held.producers.interfaces, held.needed_bits})) {
        return cause;
    }
    const Demand of_consumers{run, Role::consumer, held.consumers.interfaces,
                              held.needed_bits * run.plan.producers / std::max(1U, run.plan.consumers)};
    return run.plan.policy == core::PolicyKind::round_robin ? each_by_itself(of_consumers)
                                                            : all_together(of_consumers);
}

}  // namespace weir::judge
