// Checks against the machine that a run is to use: memory and the run directory. The caller gathers the facts
// and calls these on one rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "config/run_request.hpp"
#include "core/role_map.hpp"

namespace weir::config {

/// MemAvailable of this host in bytes; 0: unknown.
core::Bytes available_memory();

/// Refuses a run that needs more memory than a host has. `available_by_rank`: available_memory() on each
/// rank. Throws UsageError that names the host, the need and the largest contributions.
void check_memory(const RunRequest& request, const core::RoleMap& roles,
                  std::span<const std::string> hosts_by_rank, std::span<const core::Bytes> available_by_rank);

/// "weir-run-20260102T030405Z" for seconds since 1970 (UTC).
std::string default_run_directory(std::int64_t unix_seconds);

/// Refuses a run directory that exists already, or that cannot be made. Creates nothing. Throws UsageError.
void check_run_directory(const std::filesystem::path& directory);

/// check_run_directory, then creates it with its parents, and `parts` in it. `out` empty: a directory of the
/// default name, with -2, -3, ... behind it if there is one: runs can be shorter than a second. Returns the
/// absolute name. Throws UsageError.
std::string create_run_directory(const std::string& out, std::int64_t unix_seconds,
                                 const std::vector<std::string>& parts = {});

}  // namespace weir::config
