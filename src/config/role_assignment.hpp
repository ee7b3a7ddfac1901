// Which rank plays which part: by rank order, by host lists, or by each rank's --role (MPMD). Every rank
// computes the same map from the same input.
//
// Counts and lists are claims that are checked, never silently adapted: a run on 13 hosts instead of 14 would
// be another measurement under the same name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"
#include "core/role_map.hpp"

namespace weir::config {

/// `hosts_by_rank`: host name of every rank. `roles_by_rank`: of each rank by --role; empty:
/// no rank has one. Throws UsageError with the numbers when it cannot be done.
core::RoleMap assign_roles(const RoleRequest& request, std::span<const std::string> hosts_by_rank,
                           std::span<const std::optional<core::Role>> roles_by_rank = {});

/// How `ranks` ranks are split when nothing is said: one scheduler, half of the rest producers, the other
/// half (and the odd one) consumers. Needs ranks >= 3.
struct Split {
    std::uint32_t producers = 0;
    std::uint32_t consumers = 0;
};
Split default_split(std::uint32_t ranks);

// A job of several groups: which ranks are in which group, and what each group is to do. Groups share
// nothing but the job: each is a run of its own.

/// 1: the job is one run, without groups.
std::uint32_t number_of_groups(const RunRequest& request);

/// So many ranks are in each group where the order of ranks decides. Throws UsageError if they cannot be
/// divided.
std::uint32_t ranks_per_group(const RunRequest& request, std::uint32_t ranks);

/// The group of a rank on `host`, where lists of hosts decide. Throws UsageError if no list has the host.
std::uint32_t group_of_host(const RunRequest& request, std::string_view host);

/// The switch that a host is below, of `leaf-hosts`; empty: none is named for it.
std::string leaf_of_host(const RoleRequest& request, std::string_view host);

/// "group-00" to "group-35" of 36: where the groups' run directories are, in that of the job.
std::vector<std::string> group_directories(std::uint32_t groups);

/// What one group is to do: its seed is that of the job plus its number, and of producers' and consumers'
/// hosts those count that are in `group-hosts`.
RunRequest request_of_group(const RunRequest& job, std::uint32_t group);

}  // namespace weir::config
