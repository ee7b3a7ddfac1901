// The mechanism by which the network affected the run, from the hosts' counters and the run's own losses:
// senders stopped by pause frames, senders slowed down by marks and notifications, or lost packets. Where
// none of these was counted, it names none, and how full the busiest link was: not that the network had room.
// It stands beside the verdict of the run: that one judges whether data was gone in time, this one explains
// how the network behaved.
//
// A few counts of anything are normal: a mechanism is named from ten counts and one in a million packets on;
// of counters that count bursts, from ten on; pauses only if they stopped some host for a thousandth of the
// time, where that is counted. Counters count a host and not a process, so they are taken for
// the run's only if the hosts received at least a hundredth of the run's payload through their interfaces,
// and `nothing_counted` needs a quarter.
//
// What endpoints cannot observe is stated. Packets that a switch drops are counted by the switch; hosts see
// them as out of order or retransmitted. CNPs do not prove that the switch marks. A switch may ignore pauses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "record/host_counters.hpp"

namespace weir::judge {

/// The worst first.
enum class NetworkMechanism : std::uint8_t {
    lossy,
    held_back_by_pfc,   ///< hosts received pause frames
    pauses_sent,        ///< hosts sent pause frames and received few or none
    controlled_by_ecn,  ///< packets were marked
    slowed_by_cnp,      ///< notifications without any mark that was counted
    nothing_counted,    ///< no loss, pause, mark or notification
    unknown,
};
/// "held_back_by_pfc": as in run.json.
const char* mechanism_name(NetworkMechanism mechanism);

/// What TCP of a host sent, and took for lost: in segments, and time-outs, in the measured seconds.
struct TcpLosses {
    std::string host;
    std::uint64_t sent = 0;
    std::uint64_t resent = 0;
    std::uint64_t timeouts = 0;
};

struct NetworkVerdict {
    /// The worst first; one at least. `nothing_counted` and `unknown` stand alone.
    std::vector<NetworkMechanism> mechanisms;
    std::string evidence;   ///< begins with the mechanism, in words
    std::string counted{};  ///< the counters that the first mechanism is named by; empty: none
    // Hosts with the largest counts; empty: none.
    std::string worst_host{};              ///< of those counters
    std::string dropping_host{};           ///< dropped packets itself
    std::string pausing_host{};            ///< sent pause frames
    std::optional<double> marked_share{};  ///< of the packets that hosts received; nothing: not counted
    /// Share of its speed that the busiest link carried; nothing: that is not known.
    std::optional<double> busiest_use{};
    std::vector<TcpLosses> tcp{};  ///< of each host that counts them
};

/// The losses that the run itself counted.
struct OwnLosses {
    /// The data went as UDP; then UDP's losses are taken from the account of datagrams, which has only those
    /// of the run, and not from the hosts' counters.
    bool datagrams = false;
    std::int64_t missing_datagrams = 0;
    std::int64_t dropped_at_sockets = 0;  ///< of them, because receive buffers of consumers were full
    std::uint64_t given_up_events = 0;  ///< by consumers: begun and never completed; counts with `datagrams`
};

/// `payload`: what the consumers received in the measured seconds. `busiest`: the text of busiest_link();
/// empty: no link was counted.
NetworkVerdict judge_network(std::span<const record::HostCounters> hosts, core::Bytes payload,
                             const OwnLosses& own = {}, const std::string& busiest = {});

/// When the hosts could not hand in their sums.
NetworkVerdict network_not_judged();

}  // namespace weir::judge
