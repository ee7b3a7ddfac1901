#include "telemetry/verdict_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "telemetry/cause_rules.hpp"
#include "telemetry/formatting.hpp"
#include "telemetry/network_advice.hpp"

namespace weir::telemetry {

using core::Duration;
using core::Role;

namespace {

constexpr double slow_rank = 0.65;       ///< its rate while it transferred, of the others'
constexpr double slow_rank_busy = 0.75;  ///< and it did so for this share of the time with work
constexpr double saturated = 0.85;       ///< of the time with work the scheduler handled messages
constexpr double few_events = 4;         ///< of a set, per consumer
constexpr double limit_reached = 0.85;   ///< of --outstanding
constexpr double requests_in_use = 0.6;  ///< of --requests

std::string rate_text(double bits_per_second) {
    return readable(core::BitRate{std::llround(bits_per_second)});
}

using Rule = std::optional<NamedCause> (*)(const HeldRun&);

// The link of one rank.

/// Consumers are never held up themselves.
bool may_be_held_up(const RankSummary& rank) {
    return rank.node.role == Role::consumer || is_held_up(rank);
}

/// Alone only if the links of the others would do.
std::optional<NamedCause> slow_link(const LinkUse& use, CauseKind what, const char* role, double needed_bits,
                                    const HeldRun& run) {
    if (use.slowest == nullptr || use.others_bits <= 0 || !may_be_held_up(use.slowest->summary) ||
        use.slowest_bits > slow_rank * use.others_bits || use.slowest_busy < slow_rank_busy ||
        use.others_bits < needed_bits || run.held.owners.network < run.enough()) {
        return std::nullopt;
    }
    return cause_at(
        what, *use.slowest, run.held.owners.network,
        fmt::format("it moved {} while something was transferred, {} of the time, and other {} {}.",
                    rate_text(use.slowest_bits), percent(use.slowest_busy), role, rate_text(use.others_bits)),
        "look at this host's link, cable and port");
}

std::optional<NamedCause> one_consumer_link(const HeldRun& run) {
    return slow_link(run.held.consumers, CauseKind::consumer_links, "consumers",
                     run.held.needed_bits * run.plan.producers / run.plan.consumers, run);
}

/// It holds up its own producer, and with pattern build those that have fragments of the same events: where
/// all are held up alike, unequal rates have another reason.
std::optional<NamedCause> one_producer_link(const HeldRun& run) {
    const RankRecord* const slowest = run.held.producers.slowest;
    const bool few = run.held.held_up * 2 <= run.plan.producers;
    const bool most_late = slowest != nullptr && slowest->summary.sets_in_time.late * 2 > run.held.late_sets;
    if (!few && !most_late && !run.plan.builds()) {
        return std::nullopt;
    }
    return slow_link(run.held.producers, CauseKind::producer_links, "producers", run.held.needed_bits, run);
}

// Who owns the time.

std::optional<NamedCause> scheduler_saturated(const HeldRun& run) {
    const HoldUp& held = run.held;
    if (held.handling_share < saturated) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::scheduler, std::max(held.owners.control, held.handling_share),
        fmt::format("it handled messages for {} of the time in which producers had data to send, {} "
                    "for each event.",
                    percent(held.handling_share), readable(held.handling_each)),
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

std::string needed_text(const HeldRun& run) {
    return fmt::format("{} are needed of each producer", rate_text(run.held.needed_bits));
}

/// Where ranks did not run for long, the host was measured and not the network.
std::string stall_hint(const HeldRun& run) {
    const auto longest =
        std::max_element(run.ranks.begin(), run.ranks.end(), [](const RankRecord& a, const RankRecord& b) {
            return a.summary.poll_gap_max_with_drain < b.summary.poll_gap_max_with_drain;
        });
    if (longest == run.ranks.end() ||
        longest->summary.poll_gap_max_with_drain < Duration::milliseconds(100)) {
        return "";
    }
    return fmt::format(
        " Note that {} did not run for up to {}: its host may be too busy for this measurement.",
        node_text(longest->summary.node, longest->host), readable(longest->summary.poll_gap_max_with_drain));
}

enum class FullLinks : std::uint8_t { none, of_consumers, of_producers, of_either };

constexpr double full_consumers = 0.75;  ///< they receive in turn, and cannot take what is not sent
constexpr double full_interface = 0.88;  ///< headers take up to a tenth of it

FullLinks either(bool consumers, bool producers) {
    return consumers && producers ? FullLinks::of_either
           : consumers            ? FullLinks::of_consumers
           : producers            ? FullLinks::of_producers
                                  : FullLinks::none;
}

/// By the speed of interfaces: whose links carried all that they say while something was transferred.
FullLinks full_by_interface(const HoldUp& held) {
    return either(held.consumers.busy_of_interface >= full_interface,
                  held.producers.busy_of_interface >= full_interface);
}

/// Of which role the interfaces carried most of what they say, at their best; none: of neither clearly more.
FullLinks fuller_interface(const HoldUp& held) {
    constexpr double much = 0.7;
    constexpr double clearly_more = 1.5;
    const double consumers = held.consumers.best_of_interface;
    const double producers = held.producers.best_of_interface;
    return consumers >= much && consumers >= clearly_more * producers   ? FullLinks::of_consumers
           : producers >= much && producers >= clearly_more * consumers ? FullLinks::of_producers
                                                                        : FullLinks::of_either;
}

/// Where what producers' links carried was always the same and the transfers were not, these links are full.
/// Where it depended on the transfers, or each of these had the same rate, those of consumers are. Where all
/// is always the same, only interfaces can tell.
FullLinks full_by_rates(const HoldUp& held) {
    constexpr double alike = 0.03;
    constexpr double differ = 0.06;
    if (held.link_rates.within >= differ ||
        (held.link_rates.of_all >= differ && held.transfer_rates.of_all < alike)) {
        return held.consumers.fullness >= full_consumers ? FullLinks::of_consumers : fuller_interface(held);
    }
    if (held.link_rates.of_all < alike && held.transfer_rates.of_all >= differ &&
        held.producers.fullness >= full_link) {
        return FullLinks::of_producers;
    }
    return fuller_interface(held);
}

/// Whether the time of transfers is more than any other owner's, and enough.
bool is_for_links(const HeldRun& run) {
    const Owners& owners = run.held.owners;
    return owners.network >= run.enough() &&
           owners.network >= std::max({owners.processing, owners.withheld, owners.control});
}

std::optional<NamedCause> links_of_all(const HeldRun& run) {
    const HoldUp& held = run.held;
    if (!run.links_full() || !is_for_links(run)) {
        return std::nullopt;
    }
    FullLinks full = full_by_interface(held);
    if (full == FullLinks::none) {
        full = full_by_rates(held);
        if (full == FullLinks::of_either) {
            return cause_of(
                CauseKind::not_told, held.owners.network,
                fmt::format(
                    "links of consumers and of producers look equally full: {} and {} each while data "
                    "waited, and {}.{}",
                    rate_text(held.consumers.mean_bits), rate_text(held.producers.mean_bits),
                    needed_text(run), stall_hint(run)),
                "");
        }
    }
    if (full == FullLinks::none) {
        return std::nullopt;
    }
    const bool consumers = full == FullLinks::of_consumers ||
                           (full == FullLinks::of_either &&
                            held.consumers.busy_of_interface >= held.producers.busy_of_interface);
    const LinkUse& use = consumers ? held.consumers : held.producers;
    return cause_of(consumers ? CauseKind::consumer_links : CauseKind::producer_links, held.owners.network,
                    fmt::format("{} moved {} each while data waited, {} of the most that they were seen to "
                                "carry; {}.",
                                consumers ? "consumers" : "producers", rate_text(use.mean_bits),
                                percent(use.fullness), needed_text(run)),
                    consumers ? "lower --rate, or use more consumers or faster links"
                              : "lower --rate, or use more producers or faster links");
}

/// The link of one rank: of whichever stands out more.
std::optional<NamedCause> link_of_one(const HeldRun& run) {
    if (!is_for_links(run)) {
        return std::nullopt;
    }
    const auto part = [](const LinkUse& use) { return fraction(use.slowest_bits, use.others_bits); };
    const bool producer = part(run.held.producers) < part(run.held.consumers);
    auto first = producer ? one_producer_link(run) : one_consumer_link(run);
    return first ? std::move(first) : producer ? one_consumer_link(run) : one_producer_link(run);
}

/// Share `text`s of the time of held-up events.
std::string owned_text(double share) {
    return fmt::format("{} of the time in which producers had data to send", percent(share));
}

std::optional<NamedCause> processing(const HeldRun& run) {
    const HoldUp& held = run.held;
    return cause_of(
        CauseKind::processing, held.owners.processing,
        fmt::format("slots that held events for processing cost {}; consumers worked on events for {} "
                    "of theirs and were blocked for {}.",
                    owned_text(held.owners.processing), percent(held.processing_share),
                    percent(held.blocked_share)),
        "use more consumers, shorten their processing (--busy), or give them more slots (--slots)");
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
        fmt::format("{:.1f} events were assigned and not finished on average, and --outstanding is {}.",
                    run.held.outstanding, run.plan.assigned_events),
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
        fmt::format("a consumer asks for {} at a time; {:.1f} were transferred to each, and producers "
                    "transferred for {}.",
                    counted(run.plan.requests, "fragment"), run.held.transfers_to_consumer,
                    owned_text(run.held.transfer_share)),
        "raise --requests");
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
                        percent(held.handling_share)),
            "use fewer and larger events (--event-size), and give the scheduler's rank a core of its "
            "own");
    }
    return cause_of(CauseKind::control_latency, held.owners.control,
                    fmt::format("{}, and the scheduler handled messages for only {} of it.", cost,
                                percent(held.handling_share)),
                    "use larger events (--event-size), or more slots and streams");
}

/// The kind of cause that a mechanism is; not_told: none.
CauseKind kind_of(NetworkMechanism mechanism, const NetworkVerdict& network) {
    switch (mechanism) {
        case NetworkMechanism::lossy:
            return network.dropping_host.empty() ? CauseKind::switch_loss : CauseKind::host_loss;
        case NetworkMechanism::held_back_by_pfc:
        case NetworkMechanism::pauses_sent:
            return CauseKind::pfc;
        case NetworkMechanism::controlled_by_ecn:
        case NetworkMechanism::slowed_by_cnp:
            return CauseKind::ecn;
        case NetworkMechanism::nothing_counted:
        case NetworkMechanism::unknown:
            break;
    }
    return CauseKind::not_told;
}

/// What counters say of the network between the links.
std::optional<NamedCause> mechanism(const HeldRun& run) {
    const NetworkVerdict* const network = run.facts.network;
    if (network == nullptr || network->mechanisms.empty() || run.held.owners.network < run.enough()) {
        return std::nullopt;
    }
    const CauseKind what = kind_of(network->mechanisms.front(), *network);
    if (what == CauseKind::not_told) {
        return std::nullopt;
    }
    const NetworkAdvice advice = advise_on_network(run.plan, run.facts);
    return cause_of(what, run.held.owners.network,
                    fmt::format("transfers took {}. {}", owned_text(run.held.owners.network), advice.text),
                    advice.advice);
}

/// Packets were lost, and no interface carried what it says.
std::optional<NamedCause> losses_beside_open_links(const HeldRun& run) {
    const NetworkVerdict* const network = run.facts.network;
    const bool lossy = network != nullptr && !network->mechanisms.empty() &&
                       network->mechanisms.front() == NetworkMechanism::lossy;
    const bool open =
        run.held.consumers.busy_of_interface > 0 && full_by_interface(run.held) == FullLinks::none;
    return lossy && open && is_for_links(run) ? mechanism(run) : std::nullopt;
}

std::optional<NamedCause> few_slots(const HeldRun& run) {
    const HoldUp& held = run.held;
    if (held.slot_share < std::max(0.2, run.enough())) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::slots, held.slot_share,
        fmt::format("producers waited for a free slot for {}, and consumers received {} each, {} of "
                    "the most that their links were seen to carry.",
                    owned_text(held.slot_share), rate_text(held.consumers.mean_bits),
                    percent(held.consumers.fullness)),
        "give consumers more slots (--slots)");
}

std::optional<NamedCause> few_streams(const HeldRun& run) {
    const HoldUp& held = run.held;
    // With pattern build the scheduler does not count streams.
    if (held.all_streams_share < 0.5 || (!run.plan.builds() && held.scheduler_stream_share < 0.5)) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::streams, held.all_streams_share,
        fmt::format("all streams of producers were in use for {} while slots were free, and their links "
                    "carried {} of the most that they were seen to carry.",
                    owned_text(held.all_streams_share), percent(held.producers.fullness)),
        "give producers more streams (--streams)");
}

std::optional<NamedCause> large_events(const HeldRun& run) {
    const core::Plan& plan = run.plan;
    const double per_consumer = fraction(static_cast<double>(plan.set_bytes().count) * plan.producers,
                                         std::max(1.0, plan.event_size.mean) * plan.consumers);
    if (plan.addressed() || plan.builds() || per_consumer >= few_events || run.held.shortfall > 0.05) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::event_size, run.held.owners.network,
        fmt::format("a consumer gets {:.1f} events of a set on average, so some get one more than "
                    "others.",
                    per_consumer),
        "use smaller events (--event-size)");
}

NamedCause not_told(const HeldRun& run) {
    const HoldUp& held = run.held;
    const NetworkAdvice advice = advise_on_network(run.plan, run.facts);
    // Of ranks that are known by their last report only there is no more.
    const bool links_known = held.producers.fullness > 0 && held.consumers.fullness > 0;
    const std::string links =
        links_known ? fmt::format(
                          "; links of consumers carried {} of the most that they were seen to carry, of "
                          "producers {}",
                          percent(held.consumers.fullness), percent(held.producers.fullness))
                    : "";
    return cause_of(CauseKind::not_told, 0,
                    fmt::format("transfers took {}, and messages {}{}.{}{}{}",
                                owned_text(held.owners.network), percent(held.owners.control), links,
                                advice.text.empty() ? "" : " ", advice.text, stall_hint(run)),
                    advice.advice);
}

void append(std::vector<NamedCause>& causes, std::optional<NamedCause> cause) {
    if (cause) {
        causes.push_back(*std::move(cause));
    }
}

/// Of those that own time: the largest first, if it is enough.
void add_owners(const HeldRun& run, std::vector<NamedCause>& causes) {
    const Owners& owners = run.held.owners;
    struct Owner {
        double share;
        double most;  ///< what it may own, with what it cannot be told from
        Rule rule;
    };
    // Of three ways, that of the data's first bytes counts as receiving.
    constexpr double ways = 1.5;
    std::array<Owner, 3> all{{{owners.processing, owners.processing, processing},
                              {owners.withheld, owners.withheld, withheld},
                              {owners.control, owners.control * ways, control}}};
    std::stable_sort(all.begin(), all.end(),
                     [](const Owner& a, const Owner& b) { return a.share > b.share; });
    for (const Owner& owner : all) {
        if (owner.share >= owner_min && owner.most >= run.enough()) {
            append(causes, owner.rule(run));
        }
    }
}

/// From the time of held-up events. None: nothing owns enough of it.
std::vector<NamedCause> owners_of_time(const HeldRun& run) {
    std::vector<NamedCause> causes;
    constexpr std::array<Rule, 5> first{scheduler_saturated, shaped, link_of_one, losses_beside_open_links,
                                        links_of_all};
    for (const Rule rule : first) {
        append(causes, rule(run));
        if (!causes.empty()) {
            // One slow link behind a switch that pauses holds up others than its own.
            if (causes.front().where) {
                append(causes, mechanism(run));
            }
            return causes;
        }
    }
    append(causes, outstanding(run));
    append(causes, requests(run));
    add_owners(run, causes);
    if (causes.empty() && is_for_links(run)) {
        for (const Rule rule : {mechanism, few_slots, few_streams, large_events}) {
            append(causes, rule(run));
        }
    }
    return causes;
}

}  // namespace

std::vector<NamedCause> attribute_causes(const core::Plan& plan, std::span<const RankRecord> ranks,
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

}  // namespace weir::telemetry
