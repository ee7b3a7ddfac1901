// The plan of a run: every resolved parameter, in plain numbers. Made by config from scenario and options,
// read by all other parts. It holds no defaults for users: those are in config.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger.hpp"
#include "core/traffic_plan.hpp"
#include "core/units.hpp"

namespace weir::core {

/// One row each in core/policies/policy_table.hpp; for addressed events in core/policies/policy_table.hpp.
enum class PolicyKind : std::uint8_t {
    balanced,
    token,
    round_robin,
    random,
    none,
    longest_queue,  ///< addressed events only, as `oldest`
    oldest
};
enum class Generation : std::uint8_t { sets, steady, saturate };
/// When in the interval a producer generates its sets: all at its beginning, producer i of P at i/P of it, or
/// each at a moment drawn from the seed (core/plan.hpp).
enum class SetPhase : std::uint8_t { same, spread, random };
/// What happens to an event that does not fit into the producer's buffer: `count` keeps it queued and counts
/// the overflow (as the LHCb 2021 benchmark does), `drop` loses it.
enum class Overflow : std::uint8_t { count, drop };
/// sample: headers, and the payload of one chunk in transport::sampled_one_in.
enum class Verify : std::uint8_t { none, header, sample, full };
/// How a chunk gets into the consumer's slot: the producer sends a message, the producer writes
/// (one-sided), or the consumer reads (one-sided), or the producer sends datagrams, which may get lost.
enum class TransportKind : std::uint8_t { send, put, get, datagram };
/// What an event is: a block of one producer, or a fragment of every producer's.
enum class Pattern : std::uint8_t { distribute, build };
/// Who gets an assignment: the producers, which send, or the consumer, which requests from them.
enum class Initiation : std::uint8_t { push, pull };
/// In which order a producer serves consumers that it may send to (pull: a consumer asks producers): as
/// they were assigned, or in turn, each rank beginning with another one.
enum class SendOrder : std::uint8_t { assigned, barrel };

enum class DistributionKind : std::uint8_t {
    none,
    fixed,
    poisson,
    exponential,
    normal,
    lognormal,
    pareto,
    mixture,
    trace
};

/// A distribution of durations (unit: ns) or sizes (unit: bytes). Fields that a kind does not use are 0.
struct Distribution {
    DistributionKind kind = DistributionKind::none;
    double mean = 0;
    double quantum = 0;    ///< poisson: one count is this much (value = quantum x Poisson(mean / quantum))
    double deviation = 0;  ///< normal and lognormal: standard deviation of the value itself
    double shape = 0;      ///< pareto: tail index alpha, above 1 so that the mean exists
    double maximum = 0;    ///< values are cut to this (0: not cut)
    double large = 0;      ///< mixture: the rare value; the others are `mean`
    double every = 0;      ///< mixture: one value in so many is the rare one, on average
    std::vector<std::int64_t> trace{};  ///< trace: the values in order, repeated from the start when used up
    bool operator==(const Distribution&) const = default;
};

enum class ShapingKind : std::uint8_t { none, bucket, in_step };

/// What holds back a producer's chunks. Fields that a kind does not use are 0.
struct Shaping {
    ShapingKind kind = ShapingKind::none;
    BitRate rate;   ///< bucket: tokens that come, payload
    Bytes burst;    ///< bucket: tokens that it holds
    Duration grid;  ///< in_step: from chunk to chunk
    Duration tick;  ///< in_step: from tick to tick of the scheduler, a multiple of `grid`
    bool operator==(const Shaping&) const = default;
};

struct Plan {
    std::uint32_t producers = 0;
    std::uint32_t consumers = 0;

    Pattern pattern = Pattern::distribute;
    Initiation initiation = Initiation::push;
    SendOrder order = SendOrder::assigned;
    /// Addressed events: who sends how much to whom; else nothing. `rate` is then the mean of all producers.
    std::shared_ptr<const TrafficPlan> traffic;

    // What producers generate.
    BitRate rate;
    Duration interval;
    Generation generation = Generation::sets;
    SetPhase set_phase = SetPhase::same;
    Distribution event_size;
    Bytes buffer;
    Overflow overflow = Overflow::count;

    // How it travels.
    PolicyKind policy = PolicyKind::balanced;
    TransportKind transport = TransportKind::send;
    Bytes chunk_size;
    Bytes slot_size;  ///< room for one fragment in a slot: with pattern `distribute` the largest event
    std::uint32_t window = 0;
    std::uint32_t slots = 0;
    std::uint32_t streams = 0;
    Shaping shaping;
    std::uint32_t requests = 0;         ///< pull: fragments asked for by a consumer and not there, at most
    std::uint32_t assigned_events = 0;  ///< build: assigned to any consumer and not finished, at most
    /// A consumer that holds `high_water` events (arriving, waiting, in work) gives no credit until it
    /// holds `low_water`. high_water 0: it always gives what is free.
    std::uint32_t high_water = 0;
    std::uint32_t low_water = 0;
    /// Lossy transports: how long after the last chunk was sent a fragment may be incomplete, and how
    /// often it is then asked for again before it is given up.
    Duration fragment_timeout;
    std::uint32_t reasks = 0;

    // What consumers do.
    Distribution busy;
    std::vector<std::uint32_t> busy_consumers;  ///< sorted indices; empty: all
    bool busy_burns_cpu = false;
    /// Size of the result of each event, which travels to the scheduler ahead of the credit (none: no
    /// results).
    Distribution result_size;

    // When.
    Duration duration;
    Duration warmup;
    Duration drain;  ///< time after `duration` in which buffers may empty; see give_up_at()
    /// For so long a transfer may stand still while the network sends again what was lost, over what is
    /// normal.
    Duration recovery_time{};
    /// --on-failure continue: a consumer that is lost is taken out, and the run goes on without it.
    bool outlives_consumers = false;
    Duration detection_time{};  ///< then: a consumer that is silent for so long is lost

    Verify verify = Verify::sample;
    std::uint64_t seed = 0;
    Duration row_interval{};  ///< ranks also write a row for each such part of a second; 0: they do not
    bool row_interval_asked_for =
        false;  ///< and not config's choice for a short run: live lines show it, too

    bool operator==(const Plan&) const = default;

    /// Every event has its consumer.
    [[nodiscard]] bool addressed() const { return traffic != nullptr; }
    /// Bytes of one set: rate x interval; of addressed events: of the producer that generates most.
    [[nodiscard]] Bytes set_bytes() const {
        return traffic ? traffic->largest_set() : bytes_in(rate, interval);
    }
    /// Producers generate their sets at different instants. `duration` is then whole intervals, so that all
    /// generate equally many.
    [[nodiscard]] constexpr bool is_staggered() const {
        return generation == Generation::sets && set_phase != SetPhase::same;
    }
    /// Not all of a set is generated at the beginning of its interval.
    [[nodiscard]] bool sets_take_time() const { return traffic && traffic->last_at() > Duration{}; }
    /// When the set after the last one would be generated by a producer without a phase: the first multiple
    /// of the interval from `duration` on.
    [[nodiscard]] constexpr Instant next_set_at() const {
        return {interval.ns > 0 ? (duration.ns + interval.ns - 1) / interval.ns * interval.ns : duration.ns};
    }
    /// Data is generated for so long: to the end of the last interval that has a set.
    [[nodiscard]] constexpr Instant generated_until() const {
        return generation == Generation::sets ? next_set_at() : Instant{duration.ns};
    }
    /// No event has a later deadline: an event is to be gone one interval after it was generated. Without a
    /// rate (`saturate`) there are no deadlines, and this is the end of generation.
    [[nodiscard]] Instant last_deadline() const {
        switch (generation) {
            case Generation::sets:
                return next_set_at() + (is_staggered() || sets_take_time() ? interval : Duration{});
            case Generation::steady:
                return Instant{duration.ns} + interval;
            case Generation::saturate:
                break;
        }
        return {duration.ns};
    }
    /// Until then buffers may empty; what is left is given up. Nothing is given up before its deadline, so
    /// that a short `drain` cannot hide what the last set would have shown.
    [[nodiscard]] Instant give_up_at() const {
        return std::max(Instant{duration.ns} + drain, last_deadline());
    }
    /// An event is a fragment of every producer's.
    [[nodiscard]] constexpr bool builds() const { return pattern == Pattern::build; }
    /// Consumers are assigned events, and request them from producers.
    [[nodiscard]] constexpr bool pulls() const { return initiation == Initiation::pull; }
    /// Consumers hand out their own free slots, and the scheduler gets no offers.
    [[nodiscard]] constexpr bool consumers_grant() const { return policy == PolicyKind::none; }
    /// Chunks may get lost on the way, and only the consumer can find out.
    [[nodiscard]] constexpr bool lossy() const { return transport == TransportKind::datagram; }
    /// Whether a producer keeps what it has sent until the consumer has it.
    [[nodiscard]] constexpr bool asks_again() const { return lossy() && reasks > 0; }
    /// Whether what was sent stays in the producer's buffer until it is confirmed: by the consumer that may
    /// ask again, or by the scheduler, which may grant it again.
    [[nodiscard]] constexpr bool keeps_until_taken() const { return asks_again() || outlives_consumers; }
    /// Fragments of an event, each from another producer.
    [[nodiscard]] constexpr std::uint32_t fragments_per_event() const { return builds() ? producers : 1; }
    /// Places of a consumer: a place holds one fragment, a slot is fragments_per_event() places.
    [[nodiscard]] constexpr std::uint32_t places() const { return slots * fragments_per_event(); }
    /// The place for fragment `fragment` of the event in `slot`; and from a place back to both.
    [[nodiscard]] constexpr PlaceId place_of(SlotId slot, std::uint32_t fragment) const {
        return {slot.value * fragments_per_event() + fragment};
    }
    [[nodiscard]] constexpr SlotId slot_of(PlaceId place) const {
        return {place.value / fragments_per_event()};
    }
    [[nodiscard]] constexpr std::uint32_t fragment_of(PlaceId place) const {
        return place.value % fragments_per_event();
    }
    /// Messages into which the largest fragment is cut.
    [[nodiscard]] constexpr std::uint32_t chunks_per_fragment() const {
        return static_cast<std::uint32_t>((slot_size.count + chunk_size.count - 1) / chunk_size.count);
    }
};

// What carries the bytes of a measured run: MPI, or UCX directly. Simulations have none.

enum class Engine : std::uint8_t {
    mpi,  ///< control packets and chunks over MPI
    ucx,  ///< both over UCP, each in a context of its own; MPI starts the ranks
};

struct EnginePlan {
    Engine engine = Engine::mpi;
    /// Engine ucx: the 8 bits of traffic class (DSCP and ECN) that RDMA packets carry; nothing: UCX chooses.
    std::optional<std::uint32_t> control_traffic_class;
    std::optional<std::uint32_t> data_traffic_class;
    /// Engine ucx: devices as UCX names them, separated by commas; empty: UCX chooses.
    std::string control_device;
    std::string data_device;
    /// Engine ucx: connections for the data of a producer and a consumer. Chunks take them in turn.
    std::uint32_t queue_pairs = 1;
};

// When in the interval a producer generates its sets. A producer's phase is constant during a run, and its
// sets begin at phase + k x interval: the deadline of each is the producer's own next set.
//
// Chosen: `random` is drawn as a share of the interval, from a stream of its own, so that a run with scaled
// times has the same phases, and all other draws are those of a run without phases. Rejected: a new phase for
// each set, which would make deadlines shorter and longer than an interval.

/// In [0, interval). Zero with set phase `same`, and for generation that has no sets.
Duration set_phase(const Plan& plan, ProducerId producer);

/// When in the interval the last event of a set can be generated: the phase, of addressed events the time of
/// the producer's last transfer.
Duration last_of_set_after(const Plan& plan, ProducerId producer);
/// What a producer generates at the very beginning of its next set.
Bytes first_of_set_bytes(const Plan& plan, ProducerId producer);

/// A set is generated at once and fills the buffer: with anything of the one before there is an overflow.
bool fills_buffer_at_once(const Plan& plan, ProducerId producer);

/// Bytes of sets that a producer with this phase has to generate in 0 <= t < end. Generation `sets` only.
Bytes set_bytes_until(const Plan& plan, ProducerId producer, Instant end);

// What a run of a plan can produce at most. Messages come from outside: what has more than this cannot be
// right and is refused, before sums of it leave the range of their numbers. The limits hold for a run of any
// length, so they follow from the plan and from the sizes of ids, not from how much time has passed.

/// At most this many events of a producer wait; further ones are lost and reported, also with overflow
/// `count`. It bounds the memory of a run that moves nothing at all.
inline constexpr std::uint64_t waiting_events_limit = std::uint64_t{1} << 22U;

/// More bytes than this are not counted, by all producers in the whole run: sums of them stay in range.
inline constexpr Bytes bytes_limit{std::int64_t{1} << 62U};

/// Bytes that all producers together generate in warm-up and duration. Not with generation `saturate`.
[[nodiscard]] WideInteger bytes_of_run(const Plan& plan);

/// Events that a producer generates at one instant, on average where sizes are drawn: of the producer and
/// instant with most of them. One where events come one by one.
[[nodiscard]] double events_at_once(const Plan& plan);

/// Whether so many events (pattern `build`: fragments) can have so many bytes: each has one at least and fits
/// into a place.
[[nodiscard]] bool is_amount(const Plan& plan, const Traffic& fragments);

/// Bytes that a producer can have generated by the end of generation. Generation `saturate` has no rate:
/// only the number of events is limited then, by their ids.
[[nodiscard]] Bytes most_generated(const Plan& plan);

/// Events that a producer can have offered. None has less than a byte, and each has an id.
[[nodiscard]] std::uint64_t most_events(const Plan& plan);

/// Whether an event can have been generated at this instant: not before generation began. There is no end
/// but that differences of instants are right, because the clocks of hosts are not the same.
[[nodiscard]] bool is_generation_instant(const Plan& plan, Instant instant);

/// Whether the sum of two numbers of bytes, none of them negative, is in range.
[[nodiscard]] bool adds_up(Bytes a, Bytes b);

// How much memory a producer and a consumer need for their chunk buffers. Pure arithmetic on the plan: config
// calls it before anything is allocated, transport allocates by it, and both read the same lines. (Rejected:
// a function of transport: config must not include transport.)

/// Bytes in front of the payload of every chunk on the wire and in memory.
inline constexpr std::int64_t chunk_header_bytes = 64;

/// Largest chunk of data that one message can carry, in bytes, header not counted: MPI counts are 32-bit.
inline constexpr std::int64_t chunk_size_limit_bytes =
    std::int64_t{std::numeric_limits<std::int32_t>::max()} - chunk_header_bytes;

/// A datagram is a chunk, its header included: the least that an Ethernet frame carries without padding, and
/// the most that UDP over IPv4 can.
inline constexpr std::int64_t datagram_least_bytes = 18;
inline constexpr std::int64_t datagram_most_bytes = 65507;
/// Datagrams that a consumer takes off its socket at a time: all the memory that it needs for them.
inline constexpr std::int64_t datagrams_at_a_time = 64;

namespace detail {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

/// a x b for numbers >= 0; what does not fit is the largest number, which no memory check lets pass.
constexpr std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return a != 0 && b > most / a ? most : a * b;
}

}  // namespace detail

/// Payload bytes that a chunk buffer holds: the chunk size, or the whole event where events are smaller.
/// This and all below need chunk_size, slot_size > 0 and streams, slots, window > 0.
constexpr std::int64_t chunk_capacity_bytes(const Plan& plan) {
    return std::min(plan.chunk_size.count, plan.slot_size.count);
}

/// Distance from one chunk buffer to the next. Chunks from 32 KiB on begin on a page of their own: such
/// messages go by RDMA, whose registration is per buffer, and registrations of two buffers must not share a
/// page (UCX may merge those into one that grows with each buffer). Smaller ones are copied by MPI anyway and
/// are packed.
constexpr std::int64_t chunk_stride_bytes(const Plan& plan) {
    constexpr std::int64_t cache_line = 64;
    constexpr std::int64_t page = 4096;
    constexpr std::int64_t zero_copy_from = 32 * 1024;
    const std::int64_t capacity = chunk_capacity_bytes(plan);
    const std::int64_t unit = capacity >= zero_copy_from ? page : cache_line;
    if (capacity > chunk_size_limit_bytes) {
        return std::numeric_limits<std::int64_t>::max();
    }
    return detail::ceil_div(chunk_header_bytes + capacity, unit) * unit;
}

/// Chunk buffers of one stream: enough for the window, and enough that all streams together hold
/// `plan.buffer` bytes. A producer goes through them in a ring, so data comes out of memory and not out of
/// the cache.
constexpr std::int64_t chunk_buffers_per_stream(const Plan& plan) {
    const std::int64_t per_stream = detail::ceil_div(plan.buffer.count, std::int64_t{plan.streams});
    return std::max(std::int64_t{plan.window}, detail::ceil_div(per_stream, chunk_capacity_bytes(plan)));
}

/// Chunk buffers of one place of a slot: one for every chunk of the largest fragment.
constexpr std::int64_t chunk_buffers_per_place(const Plan& plan) {
    return detail::ceil_div(plan.slot_size.count, plan.chunk_size.count);
}

/// About what a connection of engine ucx takes of a rank's memory: a queue of 256 sends of a queue pair, or
/// the segments that UCX keeps for a socket.
inline constexpr std::int64_t queue_pair_memory_bytes = 32 * 1024;

/// Of a rank's connections to its peers, but for the first to each.
constexpr std::int64_t connection_memory_bytes(std::uint32_t queue_pairs, std::uint32_t peers) {
    return (std::int64_t{queue_pairs} - 1) * peers * queue_pair_memory_bytes;
}

/// Bytes of chunk buffers on a producer rank; saturates instead of overflowing.
constexpr std::int64_t producer_memory_bytes(const Plan& plan) {
    const std::int64_t buffers =
        detail::saturating_product(chunk_buffers_per_stream(plan), std::int64_t{plan.streams});
    return detail::saturating_product(buffers, chunk_stride_bytes(plan));
}

/// Bytes of chunk buffers on a consumer rank; saturates instead of overflowing.
constexpr std::int64_t consumer_memory_bytes(const Plan& plan) {
    if (plan.lossy()) {
        return datagrams_at_a_time * chunk_stride_bytes(plan);
    }
    const std::int64_t buffers =
        detail::saturating_product(chunk_buffers_per_place(plan), std::int64_t{plan.places()});
    return detail::saturating_product(buffers, chunk_stride_bytes(plan));
}

}  // namespace weir::core
