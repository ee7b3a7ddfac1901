// What every producer and every consumer counted of each other: whole events (TrafficMatrix) and datagrams.
//
// Datagrams between every producer and every consumer: what each counted of the other, warm-up and drain
// included. Producers and consumers count (DatagramRecorder) and hand in their part with their account;
// datagrams.csv lists the pairs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "files/whole_file.hpp"
#include "record/host_counters.hpp"
#include "record/rank_summary.hpp"
#include "record/rows.hpp"

namespace weir::record {

// The traffic matrix of a run: who received how much from whom, whole events, warm-up and drain included.
// Only pairs that had traffic are kept, consumer by consumer as they come in; traffic.csv lists them producer
// by producer. For how long the transfers of a pair were under way the producer knows, and hands in.
//
// Chosen: consumers count, and hand in their part with their account at the end. Rejected: counting on the
// scheduler, which gets no offers with policy `none`, and whose memory is to stay that of its ranks, not of
// their pairs.

/// One producer's part of what a consumer received. Trivially copyable and without gaps: it travels as bytes.
struct ProducerTraffic {
    std::uint32_t producer = 0;
    std::uint32_t reserved = 0;
    core::Traffic traffic;
    bool operator==(const ProducerTraffic&) const = default;
};
static_assert(std::is_trivially_copyable_v<ProducerTraffic> && sizeof(ProducerTraffic) == 24);

/// A producer's transfers to one consumer that came to their end: how many, and their times from the first
/// chunk to the last one, added up. Trivially copyable and without gaps.
struct PairTime {
    std::uint32_t consumer = 0;
    std::uint32_t transfers = 0;
    core::Duration under_way;
};
static_assert(std::is_trivially_copyable_v<PairTime> && sizeof(PairTime) == 16);

/// Adds a transfer to `times`, which are in the order of consumers.
void add_transfer(std::vector<PairTime>& times, std::uint32_t consumer, core::Duration under_way);

/// Whether these can be a producer's times: each consumer once, in ascending order.
[[nodiscard]] bool is_pair_times(std::span<const PairTime> times);

/// The entries of a consumer that received `by_producer`, in their order; those without events are left out.
std::vector<ProducerTraffic> traffic_entries(std::span<const core::Traffic> by_producer);

/// Whether these can be a consumer's entries: each producer once, in ascending order, with events and bytes.
[[nodiscard]] bool is_traffic(std::span<const ProducerTraffic> entries);

class TrafficMatrix {
  public:
    /// All that `consumer` received. The entries are is_traffic.
    void set(core::ConsumerId consumer, std::vector<ProducerTraffic> entries);
    /// Of all transfers of `producer`. The times are is_pair_times.
    void set_times(core::ProducerId producer, std::vector<PairTime> times);

    /// Empty for a consumer that was not set.
    [[nodiscard]] std::span<const ProducerTraffic> of(core::ConsumerId consumer) const;
    /// 0: not known, or nothing came to its end.
    [[nodiscard]] core::Duration under_way(core::ProducerId producer, core::ConsumerId consumer) const;
    /// One more than the highest consumer that was set.
    [[nodiscard]] std::uint32_t consumers() const { return static_cast<std::uint32_t>(entries_.size()); }

  private:
    std::vector<std::vector<ProducerTraffic>> entries_;  ///< by consumer
    std::vector<std::vector<PairTime>> times_;           ///< by producer
};

/// A line with header for every pair that had traffic, sorted by producer, then consumer; as a whole or not
/// at all.
files::MaybeIoError write_traffic_csv(const std::string& path, const TrafficMatrix& matrix);

/// What a rank counted of one peer. Trivially copyable and without gaps: it travels as bytes.
struct PeerDatagrams {
    std::uint32_t peer = 0;  ///< index of the consumer or producer
    std::uint32_t reserved = 0;
    std::uint64_t sent = 0;        ///< producer
    std::uint64_t sent_again = 0;  ///< producer: besides, because the consumer asked for the event again
    std::uint64_t received = 0;    ///< consumer, as are all that follow
    std::uint64_t duplicate = 0;
    std::uint64_t late = 0;
    std::uint64_t corrupt = 0;

    PeerDatagrams& operator+=(const PeerDatagrams& other);
    bool operator==(const PeerDatagrams&) const = default;

    /// Those that were sent and never came: below 0 if more came than were sent. A datagram that was sent
    /// again comes as a duplicate if the first one came as well; so up to as many duplicates count as
    /// arrived.
    [[nodiscard]] std::int64_t missing() const;
};
static_assert(std::is_trivially_copyable_v<PeerDatagrams> && sizeof(PeerDatagrams) == 56);

/// Whether these can be a rank's entries: each peer once, in ascending order.
[[nodiscard]] bool is_datagrams(std::span<const PeerDatagrams> entries);

class DatagramMatrix {
  public:
    /// What `node`, a producer or a consumer, counted.
    void add(core::NodeId node, std::span<const PeerDatagrams> entries);

    /// By (producer, consumer); `peer` means nothing. Only pairs of which something was counted.
    [[nodiscard]] const std::map<std::pair<std::uint32_t, std::uint32_t>, PeerDatagrams>& pairs() const {
        return pairs_;
    }
    [[nodiscard]] PeerDatagrams sum() const;
    /// Sum of what is missing of each pair of which something is.
    [[nodiscard]] std::int64_t missing() const;

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, PeerDatagrams> pairs_;
};

/// A line with header for every pair, sorted by producer, then consumer; as a whole or not at all.
files::MaybeIoError write_datagrams_csv(const std::string& path, const DatagramMatrix& matrix);

/// Counts a rank's datagrams, by second and by peer. Part of the recorders of producers and consumers; idle
/// where chunks are not datagrams.
class DatagramRecorder {
  public:
    /// `peers`: how many consumers or producers there are at the other end.
    DatagramRecorder(const core::Plan& plan, std::uint32_t peers);

    /// Counts are added to `second`, that of the second at hand, and kept by peer.
    void observe(const core::Observation& observation, DatagramCounts& second) {
        using Kind = core::Observation::Kind;
        const Kind kind = observation.kind;
        const bool counts = kind == Kind::chunk_sent || kind == Kind::chunk_sent_again ||
                            (kind >= Kind::chunk_received && kind <= Kind::chunk_corrupt);
        if (counts && !by_peer_.empty()) {
            count(observation, second);
        }
    }
    /// Adds what has come since the last call.
    void socket(const core::SocketState& state, DatagramCounts& second);

    /// As it was last, but for occupancy_bytes, which is the most that it was.
    [[nodiscard]] const core::SocketState& socket() const { return seen_; }
    /// By peer; those of which nothing was counted are left out.
    [[nodiscard]] std::vector<PeerDatagrams> entries() const;

  private:
    void count(const core::Observation& observation, DatagramCounts& second);

    core::SocketState seen_;
    std::vector<PeerDatagrams> by_peer_;  ///< empty where chunks are not datagrams
};

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

/// What became of the datagrams of a run: the sums of all pairs, and where the missing ones went, as far as
/// they were counted. A socket counts its own; the other places count the whole host, so they may count
/// more than the run's, and where a datagram travels in several frames, several for one that is missing. More
/// explained than missing is therefore possible, and reported. What no host counted was lost between them.
///
/// Not a loss, and not here: what the kernel refused to take, because a socket or a queue was full. It was
/// sent again.
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
