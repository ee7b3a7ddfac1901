// Disturbances of a run as things that may be relaxed: the run without them.
#include "simulation/relaxations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
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
            return CauseKind::stalled_rank;
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

/// `who`: "consumer 0", or "consumers 0 and 2" for several. `s`: the end of what each of them has one of.
FaultWords words_of(Disturbance::Kind kind, const std::string& who, const std::string& s) {
    switch (kind) {
        case Disturbance::Kind::pause:
            return {"if " + who + " had not stood still", "keep " + who + " running"};
        case Disturbance::Kind::die:
        case Disturbance::Kind::cut:
            return {"if " + who + " had not been lost", "keep " + who + " from being lost"};
        case Disturbance::Kind::slow:
            return {"if " + who + " had not been slow", "look for what slows " + who + " down"};
        case Disturbance::Kind::degrade:
            return {"with full links of " + who, "repair the link" + s + " of " + who};
        case Disturbance::Kind::delay:
            return {"without the delay of control messages", "control messages without that delay"};
        case Disturbance::Kind::drift:
            return {"with true clocks of " + who, "set the clock" + s + " of " + who + " right"};
        case Disturbance::Kind::flood:
            return {"if the switch had known the port" + s + " of " + who, "keep the switch from flooding"};
        case Disturbance::Kind::cut_link:
            return {"if " + who + " had not been cut", "repair " + who};
        case Disturbance::Kind::cut_switch:
            return {"if " + who + " had not failed", "repair " + who};
        case Disturbance::Kind::degrade_link:
            return {"with the full rate of " + who, "repair " + who};
        case Disturbance::Kind::errors:
            return {"without errors of " + who, "repair " + who};
        case Disturbance::Kind::storm:
            return {"if " + who + " had not paused the switch", "replace the NIC" + s + " of " + who};
    }
    return {};
}

/// More of one role, or of one kind of place, are counted.
constexpr std::size_t most_named = 8;

bool is_same(const Disturbance& a, const Disturbance& b) {
    return a.kind == b.kind && a.place == b.place && (a.node == b.node || a.kind == Disturbance::Kind::delay);
}

/// "the scheduler and consumers 1 and 2".
std::string names_of_nodes(const std::vector<Disturbance>& faults) {
    std::vector<std::string> names;
    for (const Role role : {Role::scheduler, Role::producer, Role::consumer}) {
        std::vector<std::uint32_t> indices;
        for (const Disturbance& fault : faults) {
            if (fault.node.role == role) {
                indices.push_back(fault.node.index);
            }
        }
        std::sort(indices.begin(), indices.end());
        indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
        if (!indices.empty()) {
            names.push_back(role == Role::scheduler
                                ? "the scheduler"
                                : files::name_some(core::role_name(role), indices, most_named));
        }
    }
    return fmt::format("{}", fmt::join(names, " and "));
}

/// "links leaf-0:spine-0 and leaf-1:spine-0".
std::string names_of_places(const std::vector<Disturbance>& faults) {
    const Disturbance::Kind kind = faults.front().kind;
    const bool are_links = kind != Disturbance::Kind::cut_switch && kind != Disturbance::Kind::storm;
    const std::size_t shown = faults.size() <= most_named + 1 ? faults.size() : most_named;
    std::string names = !are_links ? "" : faults.size() == 1 ? "link " : "links ";
    for (std::size_t i = 0; i < shown; ++i) {
        names += fmt::format("{}{}", i == 0 ? "" : i + 1 == faults.size() ? " and " : ", ", faults[i].place);
    }
    return shown == faults.size() ? names : fmt::format("{} and {} more", names, faults.size() - shown);
}

bool has_same_words(const Disturbance& a, const Disturbance& b) {
    return words_of(a.kind, "", "").with == words_of(b.kind, "", "").with;
}

/// Of all of these, which are of one cause: those of each kind have their own words.
FaultWords words_of_all(std::vector<Disturbance> faults) {
    FaultWords all;
    while (!faults.empty()) {
        const Disturbance first = faults.front();
        const auto other =
            std::stable_partition(faults.begin(), faults.end(),
                                  [&first](const Disturbance& one) { return has_same_words(one, first); });
        const std::vector<Disturbance> alike(faults.begin(), other);
        faults.erase(faults.begin(), other);
        const FaultWords words =
            words_of(first.kind, is_of_network(first.kind) ? names_of_places(alike) : names_of_nodes(alike),
                     alike.size() == 1 ? "" : "s");
        all.with += (all.with.empty() ? "" : ", and ") + words.with;
        all.remedy += (all.remedy.empty() ? "" : " and ") + words.remedy;
    }
    return all;
}

RelaxedStep without(const std::vector<Disturbance>& faults) {
    FaultWords words = words_of_all(faults);
    return {[faults](SimulatedRun& changed) {
                std::erase_if(changed.disturbances, [&](const Disturbance& one) {
                    return std::any_of(faults.begin(), faults.end(),
                                       [&](const Disturbance& fault) { return is_same(fault, one); });
                });
            },
            std::move(words.with), std::move(words.remedy)};
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
                         .steps = {without({disturbance})},
                         .ends_fault = true});
    }
    while (!different.empty()) {
        const CauseKind what = cause_of(different.front());
        const auto other =
            std::stable_partition(different.begin(), different.end(),
                                  [what](const Disturbance& one) { return cause_of(one) == what; });
        const std::vector<Disturbance> alike(different.begin(), other);
        different.erase(different.begin(), other);
        if (alike.size() > 1) {
            table.push_back({.what = what, .where = {}, .steps = {without(alike)}, .ends_fault = true});
        }
    }
    return table;
}

}  // namespace weir::simulation
