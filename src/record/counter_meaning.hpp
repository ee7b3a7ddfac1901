// What a network counter measures, by its name. Vendors name the same thing in many ways: the catalogue
// (counter_catalogue.cpp) has the names of Linux drivers, what each counts, in which unit, and its family,
// under which run.json has the sums of all of them. docs/counters.md is made from it. A counter with another
// name is recorded and not interpreted: that it moved is said (judge/network_findings.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
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

/// One count. A device may have it under several names: the largest is it. What several counts of one family
/// count is not the same, and adds up.
struct CounterCount {
    std::string_view family;  ///< as in run.json; empty: only the meaning is used
    CounterMeaning meaning = CounterMeaning::none;
    std::string_view unit;
    std::string_view what;
};

/// Names of one count. `#` stands for the number of a priority or class, whose counters add up; `%` for that
/// of a queue, whose counters are read as one, with n in place of the number.
struct CounterNames {
    std::string_view names;  ///< as the driver has them, with a space between; ':' and '_' in place of spaces
    const CounterCount* count = nullptr;
    int bits = 64;
};

struct CounterDriver {
    std::string_view name;    ///< as of `ethtool -i`
    std::string_view source;  ///< of the names: a file of the kernel, unless it says something else
    std::span<const CounterNames> rows;
};

struct CounterFamily {
    std::string_view name;
    std::string_view unit;
    std::string_view title;
    std::string_view remedy;  ///< what to do when it moves
};

/// Of the kernel and of RDMA devices, and of Ethernet drivers.
std::span<const CounterDriver> rdma_counters();
std::span<const CounterDriver> ethernet_counters();
std::span<const CounterFamily> counter_families();

/// Whether a counter of this meaning counts packets that were lost, or taken for lost.
constexpr bool shows_losses(CounterMeaning meaning) {
    return meaning == CounterMeaning::dropped || meaning == CounterMeaning::resent ||
           meaning == CounterMeaning::resent_burst || meaning == CounterMeaning::timed_out;
}

/// Whether what it counts is no traffic, and of the kind that the verdict on the network is made of.
constexpr bool shows_trouble(CounterMeaning meaning) {
    return meaning != CounterMeaning::none && meaning < CounterMeaning::received_bytes;
}

/// Whether the counters of this source are the kernel's for a protocol, and not a device's.
bool is_protocol(std::string_view source);

struct KnownCounter {
    const CounterCount* count = nullptr;  ///< nothing: the name is not known
    bool of_priority = false;
    bool of_queue = false;
    int bits = 64;

    [[nodiscard]] CounterMeaning meaning() const {
        return count == nullptr ? CounterMeaning::none : count->meaning;
    }
    [[nodiscard]] std::string_view family() const {
        return count == nullptr ? std::string_view{} : count->family;
    }
    [[nodiscard]] bool is_level() const;  ///< a setting, a share or a level among the counters
};

/// By the name of a counter as a column has it, or a driver ("port.rx_discards"); `driver` first, if it is
/// known.
KnownCounter known_counter(std::string_view name, std::string_view driver = {});
/// The same by column: "mlx5_0.np_cnp_sent"
KnownCounter known_column(std::string_view column);

inline CounterMeaning meaning_of(std::string_view column) {
    return known_column(column).meaning();
}

/// Whether the name of an unknown counter sounds like losses, pauses, marks or notifications.
bool sounds_like_trouble(std::string_view name);

/// "rx_queue_n_drops" of "rx_queue_7_drops": the column of a counter of queues.
std::string without_number(std::string_view name);

}  // namespace weir::record
