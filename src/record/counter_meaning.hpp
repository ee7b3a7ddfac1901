// What a network counter measures, by its name. Vendors name the same thing in many ways: one table has the
// names that Linux drivers use, what each counts, and its family, under which run.json has the sums of all of
// them. A counter with another name is recorded, but not interpreted.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::record {

enum class CounterMeaning : std::uint8_t {
    none,
    dropped,            ///< packets that this host threw away: full buffers and queues, broken packets
    resent,             ///< packets that came out of order or were sent again: lost, or overtaken on the way
    resent_burst,       ///< the same, but a NAK, time-out or retry stands for any number of packets
    timed_out,          ///< the same of time-outs, whose packets may only have waited for too long
    received_twice,     ///< packets that had come before: they were sent again although they were not lost
    pause_received,     ///< frames that stopped this host's sending
    pause_sent,         ///< frames by which this host stopped the switch
    pause_received_us,  ///< microseconds for which this host had to stop sending
    pause_sent_us,      ///< microseconds for which this host asked the switch to stop
    pause_transitions,  ///< how often sending was stopped; several frames can renew one pause
    marked,             ///< packets that came with an ECN mark
    notified,           ///< congestion notifications (CNPs), sent or heeded
    received_bytes,
    received_packets,
    sent_packets,
};

/// One count, under the names that it has. A device may have it under several of them: the largest is it.
/// What rows of one family count is not the same, and adds up.
struct CounterRow {
    std::string_view family;  ///< as in run.json; empty: only the meaning is used
    CounterMeaning meaning = CounterMeaning::none;
    std::string_view names;  ///< in lower case, with a space between; with a dot: of the kernel's protocols
};

/// Whether a counter of this meaning counts packets that were lost, or taken for lost.
constexpr bool shows_losses(CounterMeaning meaning) {
    return meaning == CounterMeaning::dropped || meaning == CounterMeaning::resent ||
           meaning == CounterMeaning::resent_burst || meaning == CounterMeaning::timed_out;
}

/// Whether the counters of this source are the kernel's for a protocol, and not a device's.
bool is_protocol(std::string_view source);

/// The row of the table; of an unknown counter one without family, meaning and names. `column`:
/// "mlx5_0.np_cnp_sent"
const CounterRow& row_of(std::string_view column);

inline CounterMeaning meaning_of(std::string_view column) {
    return row_of(column).meaning;
}

/// Whether it counts pauses of one priority only: "eth0.rx_prio3_pause".
bool is_of_priority(std::string_view column);

}  // namespace weir::record
