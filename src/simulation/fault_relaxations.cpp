// Disturbances of a run as things that may be relaxed: the run without them.
#include "simulation/relaxations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "files/formatting.hpp"

namespace weir::simulation {

namespace {

using core::Role;
using judge::CauseKind;

constexpr std::size_t most_single_faults = 16;

CauseKind cause_of(const Disturbance& disturbance) {
    const Role role = disturbance.node.role;
    switch (disturbance.kind) {
        case Disturbance::Kind::pause:
            return role == Role::producer ? CauseKind::late_producer : CauseKind::stalled_rank;
        case Disturbance::Kind::die:
        case Disturbance::Kind::cut:
            return CauseKind::lost_consumers;
        case Disturbance::Kind::slow:
            return role == Role::scheduler ? CauseKind::scheduler : CauseKind::processing;
        case Disturbance::Kind::degrade:
            return role == Role::producer ? CauseKind::producer_links : CauseKind::consumer_links;
        case Disturbance::Kind::delay:
            return CauseKind::control_latency;
        case Disturbance::Kind::drift:
            return CauseKind::shaping;
        case Disturbance::Kind::flood:
            return CauseKind::switch_loss;
        case Disturbance::Kind::cut_link:
        case Disturbance::Kind::cut_switch:
        case Disturbance::Kind::degrade_link:
        case Disturbance::Kind::errors:
        case Disturbance::Kind::storm:
            return CauseKind::network_failure;
    }
    return CauseKind::not_told;
}

struct FaultWords {
    std::string with;
    std::string remedy;
};

/// `who`: "consumer 0", or "ranks" for several.
FaultWords words_of(const Disturbance& disturbance, const std::string& who) {
    switch (disturbance.kind) {
        case Disturbance::Kind::pause:
            return {"if " + who + " had not stood still", "keep " + who + " running"};
        case Disturbance::Kind::die:
        case Disturbance::Kind::cut:
            return {"if " + who + " had not been lost", "keep " + who + " from being lost"};
        case Disturbance::Kind::slow:
            return {"if " + who + " had not been slow", "look for what slows " + who + " down"};
        case Disturbance::Kind::degrade:
            return {"with full links of " + who, "repair the link of " + who};
        case Disturbance::Kind::delay:
            return {"without the delay of control messages", "control messages without that delay"};
        case Disturbance::Kind::drift:
            return {"with a true clock of " + who, "set the clock of " + who + " right"};
        case Disturbance::Kind::flood:
            return {"if the switch had known the port of " + who, "keep the switch from flooding"};
        case Disturbance::Kind::cut_link:
            return {"if " + who + " had not been cut", "repair " + who};
        case Disturbance::Kind::cut_switch:
            return {"if " + who + " had not failed", "repair " + who};
        case Disturbance::Kind::degrade_link:
            return {"with the full rate of " + who, "repair " + who};
        case Disturbance::Kind::errors:
            return {"without errors of " + who, "repair " + who};
        case Disturbance::Kind::storm:
            return {"if " + who + " had not paused its switch for ever", "replace the NIC of " + who};
    }
    return {};
}

bool is_same(const Disturbance& a, const Disturbance& b) {
    return a.kind == b.kind && a.place == b.place && (a.node == b.node || a.kind == Disturbance::Kind::delay);
}

template <typename Same>
RelaxedStep without(const Disturbance& disturbance, const std::string& who, Same same) {
    FaultWords words = words_of(disturbance, who);
    return {[disturbance, same](SimulatedRun& changed) {
                std::erase_if(changed.disturbances,
                              [&](const Disturbance& one) { return same(one, disturbance); });
            },
            std::move(words.with), std::move(words.remedy)};
}

std::string name_of(const Disturbance& disturbance) {
    if (!is_of_network(disturbance.kind)) {
        return (disturbance.node.role == Role::scheduler ? "the " : "") + files::node_text(disturbance.node);
    }
    const bool is_link =
        disturbance.kind != Disturbance::Kind::cut_switch && disturbance.kind != Disturbance::Kind::storm;
    return is_link ? "link " + disturbance.place : disturbance.place;
}

std::string name_of_all(const Disturbance& disturbance) {
    if (is_of_network(disturbance.kind)) {
        return "what failed in the network";
    }
    return disturbance.node.role == Role::producer ? "those producers" : "those consumers";
}

}  // namespace

std::vector<Relaxation> fault_relaxations(std::span<const Disturbance> disturbances) {
    std::vector<Disturbance> different;
    for (const Disturbance& disturbance : disturbances) {
        if (std::none_of(different.begin(), different.end(),
                         [&](const Disturbance& one) { return is_same(one, disturbance); })) {
            different.push_back(disturbance);
        }
    }
    std::vector<Relaxation> table;
    for (const Disturbance& disturbance : different) {
        if (table.size() == most_single_faults) {
            break;
        }
        const bool of_node = disturbance.kind != Disturbance::Kind::delay && !is_of_network(disturbance.kind);
        table.push_back({.what = cause_of(disturbance),
                         .where = of_node ? std::optional(disturbance.node) : std::nullopt,
                         .steps = {without(disturbance, name_of(disturbance), is_same)}});
    }
    const auto same_cause = [](const Disturbance& a, const Disturbance& b) {
        return cause_of(a) == cause_of(b);
    };
    for (std::size_t i = 0; i < different.size(); ++i) {
        const auto is_like = [&](const Disturbance& one) { return same_cause(one, different[i]); };
        const auto begin = different.begin();
        const auto here = begin + static_cast<std::ptrdiff_t>(i);
        if (std::any_of(here + 1, different.end(), is_like) && std::none_of(begin, here, is_like)) {
            table.push_back({.what = cause_of(different[i]),
                             .where = {},
                             .steps = {without(different[i], name_of_all(different[i]), same_cause)}});
        }
    }
    return table;
}

}  // namespace weir::simulation
