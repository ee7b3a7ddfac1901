// What the probe measured: data between pairs of the plan, and what the hosts' counters saw of it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.hpp"
#include "host/host_view.hpp"
#include "host/ucx_log.hpp"

namespace weir::host {

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

/// Rates, transports, priorities and losses. `hosts`: in any order.
std::vector<Finding> judge_probe(const ProbeResult& probe, const std::vector<HostView>& hosts);

nlohmann::json to_json(const ProbeResult& probe);

}  // namespace weir::host
