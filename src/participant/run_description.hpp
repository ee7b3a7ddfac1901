// What is known of a run before it starts, whoever runs it: ranks under MPI or a simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/pressure.hpp"
#include "core/role_map.hpp"

namespace weir::participant {

/// Where a rank runs, as run.json and messages name it.
struct RankHost {
    std::string host;  ///< empty: nowhere (a simulation)
    std::int64_t pid = 0;
    std::string cpus;  ///< list syntax; empty: unknown
    std::string leaf;  ///< the switch that its host is connected to; empty: unknown
};

struct RunDescription {
    core::Plan plan;
    core::RoleMap roles;
    std::vector<RankHost> rank_hosts;  ///< by rank

    std::string directory;  ///< of the run; exists
    bool require_sustained = false;
    bool require_on_time = false;
    bool require_lossless = false;
    core::Bytes socket_buffer;   ///< asked for datagrams' sockets; 0: not
    bool records_hosts = false;  ///< one rank on each host records its network counters

    // For run.json.
    std::vector<std::pair<std::string, std::string>> labels;
    std::vector<std::pair<std::string, std::string>> plan_options;
    std::optional<core::Pressure> pressure;
    std::string environment = "{}";  ///< a JSON object
};

/// "rank 3 (consumer 1 on eb07)"
std::string rank_text(const RunDescription& run, int rank);
/// Several of them: the first four by name, and how many more there are.
std::string ranks_text(const RunDescription& run, const std::vector<int>& ranks);

}  // namespace weir::participant
