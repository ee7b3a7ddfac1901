#include "telemetry/verdict_cause.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "telemetry/text.hpp"

namespace weir::telemetry {

using core::Role;

namespace {

// From these shares on something counts as the main cause. They separate the clear cases; where several are
// near, the text's numbers let a reader judge.
constexpr double stalled_share_min = 0.10;    ///< of the time a producer's loop did not run
constexpr double generated_share_min = 0.98;  ///< of the planned data
constexpr double blocked_share_min = 0.005;   ///< of the consumers' time
constexpr double slot_share_min = 0.10;       ///< of the stream time that events waited or travelled
constexpr double grant_share_min = 0.20;      ///< likewise
constexpr double lost_share_min = 0.01;       ///< of the generated events, on the way

double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}
double ratio(core::Duration part, core::Duration whole) {
    return ratio(static_cast<double>(part.ns), static_cast<double>(whole.ns));
}

/// What the search for the cause looks at.
struct Evidence {
    TimeUse waiting;                           ///< sums over the producers that were held up
    const RankRecord* most_stalled = nullptr;  ///< producer, by share of time
    const RankRecord* longest_gap = nullptr;   ///< any rank
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
};

Evidence gather(const core::Plan& plan, std::span<const RankRecord> ranks) {
    Evidence evidence;
    core::Duration consumers_time;
    core::Duration blocked;
    double received_bits = 0;
    double longest_consumer_s = 0;
    for (const RankRecord& rank : ranks) {
        const RankSummary& summary = rank.summary;
        if (summary.poll_gap_max > core::Duration{0} &&
            (evidence.longest_gap == nullptr ||
             summary.poll_gap_max > evidence.longest_gap->summary.poll_gap_max)) {
            evidence.longest_gap = &rank;
        }
        if (summary.node.role == Role::consumer) {
            consumers_time += summary.covered;
            blocked += summary.time.blocked;
            evidence.lost_on_the_way += plan.lossy() ? summary.run.lost.events : 0;
            received_bits += static_cast<double>(summary.measured.received.bytes.count) * 8;
            longest_consumer_s = std::max(longest_consumer_s, summary.covered.in_seconds());
        }
        if (summary.node.role != Role::producer) {
            continue;
        }
        if (summary.overflowed() || summary.sets_in_time.late > 0 || summary.run.lost.events > 0) {
            evidence.waiting += summary.time;
        }
        evidence.generated_events += summary.run.generated.events;
        evidence.dropped += plan.overflow == core::Overflow::drop ? summary.measured.lost.events : 0;
        const double stalled = ratio(summary.stalled, summary.covered);
        if (stalled > evidence.stalled_share) {
            evidence.stalled_share = stalled;
            evidence.most_stalled = &rank;
        }
        // Sets come at the beginning of an interval, so an interrupted run may show more than its time's
        // share.
        const double planned = static_cast<double>(core::bytes_in(plan.rate, summary.covered).count);
        const auto generated = static_cast<double>(summary.measured.generated.bytes.count);
        if (planned > 0 && generated / planned < evidence.generated_share) {
            evidence.generated_share = generated / planned;
            evidence.least_generated = &rank;
        }
    }
    evidence.needed_bits_per_second = static_cast<double>(plan.rate.bits_per_second) * plan.producers;
    evidence.received_bits_per_second = ratio(received_bits, longest_consumer_s);
    evidence.blocked_share = ratio(blocked, consumers_time);
    evidence.unblocked_bits_per_second = ratio(evidence.received_bits_per_second, 1 - evidence.blocked_share);
    return evidence;
}

std::string rate_text(double bits_per_second) {
    return readable(core::BitRate{static_cast<std::int64_t>(bits_per_second)});
}

/// What came in all, against the rate; a rate that was reached says that single sets took too long.
std::string received_text(const Evidence& evidence) {
    if (evidence.received_bits_per_second >= 0.99 * evidence.needed_bits_per_second) {
        return fmt::format(
            "on average consumers received the {} that were needed, but single sets took too long",
            rate_text(evidence.needed_bits_per_second));
    }
    return fmt::format("consumers received {} in all where {} were needed",
                       rate_text(evidence.received_bits_per_second),
                       rate_text(evidence.needed_bits_per_second));
}

/// A hint, where ranks were not running when they should have been: then the host and not the network was
/// judged.
std::string stall_hint(const Evidence& evidence) {
    if (evidence.longest_gap == nullptr ||
        evidence.longest_gap->summary.poll_gap_max < core::Duration::milliseconds(100)) {
        return "";
    }
    return fmt::format(
        " Note that {} did not run for up to {}: its host may be too busy for this measurement.",
        node_text(evidence.longest_gap->summary.node, evidence.longest_gap->host),
        readable(evidence.longest_gap->summary.poll_gap_max));
}

}  // namespace

Finding find_cause(const core::Plan& plan, std::span<const RankRecord> ranks, const RunFacts& facts) {
    const Evidence evidence = gather(plan, ranks);
    const core::Duration active = evidence.waiting.transferring + evidence.waiting.waiting_for_slot +
                                  evidence.waiting.waiting_for_grant;
    const double slot_share = ratio(evidence.waiting.waiting_for_slot, active);
    const double grant_share = ratio(evidence.waiting.waiting_for_grant, active);
    const double transfer_share = ratio(evidence.waiting.transferring, active);

    if (evidence.most_stalled != nullptr && evidence.stalled_share >= stalled_share_min) {
        return {Cause::producer_late,
                fmt::format("{} did not run for {} of the time, up to {} at a stretch.",
                            node_text(evidence.most_stalled->summary.node, evidence.most_stalled->host),
                            percent(evidence.stalled_share),
                            readable(evidence.most_stalled->summary.poll_gap_max))};
    }
    if (evidence.least_generated != nullptr && evidence.generated_share < generated_share_min) {
        return {Cause::producer_late,
                fmt::format("{} generated only {} of the planned data in time.",
                            node_text(evidence.least_generated->summary.node, evidence.least_generated->host),
                            percent(evidence.generated_share))};
    }
    if (plan.generation == core::Generation::sets && plan.buffer < plan.set_bytes() && evidence.dropped > 0) {
        return {Cause::buffer,
                fmt::format("a set is {} and the buffer {}: of every set, what did not fit was "
                            "dropped as it was generated.",
                            readable(plan.set_bytes()), readable(plan.buffer))};
    }
    // A lost fragment holds its stream and its slot until it is given up, which looks like a slow scheduler.
    const double lost_share =
        ratio(static_cast<double>(evidence.lost_on_the_way), static_cast<double>(evidence.generated_events));
    if (lost_share >= lost_share_min) {
        return {
            Cause::losses,
            fmt::format("{} of the {} did not arrive whole, and each held a stream and a slot until it was "
                        "given up, {} after it was sent.",
                        loss_share(evidence.lost_on_the_way, evidence.generated_events),
                        plan.pattern == core::Pattern::build ? "fragments" : "events",
                        readable(plan.fragment_timeout * (std::int64_t{plan.reasks} + 1)))};
    }
    const bool blocked = evidence.blocked_share >= blocked_share_min;
    // Blocked consumers are the cause if slots were short while some were blocked, but also if slots were
    // never short and the others, taking over, reached their limit: then the rate of those not blocked would
    // have done.
    const bool would_do_unblocked =
        evidence.unblocked_bits_per_second >= 0.99 * evidence.needed_bits_per_second;
    if (blocked && ((slot_share >= slot_share_min && slot_share >= grant_share) ||
                    (would_do_unblocked && grant_share < grant_share_min))) {
        const std::string at_once = facts.blocked_at_once.consumers > 0
                                        ? fmt::format("; up to {} of {} consumers were blocked at once",
                                                      facts.blocked_at_once.consumers, plan.consumers)
                                        : "";
        if (slot_share >= slot_share_min) {
            return {Cause::consumers_blocked,
                    fmt::format(
                        "no consumer had a free slot for {} of the waiting time, and consumers were blocked "
                        "by processing for {} of theirs{}.",
                        percent(slot_share), percent(evidence.blocked_share), at_once)};
        }
        return {Cause::consumers_blocked,
                fmt::format("consumers were blocked by processing for {} of the time{}; {}.",
                            percent(evidence.blocked_share), at_once, received_text(evidence))};
    }
    if (grant_share >= grant_share_min && grant_share >= slot_share) {
        return {
            Cause::scheduler,
            fmt::format("events waited for a grant for {} of the time although some consumer had a free slot "
                        "(transfers took {}).",
                        percent(grant_share), percent(transfer_share))};
    }
    if (slot_share >= slot_share_min && slot_share >= grant_share) {
        return {Cause::network,
                fmt::format(
                    "no consumer had a free slot for {} of the waiting time, but not because of processing: "
                    "all slots were receiving. Transfers were too slow, or there are too few slots.",
                    percent(slot_share)) +
                    stall_hint(evidence)};
    }
    return {Cause::network,
            fmt::format("transfers were under way for {} of the time that events were there; {}.",
                        percent(transfer_share), received_text(evidence)) +
                stall_hint(evidence)};
}

}  // namespace weir::telemetry
