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

}  // namespace weir::config
