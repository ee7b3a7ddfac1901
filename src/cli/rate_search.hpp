// The largest rate with which every set of a simulated run would be on time: limit_search over simulations,
// each rate with several seeds. Events keep their size, and where sets are cut into events of one size, only
// rates with whole events are tried: with a rate a little above, every set has one more event of a few bytes,
// which takes a whole processing time. That is a limit of the arithmetic and not of the farm.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/limit_search.hpp"
#include "config/run_request.hpp"

namespace weir::cli {

struct RateSearch {
    std::uint32_t seeds = 1;  ///< the plan's seed and those that follow it
    double precision = 0.02;  ///< relative, unless rates have whole events
    double most = 8;          ///< times the rate asked for
};

struct FoundRate {
    FindResult result;
    bool interrupted = false;  ///< by a signal: nothing was found
};

/// `options`: of weir simulate. Throws config::UsageError if no rate can be varied, or the plan cannot be
/// simulated.
FoundRate find_rate(const RateSearch& request, const std::vector<config::GivenOption>& options);

}  // namespace weir::cli
