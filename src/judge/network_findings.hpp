// The sums of all hosts' counters by what they measure (counter_meaning.hpp), for the verdict on the network.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "record/counter_meaning.hpp"
#include "record/host_counters.hpp"
#include "record/switch_counters.hpp"

namespace weir::judge {

/// One kind of counter, over all hosts and devices.
struct CounterKind {
    std::string name;
    record::CounterMeaning meaning = record::CounterMeaning::none;
    std::uint64_t sum = 0;
    std::uint64_t most = 0;  ///< on one host
    std::string most_host;
    bool is_partial = false;  ///< of part of the run: counters were gone or reset
};

/// Of a device, with a name that the catalogue does not have, and moved.
struct UnknownCounter {
    std::string name;
    std::uint64_t sum = 0;
    bool sounds_like_trouble = false;
    std::set<std::string> devices;  ///< "ionic_0"
    std::set<std::string> hosts;
};

/// What is missing of a device's counters, on the host on which that began first, and on others.
struct HostGap {
    record::CounterGap gap;
    std::string host;
    std::size_t other_hosts = 0;
};

struct NetworkFindings {
    std::vector<CounterKind> kinds;       ///< with a meaning; the largest sums first
    std::vector<UnknownCounter> unknown;  ///< what sounds like trouble first, then the largest
    std::vector<HostGap> gaps;            ///< of counters during the run
    std::size_t hosts = 0;                ///< that handed in
    std::size_t counters = 0;             ///< that are known to show losses, pauses, marks or notifications
    std::size_t hosts_with_losses = 0;    ///< with counters of lost packets that see the data
    std::size_t hosts_with_pauses = 0;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;       ///< received; where only packets are counted, what they can have held
    std::string uncounted_device;  ///< counts neither bytes nor packets; empty: none

    /// Whether any host has a counter of this kind, whatever it counted.
    [[nodiscard]] bool counted(record::CounterMeaning meaning) const;
    /// From how many on a counter is worth naming.
    [[nodiscard]] std::uint64_t least(const CounterKind& kind) const;
    /// Whether every device that received pauses counted their time, and each was stopped for less than a
    /// thousandth of the measured one.
    bool pauses_were_short = true;

    /// What timed out came twice, and nothing else was missing: data or acknowledgements waited for longer
    /// than senders wait for them, and were not lost.
    bool waited_too_long = false;

    /// The kinds with one of these meanings, as text; empty if there are none. `few`: also those below
    /// least().
    [[nodiscard]] std::string listed(std::initializer_list<record::CounterMeaning> meanings,
                                     bool few = false) const;
    /// Whether an unknown counter that sounds like losses, pauses or marks counted more than a few.
    [[nodiscard]] bool unknown_trouble() const;
    /// "6 counters of ionic_0 on eb01 moved whose meaning is not known: ..."; empty: none did.
    [[nodiscard]] std::string unknown_text() const;
    /// "the counters of mlx5_0 on eb01 are missing from second 2 on"; empty: there are no gaps.
    [[nodiscard]] std::string gaps_text() const;
    /// With the most of the first kind that listed() names; empty: there is none.
    [[nodiscard]] std::string worst_host(std::initializer_list<record::CounterMeaning> meanings) const;
    /// Of the packets that hosts received, by the largest kind with this meaning; nothing: no packets were
    /// counted.
    [[nodiscard]] std::optional<double> share_of(record::CounterMeaning meaning) const;
};

/// `datagrams`: without what UDP counted.
NetworkFindings find_in_counters(std::span<const record::HostCounters> hosts, bool datagrams);

/// How full the busiest link of a run was, beside what was counted of losses, pauses and marks: a full link
/// without any of these has no room either. Of hosts the interfaces' own bytes and the speed that was read
/// when the run began; of a simulation packet by packet the switches' ports.
///
/// Where all speeds are known, the busiest is the one with the largest share of its speed, else the one with
/// the most bytes. Means over the measured seconds: a burst does not show in them.
struct BusiestLink {
    std::string text;           ///< empty: there is none
    std::optional<double> use;  ///< share of its speed; nothing: that is not known
};

/// "the busiest interface, eth0 on eb01, received 8.20 Gb/s, 82 % of its speed"; where the speed is not
/// known, this is reported. None if no interface counts bytes.
BusiestLink busiest_link(std::span<const record::HostCounters> hosts);

/// "the busiest port, to consumer-0, was used 98 % of 10.00 Gb/s". None if nothing was sent.
BusiestLink busiest_link(const record::SwitchTotals& switches);

}  // namespace weir::judge
