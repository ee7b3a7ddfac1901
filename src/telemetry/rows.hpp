// The rows that ranks log: one per second and rank, in plain integers, so that sums of rows are exact. The
// CSV files (csv_log), the live sample for the leader (live_sample) and the summary (rank_summary) are
// all made from these.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "telemetry/building_flow.hpp"
#include "telemetry/burst_rows.hpp"
#include "telemetry/datagram_recorder.hpp"
#include "telemetry/heartbeat_delays.hpp"

namespace weir::telemetry {

/// "No second": where a second is named that may not exist.
inline constexpr std::int64_t no_second = std::numeric_limits<std::int64_t>::min();

enum class Phase : std::uint8_t { warmup, measure, drain };

constexpr const char* phase_name(Phase phase) {
    switch (phase) {
        case Phase::warmup:
            return "warmup";
        case Phase::measure:
            return "measure";
        case Phase::drain:
            return "drain";
    }
    return "unknown";
}

/// Seconds before 0 are warm-up; from `duration` on (rounded up to a whole second) buffers drain.
constexpr Phase phase_of(std::int64_t second, core::Duration duration) {
    if (second < 0) {
        return Phase::warmup;
    }
    constexpr std::int64_t ns = core::Duration::seconds(1).ns;
    return second < (duration.ns + ns - 1) / ns ? Phase::measure : Phase::drain;
}

/// A number of events and of their bytes.
struct Flow {
    std::uint64_t events = 0;
    core::Bytes bytes;

    constexpr Flow& operator+=(const Flow& other) {
        events += other.events;
        bytes += other.bytes;
        return *this;
    }
    constexpr bool operator==(const Flow&) const = default;
};

/// Where the time went. Each role fills its own fields, which sum to the time covered (a producer's are
/// stream time divided by its streams), except `processing`, which goes on beside the others.
struct TimeUse {
    core::Duration transferring;      ///< producer: chunks of a granted event on their way
    core::Duration waiting_for_slot;  ///< producer, scheduler: events offered, no consumer has a free slot
    core::Duration
        waiting_for_grant;  ///< producer: events offered, some consumer has a free slot, no grant yet
    core::Duration
        waiting_for_stream;  ///< scheduler: events and free slots, but those producers' streams are in use
    core::Duration waiting_for_data;  ///< all: nothing to send, nothing on its way, no event to grant
    core::Duration receiving;         ///< consumer: some transfer to it is under way
    core::Duration blocked;           ///< consumer: processing holds every slot
    core::Duration idle;              ///< scheduler: neither events nor free slots
    core::Duration processing;        ///< consumer: working on an event

    constexpr TimeUse& operator+=(const TimeUse& other) {
        transferring += other.transferring;
        waiting_for_slot += other.waiting_for_slot;
        waiting_for_grant += other.waiting_for_grant;
        waiting_for_stream += other.waiting_for_stream;
        waiting_for_data += other.waiting_for_data;
        receiving += other.receiving;
        blocked += other.blocked;
        idle += other.idle;
        processing += other.processing;
        return *this;
    }
    /// Sum of all fields but `processing`: the time covered.
    [[nodiscard]] constexpr core::Duration sum() const {
        return transferring + waiting_for_slot + waiting_for_grant + waiting_for_stream + waiting_for_data +
               receiving + blocked + idle;
    }
    constexpr bool operator==(const TimeUse&) const = default;
};

/// Mean and spread of a rate over transfers, each with its bytes as weight.
struct RateMoments {
    double bytes = 0;
    double rates = 0;    ///< bytes x bits per second
    double squares = 0;  ///< bytes x that squared

    constexpr void add(core::Bytes weight, double bits_per_second) {
        const auto its_bytes = static_cast<double>(weight.count);
        bytes += its_bytes;
        rates += its_bytes * bits_per_second;
        squares += its_bytes * bits_per_second * bits_per_second;
    }
    constexpr RateMoments& operator+=(const RateMoments& other) {
        bytes += other.bytes;
        rates += other.rates;
        squares += other.squares;
        return *this;
    }
    [[nodiscard]] double mean() const { return bytes > 0 ? rates / bytes : 0; }
    /// Standard deviation over mean; 0: of nothing, or all are alike.
    [[nodiscard]] double relative_deviation() const {
        return rates > 0 ? std::sqrt(std::max(0.0, squares * bytes / (rates * rates) - 1)) : 0;
    }
    constexpr bool operator==(const RateMoments&) const = default;
};

/// Where work and room for it were, beside TimeUse, of which these are no part: times in which something was
/// so, and integrals of a number over time (two slots for one second are 2 s). Each role fills its own.
/// Together they tell of an event that was held up, and of a slot that was not used, who had it: what
/// consumers call a free slot and the scheduler does not know as a credit is on its way, or unread.
struct Load {
    core::Duration backlogged{};   ///< producer: something is there to send, or on its way
    core::Duration sending{};      ///< producer: some transfer is under way
    core::Duration all_streams{};  ///< producer: all streams transfer
    core::Duration free_slots{};  ///< integral. Consumer: its credit is given; scheduler: known and not spent
    core::Duration
        receiving_slots{};          ///< integral, consumer: from the first byte handed over to the last here
    core::Duration queued_slots{};  ///< integral, consumer: a whole event waits for processing, or is in it
    core::Duration withheld_slots{};  ///< integral, consumer: empty, without a credit (--high-water), or the
                                      ///< consumer is gone
    core::Duration outstanding{};     ///< integral, scheduler: events granted and not done
    core::Duration handling{};        ///< scheduler: handles messages

    /// Producer, consumer: of heartbeats that were read while something was there to send (producer). A
    /// simulation has none.
    HeartbeatDelays heartbeats{};

    core::Duration transfers{};  ///< integral, producer: transfers under way
    // Of each transfer: its rate; what the rank's link carried while it lasted, twice: its rate times the
    // mean number of transfers under way with it, and the bytes that were counted in that time, which is
    // right also where transfers do not share evenly, and coarse where they have few chunks.
    RateMoments transfer_rates{};
    RateMoments link_shares{};
    RateMoments link_rates{};

    constexpr Load& operator+=(const Load& other) {
        backlogged += other.backlogged;
        sending += other.sending;
        all_streams += other.all_streams;
        free_slots += other.free_slots;
        receiving_slots += other.receiving_slots;
        queued_slots += other.queued_slots;
        withheld_slots += other.withheld_slots;
        outstanding += other.outstanding;
        handling += other.handling;
        heartbeats += other.heartbeats;
        transfers += other.transfers;
        transfer_rates += other.transfer_rates;
        link_shares += other.link_shares;
        link_rates += other.link_rates;
        return *this;
    }
    constexpr bool operator==(const Load&) const = default;
};

/// What every row begins with.
struct RowStart {
    std::int64_t second = 0;  ///< number on the common clock; negative in the warm-up
    Phase phase = Phase::warmup;
    core::Duration covered;  ///< 1 s, but less in the second in which recording began or ended
};

/// Whether a consumer was blocked at fixed instants of a second, which are the same on all ranks: 20 of them,
/// 25 ms, 75 ms, ... after its beginning. Counting ranks at one instant gives how many were blocked at once,
/// which neither times per second nor a sample at the second's end do (sets begin there, so that is when
/// fewest are blocked).
struct BlockedSamples {
    static constexpr int per_second = 20;
    static constexpr core::Duration period = core::Duration::milliseconds(1000 / per_second);

    std::uint32_t bits = 0;  ///< bit i: at 25 ms + i x 50 ms

    [[nodiscard]] constexpr bool at(int sample) const { return ((bits >> sample) & 1U) != 0; }

    /// Blocked from `from` on for `length`; both lie in one second.
    constexpr void add(core::Instant from, core::Duration length) {
        constexpr std::int64_t second_ns = core::Duration::seconds(1).ns;
        const std::int64_t begin_ns = ((from.ns % second_ns) + second_ns) % second_ns;
        // The first sample at or after the beginning, up to the end (exclusive).
        std::int64_t sample = (begin_ns + period.ns / 2 - 1) / period.ns;
        for (; sample < per_second && sample * period.ns + period.ns / 2 < begin_ns + length.ns; ++sample) {
            bits |= std::uint32_t{1} << static_cast<unsigned>(sample);
        }
    }
    constexpr bool operator==(const BlockedSamples&) const = default;
};

struct ProducerRow {
    RowStart start;
    Flow generated;
    Flow sent;  ///< bytes count when a chunk left (simulated: as they leave), events when their last chunk
                ///< left
    Flow lost;
    core::BitRate sent_peak_10ms;  ///< the best 10 ms of the second
    core::Bytes backlog;           ///< at the second's end
    double occupancy_mean = 0;     ///< NaN where there is no occupancy (generation saturate)
    double occupancy_peak = 0;
    std::uint64_t grants = 0;
    TimeUse time;
    Load load;
    std::uint64_t late_sets = 0;  ///< found late in this second
    DatagramSecond datagrams;
    core::Duration poll_gap_max;
    core::Instant poll_gap_end{};       ///< when the longest ended
    std::vector<ProducerBurst> bursts;  ///< with --row-interval, in order
};

struct ConsumerRow {
    RowStart start;
    Flow received;  ///< bytes count when a chunk arrived (simulated: as they arrive), events when they were
                    ///< whole
    core::BitRate received_peak_10ms;
    Flow processed;
    Flow lost;  ///< lossy transports: sent, and given up here because it did not become whole
    TimeUse time;
    Load load;
    BlockedSamples blocked_samples;
    std::uint32_t free_slots_min = 0;
    std::uint64_t corrupt_events = 0;
    std::uint64_t duplicate_events = 0;
    BuildingFlow building;
    bool builds = false;      ///< pattern build; else finished and given up events mean nothing
    bool asks_again = false;  ///< likewise
    DatagramSecond datagrams;
    core::Duration poll_gap_max;
    core::Instant poll_gap_end{};       ///< when the longest ended
    std::vector<ConsumerBurst> bursts;  ///< as of a producer
};

struct SchedulerRow {
    RowStart start;
    std::uint64_t ready_messages = 0;
    std::uint64_t offer_messages = 0;
    std::uint64_t done_messages = 0;
    std::uint64_t grants = 0;
    std::optional<std::uint64_t> control_packets;  ///< with such messages, either way; none in a simulation
    std::uint64_t events_without_credit = 0;       ///< offered when no consumer had a credit for them
    Flow results;                                  ///< of events, as they arrived
    std::uint64_t waiting_events = 0;              ///< offered and not granted, at the second's end
    std::uint64_t free_slots = 0;                  ///< credits not spent, at the second's end
    TimeUse time;
    Load load;
    core::Duration poll_gap_max;
    core::Instant poll_gap_end{};        ///< when the longest ended
    std::vector<SchedulerBurst> bursts;  ///< as of a producer
};

}  // namespace weir::telemetry
