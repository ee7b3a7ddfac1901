// The rows that ranks log, one per second and rank, and the table of their columns. Counts are plain
// integers, so that sums of rows are exact. The CSV files (csv_log), the live sample for the leader
// (live_sample), the summary (rank_summary) and the sums in run.json are all made from these.
//
// Chosen: fields with names and types, which a column of the table refers to, and sums that take in all
// fields (core/ledger.hpp). Rejected: arrays by an index, which lose the types.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "files/formatting.hpp"
#include "record/burst_rows.hpp"
#include "record/heartbeat_delays.hpp"

namespace weir::record {

/// What a rank counts of datagrams in a second or in a run. All zero where chunks are not datagrams.
struct DatagramCounts {
    // Producer: what the kernel took. Frames and bytes on the wire are computed (core/datagram_frames.hpp).
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;  ///< payload of UDP
    std::uint64_t sent_frames = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t send_retries = 0;
    // Consumer: what it took off its socket.
    std::uint64_t received = 0;  ///< first ones, whole, and in time
    std::uint64_t duplicate = 0;
    std::uint64_t late = 0;
    std::uint64_t corrupt = 0;
    std::uint64_t strays = 0;        ///< from elsewhere
    std::uint64_t socket_drops = 0;  ///< what it could not: the receive buffer was full

    DatagramCounts& operator+=(const DatagramCounts& other) {
        return core::combine_fields(*this, other, std::plus{});
    }
    constexpr bool operator==(const DatagramCounts&) const = default;
};

/// "No second": where a second is named that may not exist.
inline constexpr std::int64_t no_second = std::numeric_limits<std::int64_t>::min();

enum class Phase : std::uint8_t { warmup, measure, drain };

constexpr const char* phase_name(Phase phase) {
    return files::word_of(phase, {"warmup", "measure", "drain"});
}

/// Seconds before 0 are warm-up; from `duration` on (rounded up to a whole second) buffers drain.
constexpr Phase phase_of(std::int64_t second, core::Duration duration) {
    if (second < 0) {
        return Phase::warmup;
    }
    constexpr std::int64_t ns = core::Duration::seconds(1).ns;
    return second < (duration.ns + ns - 1) / ns ? Phase::measure : Phase::drain;
}

/// What is counted in a second, and what sums of rows are made of. A role leaves what it does not do at 0.
struct Counts {
    core::Traffic generated;
    core::Traffic sent;  ///< bytes count when a chunk left (simulated: as they leave), events when their last
                         ///< chunk left
    core::Traffic lost;  ///< producer: dropped or left over; consumer of a lossy transport: sent, and given
                         ///< up here because it did not become whole
    core::Traffic received;  ///< bytes count when a chunk arrived (simulated: as they arrive), events when
                             ///< they were whole
    core::Traffic processed;
    std::uint64_t grants = 0;
    std::uint64_t late_sets = 0;  ///< found late in this second
    std::uint64_t corrupt_events = 0;
    std::uint64_t duplicate_events = 0;
    std::uint64_t finished_events = 0;  ///< pattern build: all fragments came
    std::uint64_t given_up_events = 0;  ///< pattern build: a fragment was declined or lost
    std::uint64_t asked_again = 0;      ///< transport datagram: fragments asked for again
    std::uint64_t ready_messages = 0;
    std::uint64_t offer_messages = 0;
    std::uint64_t done_messages = 0;
    std::uint64_t control_packets = 0;        ///< with control messages, either way
    std::uint64_t events_without_credit = 0;  ///< offered when no consumer had a credit for them
    core::Traffic results;                    ///< of events, as they arrived at the scheduler
    DatagramCounts datagrams;

    Counts& operator+=(const Counts& other) { return core::combine_fields(*this, other, std::plus{}); }
    Counts& operator-=(const Counts& other) { return core::combine_fields(*this, other, std::minus{}); }
    /// What a rank of this role moves: a producer sends, a consumer receives, the scheduler moves nothing.
    [[nodiscard]] constexpr core::Traffic moved(core::Role role) const {
        return role == core::Role::producer   ? sent
               : role == core::Role::consumer ? received
                                              : core::Traffic{};
    }
    constexpr bool operator==(const Counts&) const = default;
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

    TimeUse& operator+=(const TimeUse& other) { return core::combine_fields(*this, other, std::plus{}); }
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
/// Together they show who had an event that was held up, or a slot that was not used: what
/// consumers count as a free slot and the scheduler not as a credit is on its way, or unread.
struct LoadTimes {
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
    core::Duration transfers{};       ///< integral, producer: transfers under way

    LoadTimes& operator+=(const LoadTimes& other) { return core::combine_fields(*this, other, std::plus{}); }
    constexpr bool operator==(const LoadTimes&) const = default;
};

struct Load : LoadTimes {
    /// Producer, consumer: of heartbeats that were read while something was there to send (producer). A
    /// simulation has none.
    HeartbeatDelays heartbeats{};

    // For each transfer: its rate; what the rank's link carried while it lasted, twice: its rate times the
    // mean number of transfers under way with it, and the bytes that were counted in that time, which is
    // right also where transfers do not share evenly, and coarse where they have few chunks.
    RateMoments transfer_rates{};
    RateMoments link_shares{};
    RateMoments link_rates{};

    Load& operator+=(const Load& other) {
        LoadTimes::operator+=(other);
        heartbeats += other.heartbeats;
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

/// Poll gaps of one second. A gap counts in the second in which it ended.
struct PollGaps {
    /// From here on a gap counts as a stall: the rank was not running when it should have been.
    static constexpr core::Duration stall = core::Duration::milliseconds(10);

    core::Duration largest;
    core::Instant largest_end;  ///< means nothing without one
    core::Duration stalled;     ///< sum of stalls

    /// That ended `now`.
    constexpr void add(core::Instant now, core::Duration gap) {
        if (gap > largest) {
            largest = gap;
            largest_end = now;
        }
        if (gap >= stall) {
            stalled += gap;
        }
    }
};

/// What a live sample has of a second as well as its row.
struct LiveState {
    RowStart start;
    double occupancy_peak = 0;         ///< producer; NaN where there is no occupancy (generation saturate)
    bool overflowed = false;           ///< producer, in any phase
    BlockedSamples blocked_samples;    ///< consumer
    core::Bytes burst;                 ///< most moved in a whole interval of --row-interval; 0 without
    std::uint64_t waiting_events = 0;  ///< scheduler: offered and not granted, at the second's end
    std::uint64_t free_slots = 0;      ///< scheduler: credits not spent, at the second's end
};

/// Which columns have values; the others are empty in rows, and null in `totals`.
struct Known {
    bool datagrams = false;  ///< there is a socket
    bool builds = false;     ///< pattern build
    bool asks_again = false;
    bool control_packets = false;  ///< not in a simulation
    bool credits = true;           ///< totals: false where consumers grant; rows have a 0 there
};

/// A row of whichever role. Recorders fill in that of the second at hand.
struct Row : Counts, LiveState {
    TimeUse time;
    Load load;
    Known known;
    PollGaps poll_gaps;
    core::BitRate peak_10ms;  ///< producer, consumer: the best 10 ms of the second
    // Producer.
    core::Bytes backlog;  ///< at the second's end
    double occupancy_mean = 0;
    bool overflowed_in_measure = false;  ///< at an instant in [0, duration)
    // Consumer.
    std::uint32_t free_slots_min = 0;
    core::Duration silence;  ///< the longest in which nothing came although something was on its way, data or
                             ///< a heartbeat
    core::Instant silence_end;                 ///< means nothing without one
    std::int64_t socket_buffer_max_bytes = 0;  ///< most in its receive buffer
};

/// A row with what was recorded of each interval of --row-interval.
template <core::Role its_role, typename Burst>
struct RowWithBursts : Row {
    static constexpr core::Role role = its_role;
    std::vector<Burst> bursts;  ///< in order

    /// For the next second. Keeps the memory of bursts.
    void clear() {
        bursts.clear();
        static_cast<Row&>(*this) = {};
    }
};
using ProducerRow = RowWithBursts<core::Role::producer, ProducerBurst>;
using ConsumerRow = RowWithBursts<core::Role::consumer, ConsumerBurst>;
using SchedulerRow = RowWithBursts<core::Role::scheduler, SchedulerBurst>;

/// What stands in a column: a number of things, a time, or a fraction (NaN: not known).
using Number = std::variant<std::int64_t, core::Duration, double>;

/// Where a column's sums stand besides.
enum class SumsIn : std::uint8_t {
    none,
    totals,           ///< `totals` of run.json
    totals_and_live,  ///< there, and in the live lines of --json
    time,             ///< `time` of a rank in run.json, with the other shares of its time
    load,             ///< `load` of a rank in run.json
};

struct Column {
    std::string_view name;  ///< with its unit, if it has one, at the end
    std::string_view unit;  ///< "1": a fraction
    Number (*number)(const Row&);
    SumsIn sums = SumsIn::none;
    bool Known::* known = nullptr;  ///< nullptr: always
};

/// The field that is reached from a row by these members.
template <auto... members>
constexpr Number at(const Row& row) {
    const auto& field = (row.*....*members);
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, core::Bytes>) {
        return field.count;
    } else if constexpr (std::is_same_v<Field, core::BitRate>) {
        return field.bits_per_second;
    } else if constexpr (std::is_integral_v<Field>) {
        return static_cast<std::int64_t>(field);
    } else {
        return field;
    }
}

// The columns between those that all rows begin with, and the one with which they end.

inline constexpr auto producer_columns = std::to_array<Column>({
    {"generated_events", "events", at<&Row::generated, &core::Traffic::events>, SumsIn::totals},
    {"generated_bytes", "bytes", at<&Row::generated, &core::Traffic::bytes>, SumsIn::totals},
    {"sent_events", "events", at<&Row::sent, &core::Traffic::events>, SumsIn::totals},
    {"sent_bytes", "bytes", at<&Row::sent, &core::Traffic::bytes>, SumsIn::totals},
    {"sent_peak_10ms_bits_per_second", "b/s", at<&Row::peak_10ms>},
    {"lost_events", "events", at<&Row::lost, &core::Traffic::events>, SumsIn::totals_and_live},
    {"lost_bytes", "bytes", at<&Row::lost, &core::Traffic::bytes>, SumsIn::totals},
    {"backlog_bytes", "bytes", at<&Row::backlog>},
    {"occupancy_mean", "1", at<&Row::occupancy_mean>},
    {"occupancy_peak", "1", at<&Row::occupancy_peak>},
    {"grants", "events", at<&Row::grants>},
    {"transferring_s", "s", at<&Row::time, &TimeUse::transferring>, SumsIn::time},
    {"waiting_for_slot_s", "s", at<&Row::time, &TimeUse::waiting_for_slot>, SumsIn::time},
    {"waiting_for_grant_s", "s", at<&Row::time, &TimeUse::waiting_for_grant>, SumsIn::time},
    {"waiting_for_data_s", "s", at<&Row::time, &TimeUse::waiting_for_data>, SumsIn::time},
    {"poll_gap_max_us", "us", at<&Row::poll_gaps, &PollGaps::largest>},
    {"sent_datagrams", "datagrams", at<&Row::datagrams, &DatagramCounts::sent>, SumsIn::none,
     &Known::datagrams},
    {"sent_frames", "frames", at<&Row::datagrams, &DatagramCounts::sent_frames>, SumsIn::none,
     &Known::datagrams},
    {"wire_bytes", "bytes", at<&Row::datagrams, &DatagramCounts::wire_bytes>, SumsIn::none,
     &Known::datagrams},
    {"send_retries", "attempts", at<&Row::datagrams, &DatagramCounts::send_retries>, SumsIn::none,
     &Known::datagrams},
    {"late_sets", "sets", at<&Row::late_sets>},
    {"backlogged_s", "s", at<&Row::load, &Load::backlogged>, SumsIn::load},
    {"sending_s", "s", at<&Row::load, &Load::sending>, SumsIn::load},
    {"all_streams_s", "s", at<&Row::load, &Load::all_streams>, SumsIn::load},
});

inline constexpr auto consumer_columns = std::to_array<Column>({
    {"received_events", "events", at<&Row::received, &core::Traffic::events>, SumsIn::totals},
    {"received_bytes", "bytes", at<&Row::received, &core::Traffic::bytes>, SumsIn::totals},
    {"received_peak_10ms_bits_per_second", "b/s", at<&Row::peak_10ms>},
    {"processed_events", "events", at<&Row::processed, &core::Traffic::events>, SumsIn::totals},
    {"processing_s", "s", at<&Row::time, &TimeUse::processing>, SumsIn::time},
    {"receiving_s", "s", at<&Row::time, &TimeUse::receiving>, SumsIn::time},
    {"blocked_s", "s", at<&Row::time, &TimeUse::blocked>, SumsIn::time},
    {"waiting_for_data_s", "s", at<&Row::time, &TimeUse::waiting_for_data>, SumsIn::time},
    {"blocked_samples_50ms", "bits", at<&Row::blocked_samples, &BlockedSamples::bits>},
    {"free_slots_min", "slots", at<&Row::free_slots_min>},
    {"corrupt_events", "events", at<&Row::corrupt_events>, SumsIn::totals_and_live},
    {"duplicate_events", "events", at<&Row::duplicate_events>, SumsIn::totals_and_live},
    {"poll_gap_max_us", "us", at<&Row::poll_gaps, &PollGaps::largest>},
    {"received_datagrams", "datagrams", at<&Row::datagrams, &DatagramCounts::received>, SumsIn::none,
     &Known::datagrams},
    {"duplicate_datagrams", "datagrams", at<&Row::datagrams, &DatagramCounts::duplicate>, SumsIn::none,
     &Known::datagrams},
    {"late_datagrams", "datagrams", at<&Row::datagrams, &DatagramCounts::late>, SumsIn::none,
     &Known::datagrams},
    {"corrupt_datagrams", "datagrams", at<&Row::datagrams, &DatagramCounts::corrupt>, SumsIn::none,
     &Known::datagrams},
    {"socket_drops", "datagrams", at<&Row::datagrams, &DatagramCounts::socket_drops>, SumsIn::none,
     &Known::datagrams},
    {"socket_buffer_max_bytes", "bytes", at<&Row::socket_buffer_max_bytes>, SumsIn::none, &Known::datagrams},
    {"finished_events", "events", at<&Row::finished_events>, SumsIn::totals, &Known::builds},
    {"given_up_events", "events", at<&Row::given_up_events>, SumsIn::totals, &Known::builds},
    {"asked_again", "fragments", at<&Row::asked_again>, SumsIn::totals, &Known::asks_again},
    {"lost_events", "events", at<&Row::lost, &core::Traffic::events>},
    {"lost_bytes", "bytes", at<&Row::lost, &core::Traffic::bytes>},
    {"free_slot_s", "slots x s", at<&Row::load, &Load::free_slots>, SumsIn::load},
    {"receiving_slot_s", "slots x s", at<&Row::load, &Load::receiving_slots>, SumsIn::load},
    {"queued_slot_s", "slots x s", at<&Row::load, &Load::queued_slots>, SumsIn::load},
    {"withheld_slot_s", "slots x s", at<&Row::load, &Load::withheld_slots>, SumsIn::load},
});

inline constexpr auto scheduler_columns = std::to_array<Column>({
    {"ready_messages", "messages", at<&Row::ready_messages>},
    {"offer_messages", "messages", at<&Row::offer_messages>},
    {"done_messages", "messages", at<&Row::done_messages>},
    {"grants", "events", at<&Row::grants>},
    {"control_packets", "packets", at<&Row::control_packets>, SumsIn::totals, &Known::control_packets},
    {"events_without_credit", "events", at<&Row::events_without_credit>, SumsIn::totals, &Known::credits},
    {"results", "results", at<&Row::results, &core::Traffic::events>, SumsIn::totals},
    {"result_bytes", "bytes", at<&Row::results, &core::Traffic::bytes>, SumsIn::totals},
    {"waiting_events", "events", at<&Row::waiting_events>},
    {"free_slots", "slots", at<&Row::free_slots>},
    {"waiting_for_data_s", "s", at<&Row::time, &TimeUse::waiting_for_data>, SumsIn::time},
    {"waiting_for_slot_s", "s", at<&Row::time, &TimeUse::waiting_for_slot>, SumsIn::time},
    {"waiting_for_stream_s", "s", at<&Row::time, &TimeUse::waiting_for_stream>, SumsIn::time},
    {"idle_s", "s", at<&Row::time, &TimeUse::idle>, SumsIn::time},
    {"poll_gap_max_us", "us", at<&Row::poll_gaps, &PollGaps::largest>},
    {"handling_s", "s", at<&Row::load, &Load::handling>, SumsIn::load},
    {"free_slot_s", "slots x s", at<&Row::load, &Load::free_slots>, SumsIn::load},
    {"outstanding_event_s", "events x s", at<&Row::load, &Load::outstanding>, SumsIn::load},
});

constexpr std::span<const Column> columns_of(core::Role role) {
    return role == core::Role::producer   ? std::span<const Column>(producer_columns)
           : role == core::Role::consumer ? std::span<const Column>(consumer_columns)
                                          : std::span<const Column>(scheduler_columns);
}

/// take(column, sum) of each column, of any role, that stands in `totals`, or also in live lines.
template <typename Take>
void each_total(const Counts& counts, SumsIn least, Take&& take) {
    Row sums;
    static_cast<Counts&>(sums) = counts;
    for (const core::Role role : {core::Role::producer, core::Role::consumer, core::Role::scheduler}) {
        for (const Column& column : columns_of(role)) {
            if (column.sums == SumsIn::totals_and_live ||
                (column.sums == SumsIn::totals && column.sums == least)) {
                take(column, std::get<std::int64_t>(column.number(sums)));
            }
        }
    }
}

}  // namespace weir::record
