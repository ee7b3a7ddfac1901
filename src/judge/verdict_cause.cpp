#include "judge/verdict_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "files/formatting.hpp"
#include "judge/cause_interfaces.hpp"
#include "judge/cause_leaves.hpp"
#include "judge/cause_links.hpp"
#include "judge/cause_rules.hpp"
#include "judge/cause_switches.hpp"
#include "judge/network_advice.hpp"

namespace weir::judge {

using core::Duration;
using core::Role;

namespace {

constexpr double saturated = 0.85;       ///< of the time with work the scheduler handled messages
constexpr double limit_reached = 0.85;   ///< of --outstanding
constexpr double requests_in_use = 0.6;  ///< of --requests

using Rule = std::optional<NamedCause> (*)(const HeldRun&);

// Who owns the time.

std::optional<NamedCause> scheduler_saturated(const HeldRun& run) {
    const HoldUp& held = run.held;
    if (held.handling_share < saturated || held.owners.processing > held.owners.control) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::scheduler, std::max(held.owners.control, held.handling_share),
        fmt::format("it handled messages for {} of the time in which producers had data to send, {} "
                    "for each event.",
                    files::percent(held.handling_share), files::readable(held.handling_each)),
        "use fewer and larger events (--event-size), and give the scheduler's rank a core of its own");
}

/// Payload per second that --shaping lets a producer send; 0: it is not shaped.
double shaped_bits(const core::Plan& plan) {
    switch (plan.shaping.kind) {
        case core::ShapingKind::bucket:
            return static_cast<double>(plan.shaping.rate.bits_per_second);
        case core::ShapingKind::in_step:
            return fraction(static_cast<double>(plan.chunk_size.count) * 8, plan.shaping.grid.in_seconds());
        case core::ShapingKind::none:
            break;
    }
    return 0;
}

std::optional<NamedCause> shaped(const HeldRun& run) {
    const double limit = shaped_bits(run.plan);
    const double mean = run.held.producers.mean_bits;
    if (limit <= 0 || mean < 0.9 * limit) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::shaping, run.held.transfer_share,
        fmt::format("--shaping lets a producer send {}, and they sent {} each while they had data.",
                    rate_text(limit), rate_text(mean)),
        "raise the rate of --shaping");
}

/// Of several consumers the only one that has something to process; nullptr: there are more, or none.
const record::RankRecord* only_busy_consumer(const HeldRun& run) {
    if (run.plan.busy_consumers.size() != 1 || run.plan.consumers < 2) {
        return nullptr;
    }
    const core::NodeId node{Role::consumer, run.plan.busy_consumers.front()};
    const auto found = std::find_if(run.ranks.begin(), run.ranks.end(), [&](const record::RankRecord& rank) {
        return rank.summary.node == node;
    });
    return found == run.ranks.end() ? nullptr : &*found;
}

std::optional<NamedCause> processing(const HeldRun& run) {
    const HoldUp& held = run.held;
    if (const record::RankRecord* const busy = only_busy_consumer(run)) {
        const record::RankSummary& summary = busy->summary;
        return cause_at(
            CauseKind::processing, *busy, held.owners.processing,
            fmt::format("it processed for {} of the run, and its full slots cost {}.",
                        files::percent(fraction(summary.time.processing, summary.covered)),
                        owned_text(held.owners.processing)),
            run.plan.policy == core::PolicyKind::round_robin
                ? "--policy balanced does not wait for one consumer while others have room; or shorten "
                  "its processing (--busy)"
                : "shorten its processing (--busy), or give consumers more slots (--slots)");
    }
    return cause_of(
        CauseKind::processing, held.owners.processing,
        fmt::format("consumers processed for {} of the run, and their full slots cost {}.",
                    files::percent(held.processing_share), owned_text(held.owners.processing)),
        "use more consumers, shorten their processing (--busy), or give them more slots (--slots)");
}

/// Consumers that work on events all the time cannot take more, whatever is under way meanwhile.
std::optional<NamedCause> saturated_consumers(const HeldRun& run) {
    constexpr double all = 0.98;
    return run.held.processing_share >= all ? processing(run) : std::nullopt;
}

std::optional<NamedCause> withheld(const HeldRun& run) {
    return cause_of(
        CauseKind::high_water, run.held.owners.withheld,
        fmt::format("slots without a credit, because their consumer held --high-water events, cost {}.",
                    owned_text(run.held.owners.withheld)),
        "raise --high-water");
}

bool is_limited_by_outstanding(const HeldRun& run) {
    return run.plan.builds() && run.plan.assigned_events > 0 &&
           run.held.outstanding >= limit_reached * run.plan.assigned_events &&
           run.plan.assigned_events < run.plan.slots * run.plan.consumers;
}

std::optional<NamedCause> outstanding(const HeldRun& run) {
    if (!is_limited_by_outstanding(run)) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::outstanding, std::max(run.held.owners.control, run.held.grant_share),
        fmt::format("{} events were assigned and not finished on average, and --outstanding is {}.",
                    files::number(run.held.outstanding), run.plan.assigned_events),
        "raise --outstanding");
}

/// --requests is less than an event has fragments, or about as many as were transferred at a time.
bool asks_for_few(const HeldRun& run) {
    const core::Plan& plan = run.plan;
    if (!plan.pulls() || plan.requests == 0 ||
        plan.requests >= std::uint64_t{plan.slots} * plan.fragments_per_event()) {
        return false;
    }
    return plan.requests < plan.fragments_per_event() ||
           run.held.transfers_to_consumer >= requests_in_use * plan.requests;
}

std::optional<NamedCause> requests(const HeldRun& run) {
    if (!asks_for_few(run)) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::requests, 1 - run.held.transfer_share,
        fmt::format("a consumer asks for {} at a time; {} were transferred to each, and producers "
                    "transferred for {}.",
                    files::counted(run.plan.requests, "fragment"),
                    files::number(run.held.transfers_to_consumer), owned_text(run.held.transfer_share)),
        "raise --requests");
}

/// Transfers that are mostly on their way, there and back: the links would carry more. A window that comes
/// back sooner, or more of it, is what a user can change; the way itself he hardly can.
std::optional<NamedCause> travelling(const HeldRun& run) {
    constexpr double mostly = 0.55;
    const core::NetworkPlan* const simulated = run.facts.simulated;
    // Data of a fluid are nowhere on the way. In a measured run messages may wait for who reads them, or
    // behind data: only heartbeats tell the way.
    const bool heard =
        run.held.producers.queue.back > Duration{} || run.held.consumers.queue.back > Duration{};
    if (simulated != nullptr ? simulated->model == core::NetworkModel::fluid : !heard) {
        return std::nullopt;
    }
    const Travel& travel = run.held.travel;
    const double share = travel.share(travel.rounds);
    if (share < mostly || !is_for_links(run)) {
        return std::nullopt;
    }
    const std::string way = files::readable(travel.way);
    const std::string transfer = files::readable(travel.transfer);
    // Of the time of held-up events, if all of a transfer could be under way at once.
    const double left = 1 - run.held.owners.network * (share - travel.share(1));
    if (travel.rounds > 1 && run.held.producers.mean_bits >= left * run.held.needed_bits) {
        return cause_of(CauseKind::window, share * run.held.owners.network,
                        fmt::format("a transfer took {}, of which {} were {} ways there and back, {} in "
                                    "each direction, because {} may be under way at a time.",
                                    transfer, files::percent(share), files::number(travel.rounds), way,
                                    files::counted(run.plan.window, "chunk")),
                        "raise --window, or --chunk-size");
    }
    return cause_of(CauseKind::control_latency, share * run.held.owners.network,
                    fmt::format("a transfer took {}, of which {} were on the way: {} in each direction.",
                                transfer, files::percent(share), way),
                    travel.rounds > 1 ? "raise --window, or --chunk-size, and use more slots and streams"
                                      : "use larger events (--event-size), or more slots and streams");
}

/// The time of messages: the scheduler's, if handling them takes much of it, else that of the way.
std::optional<NamedCause> control(const HeldRun& run) {
    const HoldUp& held = run.held;
    const double handling =
        static_cast<double>(held.handling_each.ns) / std::max(0.05, 1 - held.handling_share);
    const bool scheduler =
        held.handling_share >= 0.5 ||
        (held.control_each > Duration{} && handling >= 0.5 * static_cast<double>(held.control_each.ns));
    const std::string cost =
        fmt::format("messages on their way, or not read yet, cost {}", owned_text(held.owners.control));
    if (scheduler) {
        return cause_of(
            CauseKind::scheduler, held.owners.control,
            fmt::format("{}; the scheduler handled messages for {} of it.", cost,
                        files::percent(held.handling_share)),
            "use fewer and larger events (--event-size), and give the scheduler's rank a core of its "
            "own");
    }
    return cause_of(CauseKind::control_latency, held.owners.control,
                    fmt::format("{}, and the scheduler needed {} of it for messages.", cost,
                                files::percent(held.handling_share)),
                    "use larger events (--event-size), or more slots and streams");
}

NamedCause not_told(const HeldRun& run) {
    const HoldUp& held = run.held;
    const NetworkAdvice advice = advise_on_network(run.plan, run.facts);
    // Ranks that are known by their last report only have no account of links.
    const bool links_known = held.producers.fullness > 0 && held.consumers.fullness > 0;
    const std::string links =
        links_known ? fmt::format(
                          "; links of consumers carried {} of the most that they were seen to carry, of "
                          "producers {}",
                          files::percent(held.consumers.fullness), files::percent(held.producers.fullness))
                    : "";
    return cause_of(CauseKind::not_told, 0,
                    fmt::format("transfers took {}, and messages {}{}.{}{}{}",
                                owned_text(held.owners.network), files::percent(held.owners.control), links,
                                advice.text.empty() ? "" : " ", advice.text, stall_hint(run)),
                    advice.advice);
}

void append(std::vector<NamedCause>& causes, std::optional<NamedCause> cause) {
    if (cause) {
        causes.push_back(*std::move(cause));
    }
}

/// Adds those that own enough of the time, the largest first.
void add_owners(const HeldRun& run, std::vector<NamedCause>& causes) {
    Owners owners = run.held.owners;
    // Consumers that always work keep credits back for no other reason.
    constexpr double always = 0.9;
    if (run.held.processing_share >= always) {
        owners.processing += std::exchange(owners.withheld, 0);
    }
    struct Owner {
        double share;
        double most;    ///< what it may own, with what it cannot be separated from
        double beside;  ///< of what transfers own it must own so much: else it is not named
        Rule rule;
    };
    // An event takes three one-way delays; that of its first bytes counts as receiving: 3 / 2.
    constexpr double ways = 1.5;
    std::array<Owner, 3> all{{{owners.processing, owners.processing, 0.8, processing},
                              {owners.withheld, owners.withheld, 1.0, withheld},
                              {owners.control, owners.control * ways, 0.6, control}}};
    std::stable_sort(all.begin(), all.end(),
                     [](const Owner& a, const Owner& b) { return a.share > b.share; });
    for (const Owner& owner : all) {
        if (owner.share >= owner_min && owner.most >= run.enough() &&
            owner.most >= owner.beside * owners.network) {
            append(causes, owner.rule(run));
        }
    }
}

/// From the time of held-up events. None: nothing owns enough of it.
std::vector<NamedCause> owners_of_time(const HeldRun& run) {
    std::vector<NamedCause> causes;
    constexpr std::array<Rule, 11> first{interfaces_too_slow,
                                         scheduler_saturated,
                                         shaped,
                                         saturated_consumers,
                                         between_hosts,
                                         between_leaves,
                                         travelling,
                                         link_of_one,
                                         losses_beside_open_links,
                                         slowed_beside_open_links,
                                         links_of_all};
    for (const Rule rule : first) {
        append(causes, rule(run));
        if (!causes.empty()) {
            // One slow link behind a switch that pauses holds up others than its own. Marks and
            // losses there come of that link.
            auto mechanism = causes.front().where ? network_mechanism(run) : std::nullopt;
            if (mechanism && mechanism->what == CauseKind::pfc) {
                causes.push_back(*std::move(mechanism));
            }
            return causes;
        }
    }
    append(causes, outstanding(run));
    append(causes, requests(run));
    add_owners(run, causes);
    if (causes.empty() && is_for_links(run)) {
        append(causes, network_mechanism(run));
    }
    return causes;
}

}  // namespace

std::string owned_text(double share) {
    return fmt::format("{} of the time in which producers had data to send", files::percent(share));
}

std::string stall_hint(const HeldRun& run) {
    const auto longest = std::max_element(
        run.ranks.begin(), run.ranks.end(), [](const record::RankRecord& a, const record::RankRecord& b) {
            return a.summary.poll_gap_max_with_drain < b.summary.poll_gap_max_with_drain;
        });
    if (longest == run.ranks.end() ||
        longest->summary.poll_gap_max_with_drain < Duration::milliseconds(100)) {
        return "";
    }
    return fmt::format(
        " Note that {} did not run for up to {}: its host may be too busy for this measurement.",
        files::node_text(longest->summary.node, longest->host),
        files::readable(longest->summary.poll_gap_max_with_drain));
}

std::vector<NamedCause> attribute_causes(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                                         const RunFacts& facts) {
    constexpr double most = 0.5;
    const HeldRun run{plan, ranks, facts, sum_up_hold_up(plan, ranks, facts.interface_rates)};
    std::optional<NamedCause> incident = find_incident(run);
    if (incident && (incident->what != CauseKind::lost_consumers || incident->share >= most)) {
        return {*std::move(incident)};
    }
    std::vector<NamedCause> causes = owners_of_time(run);
    append(causes, std::move(incident));
    if (causes.empty()) {
        causes.push_back(not_told(run));
    }
    return causes;
}

}  // namespace weir::judge
