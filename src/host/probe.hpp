// The probe of `weir check`: which pairs meet when, what was measured between them, and what each host saw of
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "files/json.hpp"
#include "host/counter_table.hpp"
#include "host/kernel_calls.hpp"

namespace weir::host {

/// Which producer meets which consumer in which round of the probe: in a round every node takes part in at
/// most one pair, and all rounds together are all pairs. The first rounds touch every node, so that a probe
/// that is cut short has still seen all of them.
class ProbeRounds {
  public:
    /// As many rounds as fit into `time`, at least those that touch every node.
    ProbeRounds(std::uint32_t producers, std::uint32_t consumers, core::Duration time);

    [[nodiscard]] std::size_t count() const { return offsets_.size(); }
    [[nodiscard]] core::Duration slice() const { return slice_; }  ///< time for the data of a round
    [[nodiscard]] std::uint64_t pairs() const { return pairs_; }   ///< that are probed, of all
    [[nodiscard]] std::uint64_t all_pairs() const { return std::uint64_t{producers_} * consumers_; }

    [[nodiscard]] std::optional<std::uint32_t> consumer_of(std::size_t round, std::uint32_t producer) const;
    [[nodiscard]] std::optional<std::uint32_t> producer_of(std::size_t round, std::uint32_t consumer) const;

  private:
    std::uint32_t producers_;
    std::uint32_t consumers_;
    std::vector<std::uint32_t> offsets_;
    core::Duration slice_;
    std::uint64_t pairs_ = 0;
};

/// Which transports UCX really took, out of its own log at level `info`: the only place where UCX writes that
/// for a program that does not hold its handles.
struct UcxLanes {
    std::vector<std::string> within;   ///< "sysv/memory"; ranks of one host
    std::vector<std::string> between;  ///< "rc_verbs/rxe0:1", "tcp/eth0"
};

/// The lanes of all connections in a log; each once. UCX writes, by version,
///   "ep_cfg[1]: tag(rc_verbs/rxe0:1)" or "ucp_context_0 inter-node cfg#1 tag(tcp/eth0)".
UcxLanes lanes_in(std::string_view log);

/// Whether a lane is RDMA.
bool is_rdma_lane(std::string_view lane);

struct PairProbe {
    std::uint32_t producer = 0;
    std::uint32_t consumer = 0;
    std::string producer_host;
    std::string consumer_host;
    bool reached = false;
    double round_trip_us = 0;  ///< median of a few empty messages
    double bits_per_second = 0;
    std::int64_t bytes = 0;  ///< of payload
};

void each_field(files::MaybeConst<PairProbe> auto& pair, auto&& visit) {
    visit("producer", pair.producer);
    visit("consumer", pair.consumer);
    visit("producer_host", pair.producer_host);
    visit("consumer_host", pair.consumer_host);
    visit("reached", pair.reached);
    visit("round_trip_us", pair.round_trip_us);
    visit("bits_per_second", pair.bits_per_second);
    visit("bytes", pair.bytes);
}

/// A counter of a host and by how much it rose.
struct CounterRise {
    std::string column;  ///< "mlx5_0.port_xmit_bytes", "eth0.tx_prio3_bytes"
    std::uint64_t rise = 0;
};

struct HostProbe {
    std::string host;
    std::string message_layer;  ///< Open MPI's: "ucx", "ob1"; empty: not known
    UcxLanes lanes;             ///< of all its ranks
    std::vector<CounterRise> counters;
    std::vector<std::string> listening = {};  ///< listening_sockets() of all its ranks
};

struct ProbeResult {
    std::vector<PairProbe> pairs;
    std::uint64_t all_pairs = 0;  ///< of the plan
    std::vector<HostProbe> hosts;
    std::string stopped;  ///< why it ended before its time; empty: it did not
};

struct ProbeSummary {
    std::uint64_t reached = 0;
    double slowest_bits_per_second = 0;
    double median_bits_per_second = 0;
    double fastest_bits_per_second = 0;
    std::optional<std::size_t> slowest_pair;  ///< place in ProbeResult::pairs
    double median_round_trip_us = 0;
    double longest_round_trip_us = 0;
};
ProbeSummary summary_of(const ProbeResult& probe);

nlohmann::json to_json(const ProbeResult& probe);

/// Reads all network counters of this host before and after, those of single priorities too.
class CounterRises {
  public:
    /// `root`: what the paths of the kernel's files begin with; empty on a real host.
    CounterRises(std::string root, std::unique_ptr<KernelCalls> calls);

    /// How they rose since the construction.
    std::vector<CounterRise> since();

  private:
    struct ByPriority {
        std::string interface;
        std::vector<std::string> names;
        std::vector<std::uint64_t> values;
    };
    std::vector<ByPriority> priorities() const;

    std::string root_;
    std::unique_ptr<KernelCalls> calls_;
    CounterTable table_;
    std::vector<ByPriority> before_;
};

/// To travel to the rank that reports.
std::string encode_host_probe(const HostProbe& host);
/// Throws nlohmann::json::exception if the text is none of encode_host_probe.
HostProbe decode_host_probe(const std::string& text);

/// The priority that a driver's counter of bytes is of, "tx_prio3_bytes" (mlx5), "tx_bytes_pri3" (bnxt);
/// nothing if it counts something else. `direction`: "tx" or "rx".
std::optional<int> counted_priority(std::string_view name, std::string_view direction);

}  // namespace weir::host
