// What the switches of a simulation counted: rows of switch/NAME.csv for each port and priority, and their
// sums over the measured time for run.json and the summary. Real switches are not read: weir runs on hosts.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/units.hpp"
#include "record/parallel_links.hpp"
#include "record/rows.hpp"

namespace weir::record {

// What failures of a simulated network cost, and what its switches did about them: for run.json and the
// verdict. Of the whole run, warm-up and drain included.

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

struct SwitchPort {
    std::string peer;  ///< what its cable leads to: "consumer-3", "worker-3", "switch-1"
    core::BitRate rate;
    std::vector<core::NodeId> ranks = {};  ///< of the host that it leads to; empty: a switch
    [[nodiscard]] bool leads_to(core::Role role) const;
};

struct SwitchHardware {
    std::string name;  ///< "switch-0"
    core::Bytes pool;  ///< that its ports share; 0: they share none
    std::vector<SwitchPort> ports;
    bool counts_received = false;  ///< rows also have what came in
};

/// One port and priority during some time.
struct SwitchRow {
    std::uint32_t port = 0;
    std::uint32_t priority = 0;
    // Towards the peer.
    std::uint64_t sent_packets = 0;
    core::Bytes sent_bytes;  ///< on the wire
    core::Bytes queue_peak;
    double queue_mean_bytes = 0;
    std::uint64_t marked_packets = 0;
    std::uint64_t dropped_packets = 0;
    /// Packets that came for a port, but for those that still wait.
    [[nodiscard]] std::uint64_t packets_seen() const { return sent_packets + dropped_packets; }
    core::Bytes dropped_bytes;
    std::uint64_t pauses_received = 0;
    core::Duration paused;  ///< for so long the peer stopped this port
    // From the peer.
    std::uint64_t pauses_sent = 0;
    core::Duration pausing;              ///< for so long this port stopped the peer
    std::uint64_t received_packets = 0;  ///< only with SwitchHardware::counts_received
    core::Bytes received_bytes;
};

struct SwitchReading {
    core::Bytes pool_peak;
    std::vector<SwitchRow> rows;  ///< only those in which anything is above 0
};

/// What senders of the run did about losses. Those of others are in the counters of hosts only.
struct LossReactions {
    std::uint64_t packets_sent_again = 0;
    std::uint64_t timeouts = 0;
};

/// "switch/switch-0.csv", relative to the run directory.
std::string switch_file(std::string_view name);
/// Header line, with its line end.
std::string switch_csv_header(const SwitchHardware& description);
/// The rows of one reading as lines with their line ends. `begin`: of the time, which lasted for `length`.
std::string switch_csv_lines(const SwitchHardware& description, const SwitchReading& reading,
                             core::Instant begin, core::Duration length, Phase phase);

/// A port and priority over the measured time.
struct SwitchPortTotals {
    SwitchPort port;
    SwitchRow row;                  ///< without the mean of the queue
    double queue_byte_seconds = 0;  ///< integral of the queue
    /// As a share of what the cable can carry in this time.
    [[nodiscard]] double use(core::Duration measured) const;
};

/// A priority whose packets are counted apart, because the switch file has names for some.
struct CountedClass {
    std::string name;
    std::uint32_t priority = 0;
    bool lossless = false;
    std::vector<std::string> carries{};  ///< "data", "control", ...
    core::BitRate of_others{};           ///< from each producer's host; 0: nothing
};

/// All switches over the measured time.
struct SwitchTotals {
    core::Duration measured;
    core::Duration row_length;
    std::vector<std::string> files;  ///< relative to the run directory
    core::Bytes pool;                ///< of each switch; 0: its ports share none
    core::Bytes pool_peak;           ///< of the fullest switch
    /// By switch, port and priority.
    std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, SwitchPortTotals> ports;
    LossReactions reactions;
    std::vector<ParallelLinkTotals> parallel_links;
    std::string problem;  ///< why rows are missing; empty: none are
    NetworkFailures failures;
    std::vector<CountedClass> classes;  ///< by priority; empty: they are not counted apart

    /// Adds what a switch counted in `length`.
    void add(const SwitchHardware& description, const SwitchReading& reading, core::Duration length);
    /// Over all ports, of all priorities or of one; times are left out, since they have no sum.
    [[nodiscard]] SwitchRow sum(std::optional<std::uint32_t> priority = {}) const;
    /// With the longest queue; nullptr: nothing was sent.
    [[nodiscard]] const SwitchPortTotals* fullest() const;
    struct Stopped {
        double mean_share = 0;  ///< of the measured time, over all producers
        double most_share = 0;
        std::string most;  ///< the producer
    };
    /// For how long the switches stopped producers.
    [[nodiscard]] Stopped producers_stopped() const;
    struct ConsumerPorts {
        double least = 0;  ///< of what the cable can carry
        double most = 0;
        std::string least_name;  ///< the consumer
        std::string most_name;
    };
    /// How far the ports to consumers were used. Where the least used one leads to a consumer that wanted
    /// more, something else held its data up.
    [[nodiscard]] ConsumerPorts consumer_ports() const;
    /// Consumers whose port was not full and had no queue to speak of: on average two packets, or a tenth of
    /// the longest one. If producers were stopped meanwhile, it was because of others.
    [[nodiscard]] std::vector<std::string> ports_with_room() const;
};

nlohmann::ordered_json to_json(const SwitchTotals& totals);

/// For the summary: what the switches held, marked, dropped and paused, and who was held up.
std::string switch_text(const SwitchTotals& totals);

}  // namespace weir::record
