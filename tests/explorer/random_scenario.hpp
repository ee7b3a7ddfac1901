// Random scenarios, as options: each is what a user could have written, goes
// the same way, and can be replayed by pasting it. Every option that a simulation takes is drawn, but for
// those that change nothing in it (tests/unit/explorer/explore_test.cpp has the list).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/run_request.hpp"

namespace weir::explorer {

/// A small run (at most some thousand events) with a layout, policy, data, processing times, network and
/// faults drawn from `seed`. Never refused by config. Files with traces are written into the directory
/// `traces`, one in seven scenarios has some; the same again from the same seed.
std::vector<config::GivenOption> random_scenario(std::uint64_t seed, const std::string& traces);

/// "weir simulate --producers 3 ...", quoted where a shell needs it.
std::string command_of(const std::vector<config::GivenOption>& options);

}  // namespace weir::explorer
