// From options to a plan, as a list of passes. Each completes the request that it is given, or refuses it;
// which facts it needs from the passes before it, which it gives to those behind it, and which options its
// messages name stands in one table, passes(). The order of the rows is the order of the passes; a unit test
// holds it against what they need. A pass knows nothing but the request, and keeps nothing.
//
// Options alone do not say how many ranks there are. When that is known, the passes that need the numbers are
// run again, and those that need the layout for the first time.
//
// The command line overrides a scenario silently; two options of the same origin that contradict each other,
// or a command line that asks for what its scenario cannot give, are refused.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "config/run_request.hpp"
#include "core/plan.hpp"

namespace weir::config {

/// What passes give and need, as bits.
using FactSet = std::uint32_t;
namespace fact {
inline constexpr FactSet addresses = 1U << 0U;   ///< whether events have one; the interval of a file
inline constexpr FactSet numbers = 1U << 1U;     ///< of producers and consumers, as far as they are known
inline constexpr FactSet rates = 1U << 2U;       ///< times --scale, with sizes and links
inline constexpr FactSet times = 1U << 3U;       ///< times --time-scale, with sizes
inline constexpr FactSet traffic = 1U << 4U;     ///< who sends how much to whom, and the rate of it
inline constexpr FactSet event_size = 1U << 5U;  ///< and that of a set
inline constexpr FactSet buffer = 1U << 6U;
inline constexpr FactSet slot_size = 1U << 7U;
inline constexpr FactSet chunks = 1U << 8U;  ///< their size, and the window
inline constexpr FactSet packets = 1U << 9U;
inline constexpr FactSet set_phase = 1U << 10U;
inline constexpr FactSet credits = 1U << 11U;  ///< their limits
inline constexpr FactSet busy = 1U << 12U;
inline constexpr FactSet results = 1U << 13U;
inline constexpr FactSet engine = 1U << 14U;   ///< and its queue pairs
inline constexpr FactSet network = 1U << 15U;  ///< its model, with the fabric
inline constexpr FactSet time_out = 1U << 16U;
inline constexpr FactSet rows = 1U << 17U;
inline constexpr FactSet layout = 1U << 18U;  ///< the final numbers; no pass gives it
}  // namespace fact

struct Pass {
    std::string_view name;
    FactSet needs;
    FactSet gives;
    std::string_view refuses;  ///< the options that its messages name
    /// Throws UsageError.
    void (*run)(RunRequest& request);
};

/// In their order.
std::span<const Pass> passes();

/// Completes a request whose options are set. Throws UsageError.
void run_passes(RunRequest& request);
/// The same once plan.producers and plan.consumers are those of the layout.
void run_passes_for_layout(RunRequest& request);

// The passes, by the file in which they stand. Throw UsageError.

// derive_traffic.cpp
void prepare_traffic(RunRequest& request);
void derive_traffic(RunRequest& request);
void check_addresses(const RunRequest& request);
void check_senders(const core::Plan& plan);
/// How much a run generates, against what can be counted and what can wait.
void check_amounts(RunRequest& request);
/// Refuses transfers of one interval that are more bytes than sums can hold, before they are summed. `what`
/// names where they come from.
void check_traffic_sum(std::string_view what, std::span<const core::TrafficPlan::Entry> transfers);
/// The largest transfer, which the default size of an event follows; 0 if events have no address.
core::Bytes largest_transfer(const RunRequest& request);

// sizes.cpp
void apply_scale(RunRequest& request);
void apply_time_scale(RunRequest& request);
void derive_event_size(RunRequest& request);
void derive_buffer(RunRequest& request);
void derive_slot_size(RunRequest& request);
void check_buffer(const core::Plan& plan);
void derive_chunk_size(RunRequest& request);
void derive_datagrams(RunRequest& request);
void check_places(const core::Plan& plan);

// contradictions.cpp
void check_duration(const core::Plan& plan);
void derive_set_phase(RunRequest& request);
void check_pattern(const core::Plan& plan);
void derive_credits(RunRequest& request);
void derive_busy(RunRequest& request);
void check_busy_consumers(const core::Plan& plan);
void derive_result_size(RunRequest& request);
void check_datagram_options(const RunRequest& request);
void derive_engine(RunRequest& request);
void check_requirements(const RunRequest& request);
void derive_detection_time(RunRequest& request);
void check_roles(const RunRequest& request);
void derive_silence_timeout(RunRequest& request);

// derive_packets.cpp
void derive_packet_size(RunRequest& request);
void derive_packets(RunRequest& request);
void check_switch_memory(const RunRequest& request);

// fabric.cpp, role_assignment.cpp, row_interval.cpp
void check_own_links(const RunRequest& request);
void check_ranks_on_hosts(const RunRequest& request);
void check_groups(const RunRequest& request);
void derive_row_interval(RunRequest& request);
void check_row_interval(const core::Plan& plan);

// Of the network model `packet`: what its switches hold, known when the ports are, and what of it the model
// `fluid` takes.

/// On the wire.
core::Bytes full_packet(const core::NetworkPlan& network);

/// core::largest_headroom of this run. Needs the layout.
core::Bytes largest_headroom(const RunRequest& request);

/// What arrives on a link of this rate after a pause was decided: for the time that the pause takes to the
/// sender and the last bits from there, and one packet on each of both ways that had begun before.
core::Bytes pause_takes(const core::NetworkPlan& network, core::BitRate rate);

/// What a reader of results should know of a fluid with a fabric.
inline constexpr const char* fluid_note =
    "--network fluid takes topology, placement, balancing.kind and failures.convergence of --switch; "
    "buffers, flow control, marks and losses need --network packet";

/// Whether the fluid model has a use for this key of a switch file.
bool fluid_takes(std::string_view section, std::string_view key);

// What the rows of --row-interval come to, before the run: how many, and how many bytes. A run that would
// write more than a limit is refused with these numbers. Chosen: one limit on the bytes of all ranks over the
// whole run, which is what a file system has to hold and a report to read; at 4500 ranks and 10 ms it is
// reached in two minutes. Rejected: to leave rows out when there are too many (a burst would be missing
// without a word), and to aggregate ranks (the leader would get every interval of every rank over the network
// that is measured).
//
// A run of a few seconds has too few rows of seconds to be drawn, so it gets short rows unless --row-interval
// says otherwise: 50 to 100 in the measured time where rows of 10 ms allow it, 20 at least. Not with more
// than 1000 ranks, which would be as many files more, and never so many that they come to 64 MiB.

struct BurstNeed {
    std::uint64_t ranks = 0;
    std::uint64_t rows_per_second = 0;  ///< of all ranks
    core::Duration time;                ///< for which rows are written, until the drain ends
    core::Bytes bytes;                  ///< in bursts/, at most
};

/// For a plan with a row interval; producers and consumers that are not known yet count as none.
BurstNeed burst_need(const core::Plan& plan);

}  // namespace weir::config
