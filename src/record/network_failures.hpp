// What failures of a simulated network cost, and what its switches did about them: for run.json and the
// verdict. Of the whole run, warm-up and drain included.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace weir::record {

struct LostPackets {
    std::uint64_t packets = 0;
    core::Bytes bytes;  ///< on the wire
};

/// One failure that was asked for (--fault). Each packet is counted once.
struct NetworkFailure {
    std::string fault;  ///< "cut:link=leaf-0:spine-1"
    core::Instant begin;
    std::optional<core::Instant> end;  ///< nothing: it lasted
    LostPackets on_links;              ///< were under way on a link when it was cut
    LostPackets in_queues;             ///< waited for it
    LostPackets sent_to_cut;           ///< came for it before routes had converged
    LostPackets without_way;           ///< there was no way left to their hosts
    LostPackets by_errors;
    std::uint64_t gaps = 0;       ///< times that data of a flow was missing, and came later
    std::uint64_t open_gaps = 0;  ///< of them: in which it had not come at the end
    core::Duration longest_gap;   ///< for so long nothing of a flow came in order
    /// From its beginning until the loads of parallel links were as even as before (parallel_links.hpp).
    /// Nothing: not while it lasted, or none of its links has a parallel one.
    std::optional<core::Duration> loads_even_after{};

    [[nodiscard]] LostPackets lost() const;
};

/// What switches did, or what happened to them, as a consequence.
struct SwitchEvent {
    core::Instant at;
    std::string what;                  ///< "converged", "storm-detected", "storm-restored", ...
    std::string link{};                ///< "switch-0:consumer-3"; empty: not of one link
    std::uint32_t priority = 0;        ///< of `link`
    std::vector<std::string> cycle{};  ///< "deadlocked": links that wait for each other in a circle
};

struct NetworkFailures {
    static constexpr std::size_t most_listed = 1000;
    std::vector<NetworkFailure> failures;
    bool watchdog = false;  ///< switches have one
    std::uint64_t storms_detected = 0;
    std::uint64_t storms_restored = 0;
    LostPackets dropped_by_watchdog;
    std::vector<std::string> possible_deadlock;  ///< by the routes at the end; empty: none is possible
    std::vector<SwitchEvent> events;             ///< the first most_listed

    [[nodiscard]] bool none() const {
        return failures.empty() && !watchdog && possible_deadlock.empty() && events.empty();
    }
    /// By faults and by watchdogs.
    [[nodiscard]] std::uint64_t lost_packets() const;
    /// The first deadlock; nullptr: there was none.
    [[nodiscard]] const SwitchEvent* deadlock() const;
};

nlohmann::ordered_json to_json(const NetworkFailures& failures);

/// Sentences for the verdict; empty if nothing was lost, stopped or found.
std::string failures_text(const NetworkFailures& failures);
/// "the network was deadlocked from 1.234 s on: ..."; empty: it was not.
std::string deadlock_text(const NetworkFailures& failures);

}  // namespace weir::record
