// What the network did to the run, by what the hosts' counters counted and by what the run itself missed:
// nothing, held senders back (pause frames), slowed them down (marks, notifications), or lost packets. Beside
// the verdict of the run, which says whether its data got through in time; this says by which mechanism it
// was held up or what it survived.
//
// Few of anything are normal: a mechanism is named from ten counts on, and from one in a million packets on;
// of counters that count bursts from ten on. Counters count the host and not the process, so what they
// counted is taken for the run's only if the hosts received at least a hundredth of the run's payload through
// their interfaces; and that nothing happened is said only if it was a quarter.
//
// What endpoints cannot know is said with it. A switch that drops packets counts that itself: here it shows
// as packets out of order or sent again. CNPs are no proof that the switch marks. A switch may ignore pauses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "telemetry/host_counters.hpp"

namespace weir::telemetry {

/// The worst first.
enum class NetworkMechanism : std::uint8_t {
    lossy,
    held_back_by_pfc,   ///< hosts were told to stop
    pauses_sent,        ///< hosts told the switch to stop, and none was told to
    controlled_by_ecn,  ///< packets were marked
    slowed_by_cnp,      ///< notifications without any mark that was counted
    uncongested,
    unknown,
};
/// "held_back_by_pfc": as in run.json.
const char* mechanism_name(NetworkMechanism mechanism);

struct NetworkVerdict {
    /// The worst first; one at least. `uncongested` and `unknown` stand alone.
    std::vector<NetworkMechanism> mechanisms;
    std::string evidence;  ///< begins with the mechanism, in words
};

/// What the run knows of its own losses.
struct OwnLosses {
    /// The data went as UDP; then what UDP lost is in the account of datagrams, which knows what was the
    /// run's, and not in the hosts' counters.
    bool datagrams = false;
    std::int64_t missing_datagrams = 0;
    std::int64_t dropped_at_sockets = 0;  ///< of them, because receive buffers of consumers were full
    std::uint64_t given_up_events = 0;    ///< by consumers: begun and never completed
};

/// `payload`: what the consumers received in the measured seconds.
NetworkVerdict judge_network(std::span<const HostCounters> hosts, core::Bytes payload,
                             const OwnLosses& own = {});

/// When the hosts could not hand in their sums.
NetworkVerdict network_not_judged();

}  // namespace weir::telemetry
