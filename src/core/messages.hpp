// Control messages between scheduler, producers and consumers: a struct for each kind, and a variant of all
// of them that is 48 bytes, so that many fit into one packet of a measured run and none needs parsing.
// Rejected: one struct of numbers for all kinds, in which the same field is a count, an instant or a tick.
//
// A message travels as it lies in memory; both sides run the same executable. What arrives is checked in two
// steps: is_message() when it is unpacked, and whoever receives it checks every field against its own state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "core/ledger.hpp"
#include "core/units.hpp"

namespace weir::core {

/// consumer -> scheduler. The receives of `slot` are posted: one credit.
struct Ready {
    SlotId slot;
    /// Size of the result of the slot's last event, which went ahead; 0: none did.
    std::uint32_t result_bytes = 0;
    Epoch epoch = 0;  ///< of the consumer
    bool operator==(const Ready&) const = default;
};

/// producer -> scheduler. Offered since the start, so that a later offer replaces an earlier one.
struct Offer {
    enum class More : std::uint8_t { expected, none };  // not bool: a byte from outside may have any value
    Traffic offered;
    More more = More::expected;  ///< none: generation is over
    ConsumerId to{};  ///< addressed events: all of these are for it; each consumer has offers of its own
    bool operator==(const Offer&) const = default;
};

/// scheduler -> producers (shaping `in_step`). Tick 0 is at instant 0; there are some before.
struct Tick {
    std::int64_t number = 0;
    bool operator==(const Tick&) const = default;
};

/// scheduler -> producers (pattern `build`). Generation is over everywhere, and each producer makes its
/// fragments of all events.
struct Complete {
    std::uint64_t events = 0;  ///< that there are
    bool operator==(const Complete&) const = default;
};

/// scheduler -> producer; policy `none` and initiation `pull`: consumer -> producer. Send your oldest waiting
/// event into this place. Pattern `build`: your fragment of the event of this number.
struct Grant {
    ConsumerId consumer;
    PlaceId place;
    /// Pattern `distribute`: grants to this producer before, if the scheduler grants, else 0.
    std::uint64_t number = 0;
    Epoch epoch = 0;  ///< of the consumer
    bool operator==(const Grant&) const = default;
};

/// scheduler -> consumer (initiation `pull`). The slot is for the oldest event of this producer; pattern
/// `build`: for the event of this number. Ask for it.
struct Assign {
    SlotId slot;
    ProducerId producer;       ///< pattern `build`: 0
    std::uint64_t number = 0;  ///< pattern `distribute`: assignments of this producer before
    bool operator==(const Assign&) const = default;
};

/// producer -> scheduler; where a consumer waits for the answer (policy `none`, pattern `build`, initiation
/// `pull`): -> that consumer. What the grant for this place requests is not there.
struct Decline {
    ConsumerId consumer;
    PlaceId place;
    std::uint64_t number = 0;  ///< pattern `build`: of the event
    Epoch epoch = 0;           ///< of the grant
    bool operator==(const Decline&) const = default;
};

/// producer -> consumer (lossy transports). Every chunk of this event was sent to this place.
struct Sent {
    EventId event;
    Bytes bytes;  ///< of the event
    PlaceId place;
    Instant generated_at;
    Instant begun_at;  ///< its first chunk was handed over
    bool operator==(const Sent&) const = default;
};

/// consumer -> producer (lossy transports with --reasks). Not all of this event came into this place: send
/// it again.
struct SendAgain {
    EventId event;
    PlaceId place;
    bool operator==(const SendAgain&) const = default;
};

/// consumer -> producer (lossy transports with --reasks). This event will not be requested again.
/// scheduler -> producer (--on-failure continue). This event is done: drop it.
struct Taken {
    EventId event;
    PlaceId place;
    bool operator==(const Taken&) const = default;
};

/// consumer -> scheduler. All that will come of the event in this slot is there.
struct Done {
    enum class Credit : std::uint8_t { kept, given };
    SlotId slot;
    std::uint32_t fragments = 0;     ///< that arrived whole; fewer than an event has: it was given up
    Bytes bytes;                     ///< of these fragments
    std::uint64_t hash = 0;          ///< sum of their ledger mixes
    EventId event;                   ///< one of the fragments that were asked for
    std::uint32_t result_bytes = 0;  ///< as with Ready, if the credit is given
    Credit credit = Credit::kept;    ///< given: this message is also the slot's Ready
    Epoch epoch = 0;                 ///< of the consumer
    bool operator==(const Done&) const = default;
};

/// producer -> scheduler. Generation is over, nothing waits, no transfer is under way.
struct Drained {
    Traffic sent;
    bool operator==(const Drained&) const = default;
};

/// scheduler -> consumers (policy `none`). All producers have drained: report your progress, now and at each
/// change.
struct ReportProgress {
    bool operator==(const ReportProgress&) const = default;
};

/// consumer -> scheduler. The answer to ReportProgress.
struct Progress {
    Traffic received;  ///< whole, or given up
    bool operator==(const Progress&) const = default;
};

/// scheduler -> all. The run is over: close and report the ledger.
struct Finish {
    Epoch epoch = 0;  ///< to a consumer: of the life that is to close
    bool operator==(const Finish&) const = default;
};

enum class LedgerEntry : std::uint32_t {
    generated,
    sent,
    lost,
    received,
    corrupt,
    incomplete,
    duplicate,
    results
};

/// producer, consumer -> scheduler. One entry of the ledger. Entries are sent in order; the last one ends the
/// report.
struct LedgerPart {
    LedgerEntry entry = LedgerEntry::generated;
    Tally tally;  ///< duplicates: a count only
    bool operator==(const LedgerPart&) const = default;
};

/// any node -> scheduler and back, at the rate of core/messages.hpp: the sender is alive. Of the clocks of
/// hosts only their difference has a meaning; 0: not given.
struct Heartbeat {
    /// From the scheduler: time so far in which offers waited and no consumer had a credit.
    Duration no_credit;
    std::int64_t left_ns = 0;  ///< when this one left, by the sender's clock
    /// From the leader: when the receiver's last one left, by the receiver's clock, and when it
    /// arrived, by the sender's.
    std::int64_t other_left_ns = 0;
    std::int64_t other_arrived_ns = 0;
    bool operator==(const Heartbeat&) const = default;
};

/// scheduler -> producer (--on-failure continue). The consumer was lost: grants for it are void, and events
/// sent to it that are not done are granted anew.
struct Revoke {
    ConsumerId consumer;
    bool operator==(const Revoke&) const = default;
};

/// consumer -> scheduler (--on-failure continue). This process has just begun: take it in.
struct Join {
    bool operator==(const Join&) const = default;
};

/// scheduler -> consumer (--on-failure continue). Begin anew with this epoch: whatever was in the slots is
/// not wanted any more.
struct Admit {
    Epoch epoch = 0;
    bool operator==(const Admit&) const = default;
};

/// consumer -> producer of the same worker (transfers with dependencies). All of this transfer has arrived.
struct InputArrived {
    std::uint32_t incoming = 0;  ///< number in traffic.to(consumer)
    std::int64_t interval = 0;   ///< below 0 in the warm-up
    bool operator==(const InputArrived&) const = default;
};

using ControlMessage =
    std::variant<Ready, Offer, Tick, Complete, Grant, Assign, Decline, Sent, SendAgain, Taken, Done, Drained,
                 ReportProgress, Progress, Finish, LedgerPart, Heartbeat, Revoke, Join, Admit, InputArrived>;
static_assert(sizeof(ControlMessage) == 48 && std::is_trivially_copyable_v<ControlMessage>);

/// Whether bytes from outside are a message of a kind that there is. Nothing else may be done with the
/// message before. Any bytes are possible values of the fields, which no state can make anything but wrong.
[[nodiscard]] inline bool is_message(const ControlMessage& message) {
    return message.index() < std::variant_size_v<ControlMessage>;
}

/// The event that a message names, {} if its kind names none.
[[nodiscard]] inline EventId event_of(const ControlMessage& message) {
    return std::visit(
        [](const auto& body) {
            if constexpr (requires { body.event; }) {
                return body.event;
            } else {
                return EventId{};
            }
        },
        message);
}

// How often ranks and their leader send each other heartbeats. The number of ranks, the periods and the
// silence time-out depend on each other: every heartbeat goes to or from the leader, which is the scheduler's
// rank, whose time is what is measured; so the packets per second are bounded and the periods grow with the
// ranks. And several heartbeats must fit into the time-out, or one late packet ends the run.

struct HeartbeatPeriods {
    Duration leader;  ///< between two heartbeats of the leader, each to all other ranks
    Duration others;  ///< between two heartbeats of any other rank to the leader
};

/// Each way: to the leader, and from it. A heartbeat costs about a microsecond of its time.
constexpr std::int64_t heartbeats_per_second_max = 4000;
constexpr std::int64_t heartbeats_in_timeout = 4;

constexpr Duration heartbeat_period_least(std::int64_t ranks) {
    return {std::max<std::int64_t>(0, ranks - 1) * (std::int64_t{1000000000} / heartbeats_per_second_max)};
}

/// The shortest silence time-out that works for so many ranks.
constexpr Duration silence_timeout_least(std::int64_t ranks) {
    return heartbeat_period_least(ranks) * heartbeats_in_timeout;
}

/// `silence_timeout` is at least silence_timeout_least(ranks).
constexpr HeartbeatPeriods heartbeat_periods(std::int64_t ranks, Duration silence_timeout) {
    const Duration most{silence_timeout.ns / heartbeats_in_timeout};
    const Duration least = heartbeat_period_least(ranks);
    return {.leader = std::max(least, std::min(most, Duration::milliseconds(100))),
            .others = std::max(least, std::min(most, Duration::milliseconds(200)))};
}

}  // namespace weir::core
