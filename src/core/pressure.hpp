// The pressure of a plan: can it see a setting of the switch at all? Bytes that can wait for the fullest
// port, over the bytes at which the switch pauses, marks or drops there. Below 1 the setting cannot act,
// however long the run is. Pure arithmetic; the sources are the protocol (a slot is given once) and
// packet/shared_buffer.hpp.
//
// Under way into a consumer's port: N transfers of F bytes.
//   F = the largest fragment, or window x chunk if that is less. Not with datagrams, which are through for
//   their
//       producer when they have left, and so are small messages that MPI copies (eager).
//   N = the least of slots x fragments of an event, streams x senders, and with initiation `pull` --requests,
//       with pattern `build` --outstanding x producers. --high-water is none of these: credits that were
//       given before stay. With policy `none`, consumers give the same slots themselves.
// With addressed events it is the consumer into which most is under way, by who sends to it, and how much.
//
// Let W be these bytes F with all headers: at most N x W - W x min(1, port / sender's link) wait in the
// switch: while the last of the N is sent, the port sends at least as much of them, for all slots are theirs.
// Two packets are added for what a port has begun to send.
//
// Where thresholds move (a part `alpha` of what is free of the memory B that ports share), all queues are
// taken to grow in proportion to the most that each can hold. With s bytes of one sender (PFC) or in one
// queue (drop) and S in the whole switch, s = alpha (B - S) at a pressure of 1, so that
//   pressure = s / (alpha B) + S / B        and for a fixed threshold T        max(s / T, S / B).
// ECN marks by the length of the queue: pressure = queue / none-below. The scheduler is taken to spread what
// is under way into a port over the producers, as all policies but `random` do; not if events have addresses
// or a disturbance piles data up somewhere.
//
// Cables between switches: uplink_queues().
//
// Not in it: control messages, what a NIC's window or congestion control holds back, and what is sent again
// after losses. Rejected: the least event size at which a simulation shows the setting, which needs many
// simulations and is no statement about longer ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"

namespace weir::core {

struct Pressure {
    /// Why no more transfers are under way.
    enum class Limit : std::uint8_t { slots, streams, requests, outstanding };
    enum class Port : std::uint8_t {
        consumer,   ///< to the consumers of a host
        scheduler,  ///< results
        uplink      ///< between switches
    };
    enum class Setting : std::uint8_t {
        pause,
        mark,
        drop,
        given  ///< the value of --acts-at
    };
    struct Acting {
        Setting setting = Setting::given;
        Port port = Port::consumer;
        Bytes queue;          ///< that can wait there, at most
        Bytes acts_at;        ///< the least of it with which the setting acts
        double pressure = 0;  ///< queue / acts_at

        [[nodiscard]] bool can_act() const { return pressure >= 1; }
        bool operator==(const Acting&) const = default;
    };
    enum class Unknown : std::uint8_t {
        nothing,
        real_switch,    ///< a measured run, without --acts-at
        no_switch,      ///< the fluid model has none
        other_traffic,  ///< fills ports as well
    };

    std::uint64_t transfers = 0;  ///< N
    Bytes transfer;               ///< F
    Limit limit = Limit::slots;
    bool window_bound = false;     ///< F is what the window lets
    Bytes under_way;               ///< payload into the fullest consumer's port
    std::vector<Acting> settings;  ///< that are on; each at the port where its pressure is largest
    Unknown unknown = Unknown::nothing;

    bool operator==(const Pressure&) const = default;
};

/// For a measured run, whose switch and links are not known: all that is under way counts as waiting, with
/// the headers of TCP. `consumers_per_port`: that share the link of a host. `acts_at`: bytes in a port's
/// queue at which the switch acts, if they are known. Needs the layout.
Pressure measured_pressure(const Plan& plan, std::uint32_t consumers_per_port, std::optional<Bytes> acts_at);

/// For a simulation. `disturbed`: links and nodes may be slower than planned. Needs the layout.
Pressure simulated_pressure(const Plan& plan, const NetworkPlan& network, bool disturbed);

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
