// What went wrong with a file: the path, what was being done, and errno. Telemetry returns these instead of
// throwing: a full disk is an expected end of a run, and the rank that meets it still has to end the run in
// order.
#pragma once

#include <optional>
#include <string>
#include <system_error>

namespace weir::files {

struct IoError {
    std::string path;
    const char* doing = "write";  ///< a literal: "open", "write", "close", ...
    int error_number = 0;         ///< errno

    /// "cannot write /run/ranks/rank-00012-consumer.csv: No space left on device"
    [[nodiscard]] std::string message() const {
        return std::string("cannot ") + doing + " " + path + ": " +
               std::error_code(error_number, std::generic_category()).message();
    }
};

/// Nothing: it worked.
using MaybeIoError = std::optional<IoError>;

}  // namespace weir::files
