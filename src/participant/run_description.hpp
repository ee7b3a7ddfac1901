// What is known of a run before it starts, whoever runs it: ranks under MPI or a simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/role_map.hpp"
#include "show/run_record.hpp"

namespace weir::participant {

struct RunDescription : show::RunAsPlanned {
    core::RoleMap roles;
    std::vector<record::RankHost> rank_hosts;  ///< by rank

    bool require_sustained = false;
    bool require_on_time = false;
    bool require_lossless = false;
    core::Bytes socket_buffer;   ///< asked for datagrams' sockets; 0: not
    bool records_hosts = false;  ///< one rank on each host records its network counters
};

/// "rank 3 (consumer 1 on eb07)"
std::string rank_text(const RunDescription& run, int rank);
/// Several of them: the first four by name, and how many more there are.
std::string ranks_text(const RunDescription& run, const std::vector<int>& ranks);

}  // namespace weir::participant
