#include "telemetry/verdict_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/set_phase.hpp"
#include "telemetry/formatting.hpp"
#include "telemetry/network_advice.hpp"

namespace weir::telemetry {

using core::Role;

namespace {

// From these shares on something counts as the main cause. They separate the clear cases; where several are
// near, the text's numbers let a reader judge.
constexpr double stalled_share_min = 0.10;    ///< of the time a producer's loop did not run
constexpr double generated_share_min = 0.98;  ///< of the planned data
constexpr double blocked_share_min = 0.005;   ///< of the consumers' time
constexpr double slot_share_min = 0.10;       ///< of the time in which producers had data to send
constexpr double grant_share_min = 0.20;      ///< likewise
constexpr double lost_share_min = 0.01;       ///< of the generated events, on the way

double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}
double ratio(core::Duration part, core::Duration whole) {
    return ratio(static_cast<double>(part.ns), static_cast<double>(whole.ns));
}

/// What the rules for the cause compare.
struct Evidence {
    TimeUse time;                               ///< sums over the producers that were held up
    const RankRecord* most_stalled = nullptr;   ///< producer, by share of time
    const RankRecord* longest_stall = nullptr;  ///< of the event loop, any rank
    double stalled_share = 0;
    double generated_share = 1;  ///< of the planned data, of the latest producer
    const RankRecord* least_generated = nullptr;
    double blocked_share = 0;
    std::uint64_t generated_events = 0;
    std::uint64_t lost_on_the_way = 0;
    std::uint64_t dropped = 0;
    double needed_bits_per_second = 0;     ///< by all producers
    double received_bits_per_second = 0;   ///< by all consumers
    double unblocked_bits_per_second = 0;  ///< what consumers would receive if none was ever blocked
    // Shares of the time in which producers that were held up had data to send.
    double slot_share = 0;      ///< waiting for a slot
    double grant_share = 0;     ///< waiting for a grant
    double transfer_share = 0;  ///< transferring
};

/// Sums over the consumers.
struct ConsumerSums {
    core::Duration covered;
    core::Duration blocked;
    double received_bits = 0;
    double longest_s = 0;
};

void add_consumer(const core::Plan& plan, const RankSummary& summary, ConsumerSums& sums,
                  Evidence& evidence) {
    sums.covered += summary.covered;
    sums.blocked += summary.time.blocked;
    sums.received_bits += static_cast<double>(summary.measured.received.bytes.count) * 8;
    sums.longest_s = std::max(sums.longest_s, summary.covered.in_seconds());
    evidence.lost_on_the_way += plan.lossy() ? summary.run.lost.events : 0;
}

/// The measured time in which data was generated. The last second's row also has what follows the end.
core::Duration generating(const core::Plan& plan, const RankSummary& summary) {
    return std::min(summary.covered, plan.duration);
}

/// Sets that are complete by the end of what was covered.
core::Bytes planned_bytes_addressed(const core::Plan& plan, const RankSummary& summary) {
    return plan.traffic->set_bytes({summary.node.index}) * (generating(plan, summary).ns / plan.interval.ns);
}

core::Bytes planned_bytes(const core::Plan& plan, const RankSummary& summary) {
    // Sets come at the beginning of an interval, so an interrupted run may show more than its time's share.
    if (plan.addressed()) {
        return planned_bytes_addressed(plan, summary);
    }
    const core::Bytes share = core::bytes_in(plan.rate, generating(plan, summary));
    if (!plan.is_staggered()) {
        return share;
    }
    // Those that come later in it may not have come at all, and the last one at the end of generation may be
    // counted in the drain.
    const core::Duration a_little{plan.interval.ns / 100};
    return std::min(share, core::set_bytes_until(plan, {summary.node.index},
                                                 core::Instant{} + generating(plan, summary) - a_little));
}

void add_producer(const core::Plan& plan, const RankRecord& rank, Evidence& evidence) {
    const RankSummary& summary = rank.summary;
    if (summary.overflowed() || summary.sets_in_time.late > 0 || summary.run.lost.events > 0) {
        evidence.time += summary.time;
    }
    evidence.generated_events += summary.run.generated.events;
    evidence.dropped += plan.overflow == core::Overflow::drop ? summary.measured.lost.events : 0;
    const double stalled = ratio(summary.stalled, summary.covered);
    if (stalled > evidence.stalled_share) {
        evidence.stalled_share = stalled;
        evidence.most_stalled = &rank;
    }
    const double planned = static_cast<double>(planned_bytes(plan, summary).count);
    const auto generated = static_cast<double>(summary.measured.generated.bytes.count);
    if (planned > 0 && generated / planned < evidence.generated_share) {
        evidence.generated_share = generated / planned;
        evidence.least_generated = &rank;
    }
}

Evidence gather(const core::Plan& plan, std::span<const RankRecord> ranks) {
    Evidence evidence;
    ConsumerSums consumers;
    TimeUse of_all;  // producers
    for (const RankRecord& rank : ranks) {
        const RankSummary& summary = rank.summary;
        if (summary.poll_gap_max > core::Duration{0} &&
            (evidence.longest_stall == nullptr ||
             summary.poll_gap_max > evidence.longest_stall->summary.poll_gap_max)) {
            evidence.longest_stall = &rank;
        }
        if (summary.node.role == Role::consumer) {
            add_consumer(plan, summary, consumers, evidence);
        } else if (summary.node.role == Role::producer) {
            add_producer(plan, rank, evidence);
            of_all += summary.time;
        }
    }
    // Backlogs that only grow have held up nobody yet.
    if (evidence.time == TimeUse{}) {
        evidence.time = of_all;
    }
    const core::Duration active =
        evidence.time.transferring + evidence.time.waiting_for_slot + evidence.time.waiting_for_grant;
    evidence.slot_share = ratio(evidence.time.waiting_for_slot, active);
    evidence.grant_share = ratio(evidence.time.waiting_for_grant, active);
    evidence.transfer_share = ratio(evidence.time.transferring, active);
    evidence.needed_bits_per_second = static_cast<double>(plan.rate.bits_per_second) * plan.producers;
    evidence.received_bits_per_second = ratio(consumers.received_bits, consumers.longest_s);
    evidence.blocked_share = ratio(consumers.blocked, consumers.covered);
    evidence.unblocked_bits_per_second = ratio(evidence.received_bits_per_second, 1 - evidence.blocked_share);
    return evidence;
}

std::string rate_text(double bits_per_second) {
    return readable(core::BitRate{static_cast<std::int64_t>(bits_per_second)});
}

/// What consumers received, against the planned rate. If that was reached, single sets took too long.
std::string received_text(const Evidence& evidence) {
    if (evidence.received_bits_per_second >= 0.99 * evidence.needed_bits_per_second) {
        return fmt::format(
            "on average consumers received the {} that were needed, but single sets took too long",
            rate_text(evidence.needed_bits_per_second));
    }
    return fmt::format("consumers received {} in total where {} were needed",
                       rate_text(evidence.received_bits_per_second),
                       rate_text(evidence.needed_bits_per_second));
}

/// A hint where ranks did not run for long: then the host was measured and not the network.
std::string stall_hint(const Evidence& evidence) {
    if (evidence.longest_stall == nullptr ||
        evidence.longest_stall->summary.poll_gap_max < core::Duration::milliseconds(100)) {
        return "";
    }
    return fmt::format(
        " Note that {} did not run for up to {}: its host may be too busy for this measurement.",
        node_text(evidence.longest_stall->summary.node, evidence.longest_stall->host),
        readable(evidence.longest_stall->summary.poll_gap_max));
}

// The rules, each for one cause, in the order in which they are tried. Nothing: the rule does not apply.

std::optional<Finding> producer_stalled(const core::Plan&, const Evidence& evidence, const RunFacts&) {
    if (evidence.most_stalled == nullptr || evidence.stalled_share < stalled_share_min) {
        return std::nullopt;
    }
    const RankSummary& summary = evidence.most_stalled->summary;
    return Finding{Cause::producer_late,
                   fmt::format("{} did not run for {} of the time, up to {} at once.",
                               node_text(summary.node, evidence.most_stalled->host),
                               percent(evidence.stalled_share), readable(summary.poll_gap_max))};
}

std::optional<Finding> generated_late(const core::Plan&, const Evidence& evidence, const RunFacts&) {
    if (evidence.least_generated == nullptr || evidence.generated_share >= generated_share_min) {
        return std::nullopt;
    }
    return Finding{Cause::producer_late, fmt::format("{} generated only {} of the planned data in time.",
                                                     node_text(evidence.least_generated->summary.node,
                                                               evidence.least_generated->host),
                                                     percent(evidence.generated_share))};
}

std::optional<Finding> buffer_below_set(const core::Plan& plan, const Evidence& evidence, const RunFacts&) {
    if (plan.generation != core::Generation::sets || plan.buffer >= plan.set_bytes() ||
        evidence.dropped == 0) {
        return std::nullopt;
    }
    return Finding{Cause::buffer, fmt::format("a set is {} and the buffer {}: what did not fit was dropped "
                                              "when the set was generated.",
                                              readable(plan.set_bytes()), readable(plan.buffer))};
}

/// A lost fragment holds its stream and its slot until it is given up, which looks like a slow scheduler.
std::optional<Finding> datagrams_lost(const core::Plan& plan, const Evidence& evidence, const RunFacts&) {
    const double lost_share =
        ratio(static_cast<double>(evidence.lost_on_the_way), static_cast<double>(evidence.generated_events));
    if (lost_share < lost_share_min) {
        return std::nullopt;
    }
    return Finding{
        Cause::losses,
        fmt::format("{} of the {} did not arrive whole, and each held a stream and a slot until it was "
                    "given up, {} after it was sent.",
                    loss_share(evidence.lost_on_the_way, evidence.generated_events),
                    plan.builds() ? "fragments" : "events",
                    readable(plan.fragment_timeout * (std::int64_t{plan.reasks} + 1)))};
}

/// Blocked consumers are the cause if slots were short while some were blocked, but also if slots were never
/// short and the others, taking over, reached their limit: then the rate of those not blocked would have
/// done.
std::optional<Finding> consumers_blocked(const core::Plan& plan, const Evidence& evidence,
                                         const RunFacts& facts) {
    const bool slots_short =
        evidence.slot_share >= slot_share_min && evidence.slot_share >= evidence.grant_share;
    const bool unblocked_suffices =
        evidence.unblocked_bits_per_second >= 0.99 * evidence.needed_bits_per_second &&
        evidence.grant_share < grant_share_min;
    if (evidence.blocked_share < blocked_share_min || !(slots_short || unblocked_suffices)) {
        return std::nullopt;
    }
    const std::string at_once = facts.blocked_at_once.consumers > 0
                                    ? fmt::format("; up to {} of {} consumers were blocked at once",
                                                  facts.blocked_at_once.consumers, plan.consumers)
                                    : "";
    if (evidence.slot_share >= slot_share_min) {
        return Finding{Cause::consumers_blocked,
                       fmt::format("producers waited for a free slot for {} of the time in which they had "
                                   "data to send, and consumers were blocked by processing for {} of their "
                                   "time{}.",
                                   percent(evidence.slot_share), percent(evidence.blocked_share), at_once)};
    }
    return Finding{Cause::consumers_blocked,
                   fmt::format("consumers were blocked by processing for {} of the time{}; {}.",
                               percent(evidence.blocked_share), at_once, received_text(evidence))};
}

std::optional<Finding> grants_late(const core::Plan&, const Evidence& evidence, const RunFacts&) {
    if (evidence.grant_share < grant_share_min || evidence.grant_share < evidence.slot_share) {
        return std::nullopt;
    }
    return Finding{
        Cause::scheduler,
        fmt::format("producers waited for a grant for {} of the time in which they had data to send, "
                    "although some consumer had a free slot (transfers took {}).",
                    percent(evidence.grant_share), percent(evidence.transfer_share))};
}

/// `text`, what the network did and its advice. `otherwise`: instead, if that is not known.
Finding network_finding(const core::Plan& plan, const Evidence& evidence, const RunFacts& facts,
                        std::string text, std::string_view otherwise) {
    const NetworkAdvice network = advise_on_network(plan, facts);
    const std::string_view rest = network.text.empty() ? otherwise : std::string_view{network.text};
    return {Cause::network,
            fmt::format("{}{}{}{}", text, rest.empty() ? "" : " ", rest, stall_hint(evidence)),
            network.advice};
}

std::optional<Finding> slots_receiving(const core::Plan& plan, const Evidence& evidence,
                                       const RunFacts& facts) {
    if (evidence.slot_share < slot_share_min || evidence.slot_share < evidence.grant_share) {
        return std::nullopt;
    }
    return network_finding(
        plan, evidence, facts,
        fmt::format("producers waited for a free slot for {} of the time in which they had data to send, "
                    "and not because of processing: all slots were receiving.",
                    percent(evidence.slot_share)),
        "Transfers were too slow, or there are too few slots.");
}

std::optional<Finding> transfers_slow(const core::Plan& plan, const Evidence& evidence,
                                      const RunFacts& facts) {
    return network_finding(
        plan, evidence, facts,
        fmt::format("transfers took {} of the time in which producers had data to send; {}.",
                    percent(evidence.transfer_share), received_text(evidence)),
        "");
}

constexpr std::array rules{producer_stalled,  generated_late, buffer_below_set, datagrams_lost,
                           consumers_blocked, grants_late,    slots_receiving,  transfers_slow};

/// What to try next, without a capital; empty: nothing.
std::string advice_for(Cause cause, bool simulated) {
    switch (cause) {
        case Cause::consumers_blocked:
            return "give consumers more slots (--slots), use more consumers, or shorten their processing "
                   "(--busy)";
        case Cause::scheduler:
            return simulated ? "use fewer and larger events (--event-size), or a faster scheduler "
                               "(--scheduler-time)"
                             : "use fewer and larger events (--event-size), and give the scheduler's rank a "
                               "core of its own";
        case Cause::network:
            break;  // network_advice.hpp
        case Cause::producer_late:
            return "give each rank a core of its own, and look for other load on the host";
        case Cause::losses:
            return simulated ? "the line `datagrams` shows where they were lost; try --shaping, or a switch "
                               "with more memory (--port-buffer, --switch)"
                             : "the line `datagrams` shows where they were lost; try --shaping, or larger "
                               "socket buffers (--socket-buffer)";
        case Cause::buffer:
            return "make --buffer at least as large as a set";
        case Cause::consumers_lost:
            return "give producers more --buffer for the time in which a loss is not noticed, a shorter "
                   "--silence-timeout, or more consumers";
        case Cause::none:
            break;
    }
    return "";
}

/// The network is all that lies between two ranks: whose links, these rules do not tell; nor, of a measured
/// run, who lost datagrams.
CauseKind kind_of(Cause cause, bool simulated) {
    switch (cause) {
        case Cause::consumers_blocked:
            return CauseKind::processing;
        case Cause::scheduler:
            return CauseKind::scheduler;
        case Cause::producer_late:
            return CauseKind::late_producer;
        case Cause::losses:
            return simulated ? CauseKind::switch_loss : CauseKind::not_told;
        case Cause::buffer:
            return CauseKind::buffer;
        case Cause::consumers_lost:
            return CauseKind::lost_consumers;
        case Cause::network:
        case Cause::none:
            break;
    }
    return CauseKind::not_told;
}

}  // namespace

Finding find_cause(const core::Plan& plan, std::span<const RankRecord> ranks, const RunFacts& facts) {
    const Evidence evidence = gather(plan, ranks);
    for (const auto& rule : rules) {
        if (auto finding = rule(plan, evidence, facts)) {
            return *std::move(finding);
        }
    }
    return {};  // not reached: the last rule always applies
}

std::vector<NamedCause> causes_of(const Finding& finding, const RunFacts& facts) {
    NamedCause cause;
    cause.what = kind_of(finding.cause, facts.simulated != nullptr);
    cause.share = 1;
    cause.text = finding.text;
    cause.remedy =
        finding.advice.empty() ? advice_for(finding.cause, facts.simulated != nullptr) : finding.advice;
    return {std::move(cause)};
}

std::vector<NamedCause> attribute_causes(const core::Plan& plan, std::span<const RankRecord> ranks,
                                         const RunFacts& facts) {
    return causes_of(find_cause(plan, ranks, facts), facts);
}

}  // namespace weir::telemetry
