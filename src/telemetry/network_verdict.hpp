// What the network did to the run, by what the hosts' counters counted: nothing, held senders back (pause
// frames), slowed them down (ECN marks), or lost packets. Beside the verdict of the run, which says whether
// its data got through in time; this says by which mechanism it was held up or what it survived.
//
// Few of anything are normal: a mechanism is named from ten counts on, and from one in a million packets on.
// Counters count the host and not the process, so what they counted is taken for the run's only if the hosts
// received at least a hundredth of the run's payload through their interfaces.
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
    held_back_by_pfc,
    controlled_by_ecn,
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

/// `payload`: what the consumers received in the measured seconds. `datagrams`: the data went as UDP; then
/// what UDP lost is in the account of datagrams, which knows what was the run's, and not here.
NetworkVerdict judge_network(std::span<const HostCounters> hosts, core::Bytes payload,
                             bool datagrams = false);

/// When the hosts could not hand in their sums.
NetworkVerdict network_not_judged();

}  // namespace weir::telemetry
