// The result of `weir simulate --find`: a table and a sentence, or the same as JSON, also in a directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/find_values.hpp"
#include "cli/limit_search.hpp"
#include "config/run_request.hpp"

namespace weir::cli {

struct FindReport {
    const FindValues* search = nullptr;
    FindResult result;
    std::uint32_t seeds = 0;
    double precision = 0;
    std::vector<std::string> warnings;  ///< where there is no limit: what cannot work in the run as asked for
};

/// One value as it was tried: "--rate 92Gb/s, events of 2.875GB: sustained with 5 of 5 seeds".
std::string point_text(const FindValues& search, const FindPoint& point);

std::string find_text(const FindReport& report);
/// One line. `base`: the run as asked for.
std::string find_json(const FindReport& report, const config::RunRequest& base);

/// Makes the directory and writes `json` there as find.json. Returns what went wrong.
std::optional<std::string> write_find_directory(const std::string& directory, const std::string& json);

}  // namespace weir::cli
