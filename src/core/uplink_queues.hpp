// What can wait for cables between switches, for the pressure of a plan.
//
// Into one part of the fabric (a leaf, a pod) goes at most what its consumers have slots for, out of it what
// its producers have streams for, and never more than the other side of it has. Where flows keep their way, a
// hash may send all of that through one cable. Where each packet goes the next way in turn, a chunk of p
// packets has at most (p - 2) / n + 2 of them on one of n ways: rounds take each way once, and a chunk may
// begin and end within a round. Chunks count, and not packets of a flow: those of a chunk that have arrived
// have left their cables, while others wait.
//
// Rejected: the same for `adaptive`, whose switches balance their own queues, but not what meets in the next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/pressure.hpp"

namespace weir::core {

/// Under way into a consumer's port.
struct IntoPort {
    std::uint64_t transfers = 0;
    Bytes transfer;
    Pressure::Limit limit = Pressure::Limit::slots;
    bool window_bound = false;
    std::uint32_t senders = 0;

    [[nodiscard]] double bytes() const {
        return static_cast<double>(transfers) * static_cast<double>(transfer.count);
    }
};

/// `largest`: of a fragment.
IntoPort into_port(const Plan& plan, Bytes largest, std::uint32_t senders);
/// The largest fragment that the plan can have.
Bytes largest_fragment(const Plan& plan);
/// So many bytes of payload, in chunks, with all headers.
double on_the_wire(const Plan& plan, const NetworkPlan& network, Bytes payload);

/// The consumer of whose IntoPort this is most.
template <typename Measure>
IntoPort into_fullest_port(const Plan& plan, const Measure& measure) {
    const Bytes fragment = largest_fragment(plan);
    if (!plan.addressed()) {
        return into_port(plan, fragment, plan.producers);
    }
    IntoPort fullest;
    for (std::uint32_t consumer = 0; consumer < plan.traffic->consumers(); ++consumer) {
        Bytes largest;
        for (const TrafficPlan::Incoming& incoming : plan.traffic->to({consumer})) {
            largest = std::max(largest, incoming.bytes);
        }
        const auto senders = static_cast<std::uint32_t>(plan.traffic->senders_to({consumer}).size());
        const IntoPort into = into_port(plan, std::min(fragment, largest), senders);
        fullest = std::invoke(measure, into) > std::invoke(measure, fullest) ? into : fullest;
    }
    return fullest;
}

/// A port whose queue may grow, and what else lies in its switch then. Bytes on the wire.
struct PortQueue {
    Pressure::Port port = Pressure::Port::consumer;
    BitRate rate;
    double queue = 0;
    double of_sender = 0;  ///< of one sender (of a port of ingress) in the switch
    double in_switch = 0;
    bool results = false;  ///< which have the class of control messages; else data
};

/// How many ranks of a role use one NIC, at most.
struct RanksPerPort {
    std::uint32_t producers = 1;
    std::uint32_t consumers = 1;
};

/// Of a topology of several switches. `disturbed`: routes may be others than planned.
std::vector<PortQueue> uplink_queues(const Plan& plan, const NetworkPlan& network, const RanksPerPort& ranks,
                                     bool disturbed);

}  // namespace weir::core
