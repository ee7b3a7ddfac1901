// `weir simulate --find WHAT`: the largest (or smallest) value of one quantity with which a run is still
// sustained, by bisection over simulations, each with several seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"

namespace weir::cli {

struct FindRequest {
    std::string what;          ///< rate, slots, streams, consumers or busy
    std::uint32_t seeds = 5;   ///< the plan's seed and those that follow it
    double precision = 0.005;  ///< relative, of rate and busy; counts are exact
    config::OutputForm output = config::OutputForm::text;
};

/// One point of the curve: how the run came out with this value.
struct FindPoint {
    double value = 0;
    std::string text;  ///< the value as an option takes it
    std::uint32_t sustained = 0;
    std::uint32_t seeds = 0;
    double worst_occupancy = 0;
    std::string refused;  ///< why no such run is possible; empty: it is
    [[nodiscard]] bool holds() const { return refused.empty() && seeds > 0 && sustained == seeds; }
};

struct FindResult {
    std::vector<FindPoint> curve;       ///< in the order of the values
    std::optional<std::size_t> best;    ///< in the curve
    std::optional<std::size_t> beyond;  ///< the nearest value that does not hold
};

/// Looks for the limit between the values that `measure` finds to hold and not to hold, beginning with
/// `start`. `larger_is_harder`: the largest value is looked for. `whole`: whole numbers from 1 on.
FindResult find_limit(double start, bool larger_is_harder, bool whole, double precision,
                      const std::function<FindPoint(double)>& measure);

/// The command. Returns the exit status. Throws config::UsageError.
int find_command(const FindRequest& request, const std::vector<config::GivenOption>& options);

}  // namespace weir::cli
