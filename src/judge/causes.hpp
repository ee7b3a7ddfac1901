// What held a run up, in words that files, texts and comparisons share.
//
// A cause is what, if it alone were relaxed, would have put the run on time. In a simulation that is tried
// (proof). In a measured run it is told from where the time of held-up events went (observed), and tried in
// simulations with what the run showed (twin).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"

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

/// What rows or counters show directly, and mechanisms that a fluid twin does not have.
inline bool is_direct(CauseKind kind) {
    constexpr std::array kinds{CauseKind::stalled_rank,  CauseKind::lost_consumers, CauseKind::buffer,
                               CauseKind::host_loss,     CauseKind::switch_loss,    CauseKind::pfc,
                               CauseKind::ecn,           CauseKind::window,         CauseKind::uplinks,
                               CauseKind::other_traffic, CauseKind::network_failure};
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

enum class CauseEvidence : std::uint8_t {
    proof,              ///< the simulated run was simulated again without it
    observed,           ///< in the rows of the run
    twin,               ///< a simulation with what the run showed was simulated again without it
    observed_and_twin,  ///< both of these
};
inline constexpr std::array<std::string_view, 4> cause_evidence_names{"proof", "observed", "twin",
                                                                      "observed+twin"};
constexpr std::string_view name_of(CauseEvidence evidence) {
    return cause_evidence_names.at(static_cast<std::size_t>(evidence));
}

/// An option of weir and the value that it takes, {"slots", "4"}; without one it is to be left out.
struct RemedyOption {
    std::string name;
    std::string value;
    bool operator==(const RemedyOption&) const = default;
};

struct NamedCause {
    CauseKind what = CauseKind::not_told;
    std::optional<core::NodeId> where{};  ///< the rank that it concerns; nothing: all of a role, or none
    std::string host{};                   ///< of that rank; empty: not known, or no rank
    /// Share of the time of held-up events that it owns (observed), or of the lateness that it takes away: 0
    /// to 1.
    double share = 0;
    CauseEvidence evidence = CauseEvidence::observed;
    std::string text{};  ///< sentences with their numbers: without a capital, with the last full stop
    std::string
        remedy{};  ///< what to do, without a capital and a full stop; empty: nothing that helps is known
    std::vector<RemedyOption> options{};  ///< all of the remedy as options of weir; empty: they cannot be it
    bool suffices = true;  ///< simulated: without it every set is on time, and the run is sustained
    /// It is one only together with this one, which is named too; not_told: it is one alone.
    CauseKind together_with = CauseKind::not_told;
    bool not_told_apart = false;  ///< it may have been this one instead of the first
};

}  // namespace weir::judge
