#include "judge/hold_up.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include "core/plan.hpp"
#include "record/quantiles.hpp"

namespace weir::judge {

using core::Duration;
using core::Role;

namespace {

double bits_of(core::Bytes bytes) {
    return static_cast<double>(bytes.count) * 8;
}

/// The measured time in which data was generated. The last second's row also has what follows the end.
Duration generating(const core::Plan& plan, const record::RankSummary& summary) {
    return std::min(summary.covered, plan.duration);
}

core::Bytes planned_bytes(const core::Plan& plan, const record::RankSummary& summary) {
    const Duration time = generating(plan, summary);
    if (plan.addressed()) {  // sets that are complete by the end of what was covered
        return plan.traffic->set_bytes({summary.node.index}) * (time.ns / plan.interval.ns);
    }
    // Sets come at the beginning of an interval, so an interrupted run may show more than its time's share.
    const core::Bytes share = core::bytes_in(plan.rate, time);
    if (!plan.is_staggered()) {
        return share;
    }
    // Those that come later in it may not have come at all, and the last one at the end of generation may be
    // counted in the drain.
    const Duration a_little{plan.interval.ns / 100};
    return std::min(share,
                    core::set_bytes_until(plan, {summary.node.index}, core::Instant{} + time - a_little));
}

/// What one rank moved, and for how long something was on its way.
struct RankLink {
    const record::RankRecord* rank = nullptr;
    double moved_bits = 0;
    Duration busy;
    core::BitRate interface_rate;  ///< 0: not known
};

/// The best 10 ms, less `chunks` of each transfer that may have been counted in them and moved before.
double seen_peak(const core::Plan& plan, const record::RankSummary& summary, std::uint32_t chunks) {
    constexpr double bins_per_second = 100;
    const double transfers = summary.node.role == Role::producer ? plan.streams : plan.slots;
    const double moved_before = bits_of(plan.chunk_size) * chunks * transfers * bins_per_second;
    return static_cast<double>(summary.peak_10ms.bits_per_second) - moved_before;
}

double rate_while_busy(const RankLink& link) {
    return fraction(link.moved_bits, link.busy.in_seconds());
}

/// The share of the time with work in which something was on its way: of a producer's own work, or for a
/// consumer of that of producers.
double busy_share(const RankLink& link, Duration with_work) {
    const record::RankSummary& summary = link.rank->summary;
    const Duration its_work = summary.node.role == Role::producer ? summary.load.backlogged : with_work;
    return std::min(1.0, fraction(link.busy, its_work));
}

void find_slowest(std::vector<RankLink> links, Duration with_work, LinkUse& use) {
    if (links.size() < 2) {
        return;
    }
    // One to which nothing was sent has no rate.
    const auto order = [](const RankLink& link) {
        return link.moved_bits > 0 ? rate_while_busy(link) : INFINITY;
    };
    std::sort(links.begin(), links.end(),
              [&](const RankLink& a, const RankLink& b) { return order(a) < order(b); });
    const RankLink& slowest = links.front();
    use.slowest = slowest.rank;
    use.slowest_bits = rate_while_busy(slowest);
    use.others_bits = rate_while_busy(links[1 + (links.size() - 2) / 2]);
    for (std::size_t i = 1; i < links.size(); ++i) {
        use.others_mean_bits +=
            fraction(links[i].moved_bits, with_work.in_seconds()) / static_cast<double>(links.size() - 1);
    }
    use.slowest_busy = busy_share(slowest, with_work);
}

/// Within each rank, because their links may differ.
double deviation_of(const std::vector<RankLink>& links, record::RateMoments record::Load::* moments) {
    double bytes = 0;
    double squares = 0;
    for (const RankLink& link : links) {
        const record::RateMoments& rates = link.rank->summary.load.*moments;
        bytes += rates.bytes;
        squares += rates.bytes * rates.relative_deviation() * rates.relative_deviation();
    }
    return std::sqrt(fraction(squares, bytes));
}

/// What links carried during each transfer, by the steadier of two measures (Load).
double link_deviation_of(const std::vector<RankLink>& links) {
    return std::min(deviation_of(links, &record::Load::link_shares),
                    deviation_of(links, &record::Load::link_rates));
}

double mean_bits_of(const RankLink& link, Duration with_work) {
    // Some is moved while no held-up producer has work.
    return with_work > Duration{} ? fraction(link.moved_bits, std::max(with_work, link.busy).in_seconds())
                                  : 0;
}

/// As LinkUse::seen_bits, of one.
double seen_bits_of(const core::Plan& plan, const RankLink& link, Duration with_work) {
    return std::max({mean_bits_of(link, with_work), rate_while_busy(link),
                     seen_peak(plan, link.rank->summary, plan.window)});
}

std::vector<RankInterface> interfaces_of(const core::Plan& plan, const std::vector<RankLink>& links,
                                         Duration with_work) {
    std::vector<RankInterface> interfaces;
    for (const RankLink& link : links) {
        if (link.moved_bits <= 0) {
            continue;  // nothing was for it
        }
        if (link.interface_rate <= core::BitRate{}) {
            return {};
        }
        interfaces.push_back({link.rank, static_cast<double>(link.interface_rate.bits_per_second),
                              seen_bits_of(plan, link, with_work)});
    }
    return interfaces;
}

LinkUse use_of(const core::Plan& plan, const std::vector<RankLink>& links, Duration with_work) {
    LinkUse use;
    double mean = 0;
    double seen = 0;
    double busy = 0;
    double best = 0;
    double said = 0;
    bool all_say = true;
    for (const RankLink& link : links) {
        const record::RankSummary& summary = link.rank->summary;
        if (link.moved_bits <= 0) {
            continue;  // nothing was for it
        }
        busy += rate_while_busy(link);
        said += static_cast<double>(link.interface_rate.bits_per_second);
        all_say = all_say && link.interface_rate > core::BitRate{};
        mean += mean_bits_of(link, with_work);
        seen += seen_bits_of(plan, link, with_work);
        best += std::max(rate_while_busy(link), seen_peak(plan, summary, 1));
    }
    use.fullness = fraction(mean, seen);
    use.busy_of_interface = all_say ? fraction(busy, said) : 0;
    use.best_of_interface = all_say ? std::min(1.0, fraction(best, said)) : 0;
    use.mean_bits = fraction(mean, static_cast<double>(links.size()));
    use.seen_bits = fraction(seen, static_cast<double>(links.size()));
    return use;
}

using Way = record::DelayCounts record::HeartbeatDelays::*;
using Quantile = Duration (record::DelayCounts::*)() const;

/// Whoever stands still reads late.
bool stood_still(const record::RankSummary& rank) {
    constexpr double often = 0.1;
    return fraction(rank.stalled_with_drain, rank.covered) >= often;
}

/// Those that did not.
std::vector<RankLink> running(const std::vector<RankLink>& links) {
    std::vector<RankLink> found;
    std::copy_if(links.begin(), links.end(), std::back_inserter(found),
                 [](const RankLink& link) { return !stood_still(link.rank->summary); });
    return found;
}

/// The median of the ranks but one.
Duration delay_of(const std::vector<RankLink>& links, Way way, Quantile quantile,
                  const record::RankRecord* but = nullptr) {
    std::vector<Duration> delays;
    for (const RankLink& link : links) {
        const record::DelayCounts& counts = link.rank->summary.load.heartbeats.*way;
        if (link.moved_bits > 0 && counts.any() && link.rank != but) {
            delays.push_back((counts.*quantile)());
        }
    }
    return record::median_of(std::move(delays));
}

Duration median_of(const std::vector<RankLink>& links, Way way) {
    return delay_of(links, way, &record::DelayCounts::median);
}

/// What heartbeats take that meet no data: those of the other role in the same direction. If its hosts are
/// far, these ranks' own in the other direction, and what the leader reads late.
Duration usual_delay(const std::vector<RankLink>& links, const std::vector<RankLink>& other_role, Way way,
                     Way back) {
    const Duration others = median_of(running(other_role), way);
    const Duration own_back = median_of(running(links), back);
    if (others <= Duration{} || own_back <= Duration{}) {
        return others > Duration{} ? others : median_of(links, back);
    }
    const Duration read_late = others - median_of(running(other_role), back);
    return std::min(others, own_back + std::max(Duration{}, read_late));
}

/// `back`: the other direction, in which this role meets no data.
LinkQueue queue_of(const std::vector<RankLink>& links, const std::vector<RankLink>& other_role, Way way,
                   Way back, Duration with_work) {
    LinkQueue queue;
    queue.typical = delay_of(links, way, &record::DelayCounts::upper_quartile);
    queue.usual = usual_delay(links, other_role, way, back);
    queue.back = median_of(running(links), back);
    for (const RankLink& link : links) {
        const Duration delay = (link.rank->summary.load.heartbeats.*way).upper_quartile();
        if (link.moved_bits > 0 && delay > queue.longest_delay) {
            queue.longest = link.rank;
            queue.longest_delay = delay;
            queue.longest_busy = busy_share(link, with_work);
            queue.longest_back = (link.rank->summary.load.heartbeats.*back).median();
        }
    }
    queue.others_delay = delay_of(links, way, &record::DelayCounts::upper_quartile, queue.longest);
    return queue;
}

/// Sums over ranks, of which the evidence is made.
struct Sums {
    bool any_late = false;  ///< some producer overflowed, was late or lost events; else all count as held up
    record::TimeUse time;   ///< of producers that were held up, as are the following
    std::int64_t counted = 0;
    record::LoadTimes load;
    Duration all_transfers;  ///< also of those that were not
    Duration covered;
    double sent_bits = 0;
    double generated_bits = 0;
    std::vector<RankLink> producers;
    std::vector<RankLink> all_producers;  ///< also those that were not
    std::vector<RankLink> consumers;
    record::LoadTimes slots;  ///< of consumers
    record::TimeUse consumer_time;
    Duration consumer_covered;
    std::uint64_t received_events = 0;
    std::uint64_t sent_events = 0;  ///< with pattern build: fragments
    const record::RankSummary* scheduler = nullptr;
};

std::int64_t first_of(std::int64_t a, std::int64_t b) {
    return a == record::no_second ? b : b == record::no_second ? a : std::min(a, b);
}

void add_producer(const core::Plan& plan, const record::RankRecord& rank, core::BitRate interface_rate,
                  Sums& sums, HoldUp& held) {
    const record::RankSummary& summary = rank.summary;
    held.generated_events += summary.run.generated.events;
    held.late_sets += summary.sets_in_time.late;
    held.dropped += plan.overflow == core::Overflow::drop ? summary.measured.lost.events : 0;
    held.first_trouble_second =
        first_of(held.first_trouble_second,
                 first_of(summary.first_overflow_second, summary.sets_in_time.first_late_second));
    const RankLink link{&rank, bits_of(summary.measured.sent.bytes), summary.load.sending, interface_rate};
    sums.all_producers.push_back(link);
    sums.all_transfers += summary.load.transfers;
    if (sums.any_late && !is_held_up(summary)) {
        return;
    }
    sums.producers.push_back(link);
    held.held_up += is_held_up(summary) ? 1 : 0;
    ++sums.counted;
    sums.time += summary.time;
    sums.load += summary.load;
    sums.covered += summary.covered;
    sums.sent_bits += bits_of(summary.measured.sent.bytes);
    sums.sent_events += summary.measured.sent.events;
    sums.generated_bits += bits_of(summary.measured.generated.bytes);
    if (const auto slack = summary.sets_in_time.least_slack) {
        const Duration late = std::max(Duration{}, Duration{} - *slack);
        held.worst_lateness = std::max(held.worst_lateness.value_or(late), late);
    }
}

void add_consumer(const core::Plan& plan, const record::RankRecord& rank, core::BitRate interface_rate,
                  Sums& sums, HoldUp& held) {
    const record::RankSummary& summary = rank.summary;
    const std::uint64_t lost = summary.ledger_known ? summary.ledger.incomplete.events : 0;
    held.lost_on_the_way += plan.lossy() ? std::max(lost, summary.run.lost.events) : 0;
    held.socket_drops += summary.run.datagrams.socket_drops;
    sums.slots += summary.load;
    sums.consumer_time += summary.time;
    sums.consumer_covered += summary.covered;
    sums.received_events += summary.measured.received.events;
    sums.consumers.push_back(
        {&rank, bits_of(summary.measured.received.bytes), summary.time.receiving, interface_rate});
}

/// The share that was under way of the events that were granted and not done, and that their producers did
/// not transfer (any more). The rest waited for messages: a grant, or the scheduler to read that it was done.
double under_way_share(const core::Plan& plan, const Sums& sums) {
    const double fragments = plan.builds() ? plan.producers : 1;
    const auto transferring = static_cast<double>(sums.all_transfers.ns) / fragments;
    const auto receiving = static_cast<double>(sums.slots.receiving_slots.ns);
    const double granted =
        sums.scheduler != nullptr ? static_cast<double>(sums.scheduler->load.outstanding.ns) : 0;
    if (granted <= 0) {
        return 0;
    }
    const double under_way = std::max(0.0, receiving - transferring);
    const double messages = std::max(0.0, granted - std::max(receiving, transferring));
    return fraction(under_way, under_way + messages);
}

/// What slots were that were no credit at the scheduler, in shares of it; then of whom the waiting for them
/// is.
Owners owners_of(const core::Plan& plan, const Sums& sums, HoldUp& held) {
    const Duration known = sums.scheduler != nullptr ? sums.scheduler->load.free_slots : Duration{};
    // With policy `none` the scheduler has no credits, and a free slot is one that its producer does not use.
    const Duration lost =
        plan.consumers_grant() ? Duration{} : std::max(Duration{}, sums.slots.free_slots - known);
    const Duration all =
        sums.slots.receiving_slots + sums.slots.queued_slots + sums.slots.withheld_slots + lost;
    const double slot = held.slot_share;
    held.control_each = {sums.received_events > 0 ? lost.ns / static_cast<std::int64_t>(sums.received_events)
                                                  : 0};
    if (all <= Duration{}) {  // not recorded: a rank that is known by its last report only
        return {.network = held.transfer_share + slot, .control = held.grant_share};
    }
    // A producer calls a transfer over when its chunks have left, the scheduler when it is done: in between
    // the producer waits for a grant, because its streams are in use.
    const double left = held.grant_share * under_way_share(plan, sums);
    return {.network = held.transfer_share + left + slot * fraction(sums.slots.receiving_slots, all),
            .processing = slot * fraction(sums.slots.queued_slots, all),
            // Without --high-water none: a consumer that was away and came back has slots that wait for it.
            .withheld = plan.high_water > 0 ? slot * fraction(sums.slots.withheld_slots, all) : 0,
            .control = held.grant_share - left + slot * fraction(lost, all)};
}

/// A slot is free for as long as its credit and then a grant are on their way. Heartbeats know the way
/// better, where no data wait on it.
Travel travel_of(const core::Plan& plan, const Sums& sums, const HoldUp& held) {
    Travel travel;
    const auto events = static_cast<std::int64_t>(sums.sent_events);
    if (events == 0) {
        return travel;
    }
    travel.way = {held.control_each.ns / 2};
    const Duration heard = std::max(held.producers.queue.back, held.consumers.queue.back);
    if (heard > Duration{}) {
        travel.way = std::min(travel.way, heard);
    }
    // What has left a producer may still be in buffers of its host; then only consumers see how long it
    // takes.
    const auto received = static_cast<std::int64_t>(sums.received_events);
    const std::int64_t arriving_ns = received > 0 ? sums.slots.receiving_slots.ns / received : 0;
    travel.transfer = {std::max(sums.load.transfers.ns / events, arriving_ns)};
    const double chunks =
        std::ceil(fraction(sums.sent_bits / static_cast<double>(events), bits_of(plan.chunk_size)));
    travel.rounds = std::max(1.0, std::ceil(chunks / plan.window));
    return travel;
}

void add_scheduler(const record::RankSummary& scheduler, HoldUp& held) {
    const double work = static_cast<double>(scheduler.covered.ns) * held.backlogged_share;
    held.handling_share = std::min(1.0, fraction(static_cast<double>(scheduler.load.handling.ns), work));
    held.outstanding = fraction(static_cast<double>(scheduler.load.outstanding.ns), work);
    held.free_credits = fraction(scheduler.load.free_slots, scheduler.covered);
    const std::uint64_t grants = scheduler.measured.grants;
    held.handling_each = {grants > 0 ? scheduler.load.handling.ns / static_cast<std::int64_t>(grants) : 0};
}

}  // namespace

bool is_held_up(const record::RankSummary& producer) {
    const bool late = producer.overflowed() || producer.sets_in_time.late > 0 || producer.run.lost.events > 0;
    // A backlog that grows and makes nothing late yet.
    const bool behind =
        producer.measured.sent.bytes.count < producer.measured.generated.bytes.count / 20 * 19;
    return late || behind;
}

core::Bytes due_bytes(const core::Plan& plan, const record::RankSummary& producer) {
    const core::Bytes planned = planned_bytes(plan, producer);
    // With `steady` the next event is due when all of it is, and the last one may be in the row after.
    return std::max(core::Bytes{}, planned - plan.slot_size);
}

HoldUp sum_up_hold_up(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                      std::span<const core::BitRate> interface_rates) {
    HoldUp held;
    Sums sums;
    sums.any_late = std::any_of(ranks.begin(), ranks.end(), [](const record::RankRecord& rank) {
        return rank.summary.node.role == Role::producer && is_held_up(rank.summary);
    });
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const record::RankRecord& rank = ranks[i];
        const core::BitRate interface_rate =
            i < interface_rates.size() ? interface_rates[i] : core::BitRate{};
        switch (rank.summary.node.role) {
            case Role::producer:
                add_producer(plan, rank, interface_rate, sums, held);
                break;
            case Role::consumer:
                add_consumer(plan, rank, interface_rate, sums, held);
                break;
            case Role::scheduler:
                sums.scheduler = &rank.summary;
                break;
        }
    }
    held.some_rank_stood_still = std::any_of(
        ranks.begin(), ranks.end(), [](const record::RankRecord& rank) { return stood_still(rank.summary); });
    const Duration active = sums.time.transferring + sums.time.waiting_for_slot + sums.time.waiting_for_grant;
    held.transfer_share = fraction(sums.time.transferring, active);
    held.slot_share = fraction(sums.time.waiting_for_slot, active);
    held.grant_share = fraction(sums.time.waiting_for_grant, active);
    held.owners = owners_of(plan, sums, held);
    held.shortfall = std::max(0.0, 1 - fraction(sums.sent_bits, sums.generated_bits));
    held.backlogged_share = fraction(sums.load.backlogged, sums.covered);
    if (plan.consumers > 0 && sums.counted > 0) {
        held.transfers_to_consumer = fraction(sums.load.transfers, sums.load.backlogged) *
                                     static_cast<double>(sums.counted) / plan.consumers;
    }
    held.all_streams_share = fraction(sums.load.all_streams, sums.load.backlogged);
    held.needed_bits = static_cast<double>(plan.rate.bits_per_second);
    const Duration with_work{sums.counted > 0 ? sums.load.backlogged.ns / sums.counted : 0};
    held.producers = use_of(plan, sums.producers, with_work);
    held.consumers = use_of(plan, sums.consumers, with_work);
    held.producers.interfaces = interfaces_of(plan, sums.all_producers, with_work);
    held.consumers.interfaces = interfaces_of(plan, sums.consumers, with_work);
    const Way to = &record::HeartbeatDelays::to_leader;
    const Way from = &record::HeartbeatDelays::from_leader;
    if (sums.scheduler != nullptr && !stood_still(*sums.scheduler)) {
        held.producers.queue = queue_of(sums.producers, sums.consumers, to, from, with_work);
        held.consumers.queue = queue_of(sums.consumers, sums.all_producers, from, to, with_work);
    }
    held.travel = travel_of(plan, sums, held);
    held.link_deviation = link_deviation_of(sums.producers);
    if (!plan.builds()) {  // there fragments of one event come together, whoever limits
        held.consumer_link_deviation = link_deviation_of(sums.consumers);
    }
    find_slowest(sums.all_producers, with_work, held.producers);
    find_slowest(sums.consumers, with_work, held.consumers);
    held.blocked_share = fraction(sums.consumer_time.blocked, sums.consumer_covered);
    held.processing_share = fraction(sums.consumer_time.processing, sums.consumer_covered);
    if (sums.scheduler != nullptr) {
        add_scheduler(*sums.scheduler, held);
    }
    return held;
}

}  // namespace weir::judge
