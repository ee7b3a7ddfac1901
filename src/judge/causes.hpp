// What held a run up, in words that files, texts and comparisons share.
//
// A cause is what, if it alone were relaxed, would have put the run on time. In a simulation that is tried
// (counterfactual); in a measured run it is attributed from where the time of held-up events went.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ids.hpp"

namespace weir::judge {

enum class CauseKind : std::uint8_t {
    consumer_links,   ///< of all consumers, or of the one named
    producer_links,   ///< of all producers, or of the one named
    switch_loss,      ///< packets that the switch dropped
    pfc,              ///< pauses
    ecn,              ///< senders that slowed down after marks
    uplinks,          ///< cables between switches
    other_traffic,    ///< of others on the same links
    slots,            ///< too few, though consumers had time and links had room
    processing,       ///< of events on consumers
    streams,          ///< too few transfers at once for a producer
    window,           ///< too few chunks under way
    scheduler,        ///< its time for a decision
    control_latency,  ///< of control messages
    shaping,          ///< --shaping held data back
    outstanding,      ///< --outstanding
    requests,         ///< --requests
    high_water,       ///< --high-water
    stalled_rank,     ///< it stood still, or generated late
    host_loss,        ///< datagrams that a host dropped
    lost_consumers,   ///< the run went on without them
    network_failure,  ///< of a link, a switch or a NIC
    buffer,           ///< too small for a set
    event_size,       ///< whole events do not divide evenly
    integrity,        ///< no delay: what arrived is not what was sent
    not_told,         ///< the run does not show it
};

inline constexpr std::array<std::string_view, 25> cause_kind_names{
    "consumer-links",  "producer-links", "switch-loss",     "pfc",        "ecn",
    "uplinks",         "other-traffic",  "slots",           "processing", "streams",
    "window",          "scheduler",      "control-latency", "shaping",    "outstanding",
    "requests",        "high-water",     "stalled-rank",    "host-loss",  "lost-consumers",
    "network-failure", "buffer",         "event-size",      "integrity",  "not-told"};

/// As in run.json: "consumer-links".
constexpr std::string_view name_of(CauseKind kind) {
    return cause_kind_names.at(static_cast<std::size_t>(kind));
}

enum class CauseEvidence : std::uint8_t {
    counterfactual,  ///< the run was simulated again without it
    attribution,     ///< from the rows of the run
};
constexpr std::string_view name_of(CauseEvidence evidence) {
    return evidence == CauseEvidence::counterfactual ? "counterfactual" : "attribution";
}

struct NamedCause {
    CauseKind what = CauseKind::not_told;
    std::optional<core::NodeId> where{};  ///< the rank that it concerns; nothing: all of a role, or none
    std::string host{};                   ///< of that rank; empty: not known, or no rank
    /// Share of the lateness that it takes away (counterfactual) or of the time of held-up events that it
    /// owns (attribution): 0 to 1.
    double share = 0;
    CauseEvidence evidence = CauseEvidence::attribution;
    std::string text{};  ///< sentences with their numbers: without a capital, with the last full stop
    std::string
        remedy{};  ///< what to do, without a capital and a full stop; empty: nothing that helps is known
    bool suffices = true;  ///< counterfactual: without it every set is on time, and the run is sustained
    /// It is one only together with this one, which is named too; not_told: it is one alone.
    CauseKind together_with = CauseKind::not_told;
};

}  // namespace weir::judge
