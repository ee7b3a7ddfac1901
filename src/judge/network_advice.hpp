// What the network did to a run of which it is the main cause, from what was counted, and what to try next.
#pragma once

#include <string>

#include "core/plan.hpp"
#include "judge/verdict.hpp"

namespace weir::judge {

struct NetworkAdvice {
    std::string text;    ///< whole sentences with what was counted; empty: nothing explains the run
    std::string advice;  ///< one thing to try, without a capital
};

/// For a measured run the advice names the counter and host to look at, for a simulated one the option or the
/// key of the switch file to try.
NetworkAdvice advise_on_network(const core::Plan& plan, const RunFacts& facts);

}  // namespace weir::judge
