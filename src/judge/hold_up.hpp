// What the ranks' sums show of a run that was not on time: to whom the time of held-up events belongs, how
// full links were, and who stood out. Nothing but what a measured run has goes in.
//
// An event is held up while its producer transfers it, or has a stream for it and no grant. Without a grant,
// the scheduler had no credit, or it had one (the heartbeats' share, ProducerRecorder::no_credit). What slots
// were while there was no credit follows from the consumers' own sums: receiving, holding an event for
// processing, withheld, or free; a slot that is free at its consumer and no credit at the scheduler belongs
// to the messages on the way and to a scheduler that has not read them. While there was a credit, the
// producer's streams were in use for the scheduler: by events that are under way or, beyond what consumers
// count as receiving, by messages. So each part of the time has one owner, and the parts add up to 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/plan.hpp"
#include "judge/verdict.hpp"
#include "record/rank_summary.hpp"

namespace weir::judge {

/// 0 for a part of nothing.
constexpr double fraction(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}
constexpr double fraction(core::Duration part, core::Duration whole) {
    return fraction(static_cast<double>(part.ns), static_cast<double>(whole.ns));
}

/// What heartbeats show of the queues before links, in the direction of the data: of producers what those to
/// the leader took, of consumers those from it.
struct LinkQueue {
    core::Duration typical;  ///< upper quartile, the median of the ranks; 0: not known
    core::Duration usual;    ///< median where heartbeats meet no data
    core::Duration back;     ///< median of these ranks in the other direction: a long way is as long there
    const record::RankRecord* longest = nullptr;
    core::Duration longest_delay;
    core::Duration longest_back;  ///< the median of that rank in the other direction
    core::Duration others_delay;  ///< as `typical`, of the others
    double longest_busy = 0;      ///< share of the time with work in which something was on its way there

    /// For how long data wait, if they do.
    [[nodiscard]] core::Duration waiting() const { return std::max(core::Duration{}, typical - usual); }
    /// Whether data of most of these ranks wait before their links.
    [[nodiscard]] bool stands() const { return is_long(typical, usual) && is_more(typical, back); }
    /// Whether only those of the one do. Where transfers take turns, each link has a queue for a part of the
    /// time, and chance decides which upper quartile shows it.
    [[nodiscard]] bool stands_at_one() const {
        constexpr double often = 0.5;
        return longest != nullptr && longest_busy >= often &&
               is_long(longest_delay, std::max(others_delay, usual)) && is_more(longest_delay, longest_back);
    }

  private:
    /// An upper quartile against a median of the same way, in buckets of powers of two.
    static bool is_more(core::Duration delay, core::Duration back_delay) {
        constexpr double times = 1.6;
        return static_cast<double>(delay.ns) >= times * static_cast<double>(back_delay.ns);
    }
    /// An upper quartile against a median: a loaded host reads late, but not so much later.
    static bool is_long(core::Duration delay, core::Duration usual_delay) {
        constexpr std::int64_t times = 4;
        return delay >= core::Duration::milliseconds(1) && delay >= usual_delay * times &&
               usual_delay > core::Duration{};
    }
};

/// The nominal speed of a rank's interface, and what it was seen to carry (LinkUse::seen_bits).
struct RankInterface {
    const record::RankRecord* rank = nullptr;
    double bits = 0;
    double seen_bits = 0;
};

/// The links of the ranks of one role, in the time in which producers that were held up had work.
struct LinkUse {
    /// Payload per second of a rank, on average.
    double mean_bits = 0;
    /// What a link was seen to carry, on average: the larger of its rate while something was transferred and
    /// of its best 10 ms, less the chunks that may have been counted in those and moved before.
    double seen_bits = 0;
    /// mean_bits over seen_bits: 1 is a link that always carried the most that it ever carried.
    double fullness = 0;

    LinkQueue queue;

    // Over the nominal speed of the interfaces; 0: not known of all. Headers take a part of it.
    double busy_of_interface = 0;  ///< rate while something was transferred
    double best_of_interface = 0;  ///< best 10 ms
    /// Of each rank that moved something, held up or not; none, if that of one is not known.
    std::vector<RankInterface> interfaces;

    const record::RankRecord* slowest =
        nullptr;                  ///< of several: the least rate while something was transferred
    double slowest_bits = 0;      ///< that rate
    double others_bits = 0;       ///< the median of this rate of the others
    double others_mean_bits = 0;  ///< mean of the others, in all the time with work
    double slowest_busy = 0;      ///< share of the time in which something was transferred
};

/// Shares that add up to 1, of the time of held-up events.
struct Owners {
    double network = 0;     ///< under way, or waiting for slots that were all receiving
    double processing = 0;  ///< waiting for slots that held events to process
    double withheld = 0;    ///< waiting for slots whose credits --high-water kept back
    double control = 0;     ///< waiting for messages, or for who reads them
};

/// How much of a transfer is the way there and back, which no faster link makes shorter.
struct Travel {
    core::Duration way;       ///< one way of a message; 0: not known
    core::Duration transfer;  ///< on average
    double rounds = 1;        ///< there and back in each: a window has to come back before more leaves

    /// Of `transfer`, with this number of rounds.
    [[nodiscard]] double share(double of_rounds) const {
        return std::min(
            1.0, fraction(2 * of_rounds * static_cast<double>(way.ns), static_cast<double>(transfer.ns)));
    }
};

struct HoldUp {
    std::uint32_t held_up = 0;  ///< producers that overflowed, were late or lost events
    // Shares of the time in which streams of those had an event.
    double transfer_share = 0;
    double slot_share = 0;
    double grant_share = 0;
    Owners owners;
    /// The part of what producers that were held up generated that had not left by the end of the measured
    /// time: a cause that owns less of the time than this cannot be the only one.
    double shortfall = 0;
    double backlogged_share = 0;   ///< of the measured time they had work
    double all_streams_share = 0;  ///< of the time with work, all of their streams were transferring

    LinkUse producers;
    LinkUse consumers;
    Travel travel;
    // Of what a link carried during each transfer, standard deviation over mean: a full one is steady.
    double link_deviation = 0;           ///< of producers
    double consumer_link_deviation = 0;  ///< 0: not known

    double handling_share = 0;           ///< of the time with work the scheduler handled messages
    core::Duration handling_each;        ///< handling per event granted
    core::Duration control_each;         ///< slots lost to messages on the way or unread, per event received
    double transfers_to_consumer = 0;    ///< under way, on average in the time with work
    double outstanding = 0;              ///< events granted and not done, on average in the time with work
    double free_credits = 0;             ///< known to the scheduler and not spent, on average
    double blocked_share = 0;            ///< of the consumers' time
    double processing_share = 0;         ///< of the consumers' time they worked on events
    bool some_rank_stood_still = false;  ///< for a tenth of the time or more
    std::int64_t first_trouble_second = record::no_second;  ///< of the first overflow or late set
    std::optional<core::Duration> worst_lateness;           ///< nothing: not known
    double needed_bits = 0;                                 ///< per producer
    std::uint64_t late_sets = 0;
    std::uint64_t generated_events = 0;
    std::uint64_t lost_on_the_way = 0;
    std::uint64_t dropped = 0;
    std::uint64_t socket_drops = 0;
};

/// `interface_rates`: as in RunFacts.
HoldUp sum_up_hold_up(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                      std::span<const core::BitRate> interface_rates);

/// Whether this producer overflowed, had late sets or lost events, or 5 % of its data is left.
[[nodiscard]] bool is_held_up(const record::RankSummary& producer);

/// What a producer should have generated in what was recorded, whole events and sets allowed for: less than
/// this was not generated in time.
[[nodiscard]] core::Bytes due_bytes(const core::Plan& plan, const record::RankSummary& producer);

}  // namespace weir::judge
