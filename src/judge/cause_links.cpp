#include "judge/cause_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "files/formatting.hpp"
#include "judge/network_advice.hpp"

namespace weir::judge {

using core::Duration;
using core::Role;

namespace {

constexpr double slow_rank = 0.65;  ///< its rate while it transferred, of the others'
constexpr double nearly = 0.97;
constexpr double slow_rank_busy = 0.75;  ///< and it did so for this share of the time with work

constexpr std::string_view look_at_link = "look at this host's link, cable and port";

// The link of one rank.

/// Consumers are never held up themselves.
bool may_be_held_up(const record::RankSummary& rank) {
    return rank.node.role == Role::consumer || is_held_up(rank);
}

/// Data wait before one link only.
std::optional<NamedCause> queue_at_one(const LinkUse& use, Role role, const HeldRun& run) {
    const LinkQueue& queue = use.queue;
    if (!queue.stands_at_one() || !may_be_held_up(queue.longest->summary)) {
        return std::nullopt;
    }
    return cause_at(
        links_of(role), *queue.longest, run.held.owners.network,
        fmt::format("heartbeats {} the leader took {} there, and {} elsewhere: data wait before this link.",
                    role == Role::consumer ? "from" : "to", files::readable(queue.longest_delay),
                    files::readable(std::max(queue.others_delay, queue.usual))),
        std::string(look_at_link));
}

/// Slow beside the others, which would do better: 1 is as fast as they are.
double part_of_others(const LinkUse& use) {
    return fraction(use.slowest_bits, use.others_bits);
}

/// Who happens to send to a very slow consumer is slow as well, but less so.
bool consumer_is_slower(const HeldRun& run) {
    return part_of_others(run.held.consumers) < std::min(slow_rank, part_of_others(run.held.producers) / 2);
}

bool is_lossy(const HeldRun& run) {
    const NetworkVerdict* const network = run.facts.network;
    return network != nullptr && !network->mechanisms.empty() &&
           network->mechanisms.front() == NetworkMechanism::lossy;
}

/// One was slow while it transferred, and the links of the others would do.
std::optional<NamedCause> slow_link(const LinkUse& use, Role role, double needed_bits, const HeldRun& run) {
    // Producers share consumers and scheduler: where the others are in time, it is this one's own.
    // Unless packets are lost, which meets one before another.
    const bool own = role == Role::producer && !run.plan.builds() && run.held.held_up == 1 &&
                     !is_lossy(run) && use.slowest != nullptr && is_held_up(use.slowest->summary);
    const double limit = own ? nearly : slow_rank;
    // While a rank stands still its transfers wait, and its link does not show.
    constexpr double often = 0.1;
    if (use.slowest != nullptr &&
        fraction(use.slowest->summary.stalled_with_drain, use.slowest->summary.covered) >= often) {
        return std::nullopt;
    }
    // Where data wait before the links of most, one is no exception.
    if ((role == Role::producer && !run.plan.builds() && consumer_is_slower(run)) || use.queue.stands() ||
        use.slowest == nullptr || use.others_bits <= 0 || !may_be_held_up(use.slowest->summary) ||
        use.slowest_bits > limit * use.others_bits || use.slowest_busy < slow_rank_busy ||
        use.others_bits < needed_bits) {
        return std::nullopt;
    }
    // The others had time for more and did not get it, although producers had streams: something else lacks.
    constexpr double in_use = 0.5;
    if (role == Role::consumer && use.others_mean_bits < nearly * needed_bits &&
        run.held.all_streams_share < in_use && !run.waits_in_turn()) {
        return std::nullopt;
    }
    return cause_at(
        links_of(role), *use.slowest, run.held.owners.network,
        fmt::format("it moved {} while something was transferred, {} of the time, and other {}s {}.",
                    rate_text(use.slowest_bits), files::percent(use.slowest_busy), core::role_name(role),
                    rate_text(use.others_bits)),
        std::string(look_at_link));
}

/// Heartbeats show more than rates, which MPI or UCX hide where they copy what is sent.
std::optional<NamedCause> one_link(const LinkUse& use, Role role, double needed_bits, const HeldRun& run) {
    if (run.held.owners.network < run.enough()) {
        return std::nullopt;
    }
    auto cause = queue_at_one(use, role, run);
    return cause ? std::move(cause) : slow_link(use, role, needed_bits, run);
}

std::optional<NamedCause> one_consumer_link(const HeldRun& run) {
    return one_link(run.held.consumers, Role::consumer,
                    run.held.needed_bits * run.plan.producers / run.plan.consumers, run);
}

/// It holds up its own producer, and with pattern build those that have fragments of the same events: where
/// all are held up alike, unequal rates have another reason.
std::optional<NamedCause> one_producer_link(const HeldRun& run) {
    auto cause = one_link(run.held.producers, Role::producer, run.held.needed_bits, run);
    if (!cause || run.plan.builds() || run.held.held_up * 2 <= run.plan.producers) {
        return cause;
    }
    const auto rank = std::find_if(run.ranks.begin(), run.ranks.end(), [&](const record::RankRecord& one) {
        return one.summary.node == *cause->where;
    });
    return rank->summary.sets_in_time.late * 2 > run.held.late_sets ? std::move(cause) : std::nullopt;
}

// Links of all.

std::string needed_text(const HeldRun& run, Role role) {
    const bool sends = role == Role::producer;
    return fmt::format("{} are needed of each {}",
                       rate_text(sends ? run.held.needed_bits
                                       : run.held.needed_bits * run.plan.producers / run.plan.consumers),
                       core::role_name(role));
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

/// By the speed of interfaces: whose links were full while something was transferred.
FullLinks full_by_interface(const HoldUp& held) {
    // Transfers that a rank interrupts, because it stands still, are no faster over faster links.
    const auto full = [&](const LinkUse& use) {
        constexpr double most_of_the_time = 0.5;
        return use.busy_of_interface >= full_interface &&
               (use.fullness >= most_of_the_time || !held.some_rank_stood_still);
    };
    return either(full(held.consumers), full(held.producers));
}

/// Data wait before links of one role: those are full. Nothing: heartbeats do not show it.
std::optional<FullLinks> full_by_queues(const HoldUp& held) {
    const LinkQueue& consumers = held.consumers.queue;
    const LinkQueue& producers = held.producers.queue;
    constexpr std::int64_t much = 2;
    if (consumers.stands() && (!producers.stands() || consumers.waiting() >= producers.waiting() * much)) {
        return FullLinks::of_consumers;
    }
    if (producers.stands() && (!consumers.stands() || producers.waiting() >= consumers.waiting() * much)) {
        return FullLinks::of_producers;
    }
    return std::nullopt;
}

FullLinks full_links(const HoldUp& held) {
    if (const FullLinks full = full_by_interface(held); full != FullLinks::none) {
        return full;
    }
    if (const auto full = full_by_queues(held)) {
        return *full;
    }
    return FullLinks::of_either;
}

/// How full the links of a role are, and where that is known how long messages took before them.
std::string full_text(const LinkUse& use, Role role, const HeldRun& run) {
    const std::string queue = use.queue.stands()
                                  ? fmt::format(
                                        "; heartbeats {} the leader took {} there, and {} where no data are: "
                                        "data wait before these "
                                        "links",
                                        role == Role::consumer ? "from" : "to",
                                        files::readable(use.queue.typical), files::readable(use.queue.usual))
                                  : "";
    // What a host takes in advance is no measure of its link, and links that are used in turn wait in
    // between.
    const std::string full =
        !queue.empty() && use.fullness < full_link
            ? ""
            : fmt::format(", {} of the most that they were seen to carry", files::percent(use.fullness));
    return fmt::format("{}s moved {} each while data waited{}; {}{}.", core::role_name(role),
                       rate_text(use.mean_bits), full, needed_text(run, role), queue);
}

/// Links that are hardly used are not the limit, though nothing goes through them faster. Neither are those
/// of event builders that are idle for much of the time, while no stream is left for a free slot.
bool have_room(const LinkUse& use, const HeldRun& run) {
    constexpr double hardly = 0.1;
    constexpr double mostly = 0.5;
    // With one slot a second stream would find none free.
    const bool no_stream = run.plan.builds() && run.plan.slots > 1 && run.held.all_streams_share >= mostly &&
                           run.held.slot_share < mostly && run.held.blocked_share < mostly;
    return !use.queue.stands() && use.fullness < (no_stream ? full_consumers : hardly);
}

/// Beside fewer or faster bytes: more transfers at once, where there are fewer than links.
std::string relief_of(Role role, const HeldRun& run) {
    const core::Plan& plan = run.plan;
    std::string lower = fmt::format("lower --rate, or use more {}s or faster links", core::role_name(role));
    const std::uint64_t slots = std::uint64_t{plan.slots} * plan.consumers;
    const std::uint64_t streams = std::uint64_t{plan.streams} * plan.producers;
    const std::uint64_t links = role == Role::consumer ? plan.consumers : plan.producers;
    if (plan.builds() || std::min(slots, streams) >= links) {
        return lower;
    }
    return fmt::format(
        "links are used in turn, so give {}; or {}",
        slots < streams ? "consumers more slots (--slots)" : "producers more streams (--streams)", lower);
}

// Shares of packets. The first packets of transfers meet queues too; a sender that is notified every 50 us
// (DCQCN) goes slower with less than a hundredth.
constexpr double many_marks = 0.01;
constexpr double some_marks = 0.0005;

/// Marks and pauses come from a queue in a switch: packets that wait there have left their producers. Empty:
/// there are hardly any, which says nothing where a switch makes none.
std::string_view waits_in_a_switch(const NetworkVerdict* network) {
    if (network == nullptr || network->mechanisms.empty()) {
        return "";
    }
    switch (network->mechanisms.front()) {
        case NetworkMechanism::held_back_by_pfc:
            return "Pauses";
        case NetworkMechanism::controlled_by_ecn:
            return network->marked_share.value_or(0) >= many_marks ? "Marks" : "";
        default:
            return "";
    }
}

/// Links always carried the most that they were seen to carry, which is far less than their interfaces say:
/// they may be slower than those.
bool slower_than_they_say(const HeldRun& run) {
    constexpr double far_below = 0.5;
    const auto hidden = [&](const LinkUse& use) {
        return std::max(use.busy_of_interface, use.best_of_interface) < far_below;
    };
    return run.links_full() && hidden(run.held.consumers) && hidden(run.held.producers);
}

/// What waits for chunks to come back is as steady as what a full link carries.
std::string window_hint(const HeldRun& run) {
    return fmt::format(" Or transfers wait for their own chunks: only {} of one may be under way at a time.",
                       files::counted(run.plan.window, "chunk"));
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

}  // namespace

bool is_for_links(const HeldRun& run) {
    const Owners& owners = run.held.owners;
    return owners.network >= run.enough() &&
           owners.network >= std::max({owners.processing, owners.withheld, owners.control});
}

std::optional<NamedCause> link_of_one(const HeldRun& run) {
    if (!is_for_links(run)) {
        return std::nullopt;
    }
    const LinkQueue& producers = run.held.producers.queue;
    const LinkQueue& consumers = run.held.consumers.queue;
    const bool queues = producers.stands_at_one() || consumers.stands_at_one();
    const bool one_late = run.held.held_up == 1 && run.plan.producers > 1 && !run.plan.builds();
    const bool producer =
        queues ? producers.stands_at_one() &&
                     (!consumers.stands_at_one() || producers.longest_delay > consumers.longest_delay)
        : one_late ? !consumer_is_slower(run)
                   : part_of_others(run.held.producers) < part_of_others(run.held.consumers);
    auto first = producer ? one_producer_link(run) : one_consumer_link(run);
    return first ? std::move(first) : producer ? one_consumer_link(run) : one_producer_link(run);
}

std::optional<NamedCause> links_of_all(const HeldRun& run) {
    const HoldUp& held = run.held;
    if (!run.links_full() || !is_for_links(run)) {
        return std::nullopt;
    }
    const FullLinks full = full_links(held);
    const bool alike = full == FullLinks::of_either && full_by_interface(held) == FullLinks::none;
    const std::string_view waits = alike ? waits_in_a_switch(run.facts.network) : "";
    if (alike && waits.empty()) {
        const bool waits_for_chunks = held.travel.rounds > 1;
        return cause_of(
            CauseKind::not_told, held.owners.network,
            fmt::format("links of consumers and of producers look equally full: {} and {} each while data "
                        "waited, and {}.{}{}",
                        rate_text(held.consumers.mean_bits), rate_text(held.producers.mean_bits),
                        needed_text(run, Role::producer), waits_for_chunks ? window_hint(run) : "",
                        stall_hint(run)),
            fmt::format(
                "run it with half of the producers: if each of them then moves more, links of consumers "
                "are full, else those of producers{}",
                waits_for_chunks ? ", or chunks are too few: try a larger --window" : ""));
    }
    const bool consumers = full == FullLinks::of_consumers || !waits.empty() ||
                           (full == FullLinks::of_either &&
                            held.consumers.busy_of_interface >= held.producers.busy_of_interface);
    const Role role = consumers ? Role::consumer : Role::producer;
    if (waits.empty() && have_room(consumers ? held.consumers : held.producers, run)) {
        return std::nullopt;
    }
    const std::string behind =
        waits.empty()
            ? ""
            : fmt::format(
                  " {} show that data wait in a switch and not before links of producers: before those of "
                  "consumers or, if there are several switches, before a cable between them.",
                  waits);
    return cause_of(links_of(role), held.owners.network,
                    full_text(consumers ? held.consumers : held.producers, role, run) + behind,
                    relief_of(role, run));
}

/// What counters show of the network between the links.
std::optional<NamedCause> network_mechanism(const HeldRun& run) {
    const NetworkVerdict* const network = run.facts.network;
    if (network == nullptr || network->mechanisms.empty() || run.held.owners.network < run.enough()) {
        return std::nullopt;
    }
    const CauseKind what = kind_of(network->mechanisms.front(), *network);
    const bool few_marks = network->mechanisms.front() == NetworkMechanism::controlled_by_ecn &&
                           network->marked_share.value_or(1) < some_marks;
    if (what == CauseKind::not_told || few_marks) {
        return std::nullopt;
    }
    const NetworkAdvice advice = advise_on_network(run.plan, run.facts);
    return cause_of(what, run.held.owners.network,
                    fmt::format("{} Transfers took {}.", advice.text, owned_text(run.held.owners.network)),
                    advice.advice);
}

std::optional<NamedCause> slowed_beside_open_links(const HeldRun& run) {
    const NetworkVerdict* const network = run.facts.network;
    // Of measured links it is not known whether hosts can fill them.
    if (run.facts.simulated == nullptr || network == nullptr || network->mechanisms.empty() ||
        !is_for_links(run)) {
        return std::nullopt;
    }
    const NetworkMechanism first = network->mechanisms.front();
    const bool slowed =
        first == NetworkMechanism::controlled_by_ecn || first == NetworkMechanism::slowed_by_cnp;
    const auto open = [](const LinkUse& use) {
        return use.busy_of_interface > 0 && use.busy_of_interface < full_interface && !use.queue.stands();
    };
    if (!slowed || !open(run.held.consumers) || !open(run.held.producers) || slower_than_they_say(run)) {
        return std::nullopt;
    }
    // A full link carries always the same. Where those of both roles do, it is one that is slower than it
    // says.
    constexpr double differ = 0.15;
    const bool unsteady = run.held.link_deviation >= differ && run.held.consumer_link_deviation >= differ;
    const auto full = links_of_all(run);
    return full && (full->what != CauseKind::not_told || unsteady) ? network_mechanism(run) : std::nullopt;
}

std::optional<NamedCause> losses_beside_open_links(const HeldRun& run) {
    const bool open =
        run.held.consumers.busy_of_interface > 0 && full_by_interface(run.held) == FullLinks::none;
    // Connections lose packets at a full link too, which is how they find its rate.
    const bool waits = run.held.consumers.queue.stands() || run.held.producers.queue.stands();
    if (!is_lossy(run) || !open || waits || !is_for_links(run)) {
        return std::nullopt;
    }
    if (!slower_than_they_say(run)) {
        return network_mechanism(run);
    }
    const NetworkAdvice advice = advise_on_network(run.plan, run.facts);
    return cause_of(CauseKind::not_told, run.held.owners.network,
                    fmt::format("packets were lost, and links always carried the most that they were seen to "
                                "carry, which is less than their interfaces say. {}",
                                advice.text),
                    advice.advice);
}

}  // namespace weir::judge
