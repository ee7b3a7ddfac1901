// Disturbances of a run as things that may be relaxed: the run without them.
#include "simulation/relaxations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "files/formatting.hpp"

namespace weir::simulation {

namespace {

using core::Role;
using judge::CauseKind;

constexpr std::size_t most_single_faults = 16;

/// What a disturbance stands for, and what the run would be without it. {0}: "consumer 0", or "consumers 0
/// and 2" for several; {1}: the end of what each of them has one of.
struct FaultWords {
    Disturbance::Kind kind;
    CauseKind what;
    std::string_view with;
    std::string_view remedy;
};
using Kind = Disturbance::Kind;
constexpr FaultWords fault_words[] = {
    {Kind::pause, CauseKind::stalled_rank, "if {0} had not stood still", "keep {0} running"},
    {Kind::die, CauseKind::lost_consumers, "if {0} had not been lost", "keep {0} from being lost"},
    {Kind::cut, CauseKind::lost_consumers, "if {0} had not been lost", "keep {0} from being lost"},
    {Kind::slow, CauseKind::processing, "if {0} had not been slow", "look for what slows {0} down"},
    {Kind::degrade, CauseKind::consumer_links, "with full links of {0}", "repair the link{1} of {0}"},
    {Kind::delay, CauseKind::control_latency, "without the delay of control messages",
     "remove the delay of control messages"},
    {Kind::drift, CauseKind::shaping, "with true clocks of {0}", "set the clock{1} of {0} right"},
    {Kind::flood, CauseKind::switch_loss, "if the switch had known the port{1} of {0}",
     "keep the switch from flooding"},
    {Kind::cut_link, CauseKind::network_failure, "if {0} had not been cut", "repair {0}"},
    {Kind::cut_switch, CauseKind::network_failure, "if {0} had not failed", "repair {0}"},
    {Kind::degrade_link, CauseKind::network_failure, "with the full rate of {0}", "repair {0}"},
    {Kind::errors, CauseKind::network_failure, "without errors of {0}", "repair {0}"},
    {Kind::storm, CauseKind::network_failure, "if {0} had not paused the switch",
     "replace the NIC{1} of {0}"}};

const FaultWords& words_of(const Disturbance& disturbance) {
    return *std::find_if(std::begin(fault_words), std::end(fault_words),
                         [&](const FaultWords& words) { return words.kind == disturbance.kind; });
}

CauseKind cause_of(const Disturbance& disturbance) {
    const Role role = disturbance.node.role;
    const bool slow_scheduler = disturbance.kind == Kind::slow && role == Role::scheduler;
    const bool producer_link = disturbance.kind == Kind::degrade && role == Role::producer;
    return slow_scheduler  ? CauseKind::scheduler
           : producer_link ? CauseKind::producer_links
                           : words_of(disturbance).what;
}

/// More of one role, or of one kind of place, are counted.
constexpr std::size_t most_named = 8;

bool is_same(const Disturbance& a, const Disturbance& b) {
    return a.kind == b.kind && a.place == b.place && (a.node == b.node || a.kind == Disturbance::Kind::delay);
}

/// Takes those out of `from` of which `is_one` is true, in their order.
template <typename Predicate>
std::vector<Disturbance> take_alike(std::vector<Disturbance>& from, const Predicate& is_one) {
    const auto other = std::stable_partition(from.begin(), from.end(), is_one);
    const std::vector<Disturbance> alike(from.begin(), other);
    from.erase(from.begin(), other);
    return alike;
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
    std::vector<std::string> places;
    places.reserve(faults.size());
    for (const Disturbance& fault : faults) {
        places.push_back(fault.place);
    }
    return (!are_links ? "" : faults.size() == 1 ? "link " : "links ") + files::listed(places, most_named);
}

/// Without all of these, which are of one cause: those of each kind have their own words.
RelaxedStep step_without(const std::vector<Disturbance>& faults) {
    RelaxedStep step{[faults](SimulatedRun& changed) {
                         std::erase_if(changed.disturbances, [&](const Disturbance& one) {
                             return std::any_of(faults.begin(), faults.end(), [&](const Disturbance& fault) {
                                 return is_same(fault, one);
                             });
                         });
                     },
                     {},
                     {}};
    std::vector<Disturbance> left = faults;
    while (!left.empty()) {
        const FaultWords& words = words_of(left.front());
        const std::vector<Disturbance> alike =
            take_alike(left, [&](const Disturbance& one) { return words_of(one).with == words.with; });
        const std::string who = is_of_network(words.kind) ? names_of_places(alike) : names_of_nodes(alike);
        const char* const s = alike.size() == 1 ? "" : "s";
        step.with += (step.with.empty() ? "" : ", and ") + fmt::format(fmt::runtime(words.with), who, s);
        step.remedy += (step.remedy.empty() ? "" : " and ") + fmt::format(fmt::runtime(words.remedy), who, s);
    }
    return step;
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
                         .steps = {step_without({disturbance})},
                         .ends_fault = true});
    }
    while (!different.empty()) {
        const CauseKind what = cause_of(different.front());
        const std::vector<Disturbance> alike =
            take_alike(different, [what](const Disturbance& one) { return cause_of(one) == what; });
        if (alike.size() > 1) {
            table.push_back({.what = what, .where = {}, .steps = {step_without(alike)}, .ends_fault = true});
        }
    }
    return table;
}

}  // namespace weir::simulation
