// A job of several groups: which ranks are in which group, and what each group is to do. Groups share
// nothing but the job: each is a run of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"

namespace weir::config {

/// 1: the job is one run, without groups.
std::uint32_t number_of_groups(const RunRequest& request);

/// So many ranks are in each group where the order of ranks decides. Throws UsageError if they cannot be
/// divided.
std::uint32_t ranks_per_group(const RunRequest& request, std::uint32_t ranks);

/// The group of a rank on `host`, where lists of hosts decide. Throws UsageError if no list has the host.
std::uint32_t group_of_host(const RunRequest& request, std::string_view host);

/// "group-00" to "group-35" of 36: where the groups' run directories are, in that of the job.
std::vector<std::string> group_directories(std::uint32_t groups);

/// What one group is to do: its seed is that of the job plus its number, and of producers' and consumers'
/// hosts those count that are in `group-hosts`.
RunRequest request_of_group(const RunRequest& job, std::uint32_t group);

}  // namespace weir::config
