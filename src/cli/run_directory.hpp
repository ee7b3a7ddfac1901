// The directory of a run (--out): its name, whether it can be made, and making it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weir::cli {

/// "weir-run-20260102T030405Z" for seconds since 1970 (UTC).
std::string default_run_directory(std::int64_t unix_seconds);

/// Refuses a run directory that exists already, or that cannot be made. Creates nothing. Throws UsageError.
void check_run_directory(const std::filesystem::path& directory);

/// check_run_directory, then creates it with its parents, and `parts` in it. `out` empty: a directory of the
/// default name, with -2, -3, ... behind it if there is one: runs can be shorter than a second. Returns the
/// absolute name. Throws UsageError.
std::string create_run_directory(const std::string& out, std::int64_t unix_seconds,
                                 const std::vector<std::string>& parts = {});

}  // namespace weir::cli
