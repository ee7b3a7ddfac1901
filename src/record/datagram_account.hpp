// What became of the datagrams of a run: the sums of all pairs, and where the missing ones went, as far as
// they were counted. A socket counts its own; the other places count the whole host, so they may count
// more than the run's, and where a datagram travels in several frames, several for one that is missing. More
// explained than missing is therefore possible, and reported. What no host counted was lost between them.
//
// Not a loss, and not here: what the kernel refused to take, because a socket or a queue was full. It was
// sent again.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/datagram_counts.hpp"
#include "record/datagram_matrix.hpp"
#include "record/host_counters.hpp"
#include "record/rank_summary.hpp"

namespace weir::record {

/// Where missing datagrams were counted.
struct DatagramLosses {
    std::int64_t socket = 0;      ///< receive buffers of the consumers' sockets
    std::int64_t reassembly = 0;  ///< IP datagrams that hosts could not put together
    std::int64_t udp = 0;         ///< other errors of UDP: wrong checksum, no memory
    std::int64_t softnet = 0;     ///< queues between interface and protocols
    std::int64_t interface = 0;   ///< receive errors and discards of interfaces
    std::int64_t qdisc = 0;       ///< queueing disciplines, less what was sent again

    [[nodiscard]] std::int64_t sum() const { return socket + reassembly + udp + softnet + interface + qdisc; }
    bool operator==(const DatagramLosses&) const = default;
};

struct DatagramAccount {
    PeerDatagrams totals;      ///< of all pairs; whole run, as are missing and explained
    std::int64_t missing = 0;  ///< of all pairs
    std::size_t lossy_pairs = 0;
    std::size_t pairs = 0;
    DatagramLosses explained;
    std::size_t hosts_without_counters = 0;
    DatagramCounts run;       ///< of all ranks
    DatagramCounts measured;  ///< of all ranks, in the measured seconds
    core::Duration time;      ///< measured
    // The least of any rank.
    std::int64_t receive_buffer_bytes = 0;
    std::int64_t send_buffer_bytes = 0;
    std::int64_t mtu_bytes = 0;
    std::int64_t occupancy_max_bytes = 0;  ///< of the rank that had most
    std::vector<std::string> notes;

    /// Missing and counted nowhere; below 0: more was counted than is missing.
    [[nodiscard]] std::int64_t unexplained() const { return missing - explained.sum(); }
};

/// `socket_buffer_asked`: by --socket-buffer; 0: not.
DatagramAccount account_for_datagrams(std::span<const RankRecord> ranks, const DatagramMatrix& matrix,
                                      std::span<const HostCounters> hosts, core::Bytes socket_buffer_asked);

/// `datagrams` in run.json.
nlohmann::ordered_json to_json(const DatagramAccount& account);

/// For the summary: what became of them, and what they took on the wire.
std::string losses_text(const DatagramAccount& account);
std::string wire_text(const DatagramAccount& account);

}  // namespace weir::record
