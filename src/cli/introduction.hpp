// What the ranks of a job exchange before anything else, and the roles and plan that follow from it:
// the same for a run and for a check before it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/checks.hpp"
#include "config/run_request.hpp"
#include "core/role_map.hpp"
#include "core/units.hpp"
#include "host/check.hpp"
#include "host/host_facts.hpp"
#include "job/job.hpp"

namespace weir::cli {

/// By rank.
struct Introduction {
    std::vector<host::RankLocation> locations;     ///< whose names of hosts are unique
    std::vector<std::string> hosts;                ///< the names that the hosts have
    std::vector<std::string> one_name;             ///< a line for each name that several hosts have
    std::vector<std::optional<core::Role>> roles;  ///< by --role of each rank; empty: no rank has one
    std::vector<std::string> options;
    std::vector<config::MemoryRoom> memory;
    std::vector<config::SocketRoom> sockets;
};

/// Every rank calls it. Throws job::JobError.
Introduction introduce(job::Job& job, const config::RunRequest& request);

/// Puts together what all ranks were asked for (MPMD), and fixes the layout. Throws config::UsageError, the
/// same on every rank.
core::RoleMap agree_on_layout(const Introduction& all, config::RunRequest& request);

/// What the plan needs of a host.
host::HostPart part_of(const std::string& host, const config::RunRequest& request, const core::RoleMap& roles,
                       const std::vector<host::RankLocation>& locations);

}  // namespace weir::cli
