// `weir simulate --find WHAT`: limit_search over simulations, each value with several seeds. Everything but
// the quantity stays as asked, with what follows from it: a longer processing time keeps the shape of its
// distribution, and a higher rate cuts its sets into as many events as before.
//
// That last one is a choice. With events held at their size, a rate a little above a whole number of events
// makes one more event of a few bytes in every set, which costs a whole processing time: a limit of the
// arithmetic and not of the farm. `hold` is there for who asks for it, and then tries whole events only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/limit_search.hpp"
#include "config/run_request.hpp"

namespace weir::cli {

struct FindRequest {
    std::string what;          ///< rate, slots, streams, consumers or busy
    std::uint32_t seeds = 5;   ///< the plan's seed and those that follow it
    double precision = 0.005;  ///< relative, of rate and busy; counts are exact
    std::string events;        ///< of rate: "scale", "hold"; empty: scale where sets are cut, else hold
    bool on_time = false;      ///< a value holds if every set is on time, too, and not only sustained
    /// Largest value, as a multiple of the one asked for; 0: whatever is possible.
    double most = 0;
    config::OutputForm output = config::OutputForm::text;
};

struct FoundLimit {
    FindResult result;
    std::vector<std::string> statements;  ///< what was held and what was not
    bool interrupted = false;             ///< by a signal: nothing was found
};
/// The search alone, without output. Throws config::UsageError.
FoundLimit search_limit(const FindRequest& request, const std::vector<config::GivenOption>& options);

/// Returns the exit status. Throws config::UsageError.
int find_command(const FindRequest& request, const std::vector<config::GivenOption>& options);

}  // namespace weir::cli
