// What the launcher (mpirun, srun) passes to a process in its environment, before MPI_Init: its rank and the
// number of ranks; and the one careful way to refuse a command line that all ranks have parsed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/usage_error.hpp"

namespace weir::cli {

struct LaunchedAs {
    std::optional<std::uint32_t> rank;  ///< nullopt: not started by a launcher that is known
    std::optional<std::uint32_t> size;
    /// MPMD: index of this rank's application (`:` on mpirun's line), and whether this is its first rank.
    std::uint32_t application = 0;
    bool first_of_application = false;
    std::uint32_t applications = 1;
    /// The launcher may have started several applications, without naming the one of this rank.
    bool application_unknown = false;
    [[nodiscard]] bool is_first() const { return rank.value_or(0) == 0; }
};

/// From the environment. `lookup` is getenv, or a test's stand-in.
LaunchedAs launched_as(const std::function<const char*(const char*)>& lookup);
LaunchedAs launched_as();

/// How a rank reports an error before MPI can agree on the one rank that prints it.
struct ErrorReport {
    std::chrono::milliseconds wait{0};
    bool print = true;
    std::chrono::milliseconds linger{0};  ///< between printing and exit
};
/// mpirun kills all ranks at the first that exits with an error, so the rank that prints must exit first and
/// the others wait; a rank that may be alone with its error waits longer and prints if it is still there.
ErrorReport report_of(const LaunchedAs& launched, config::UsageError::Reach reach);

/// Writes "COMMAND: message" to stderr on one rank and returns the exit status 2. For use before MPI_Init.
int report_usage_error(std::string_view command, const config::UsageError& error);

}  // namespace weir::cli
