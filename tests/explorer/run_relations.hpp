// Metamorphic relations of whole simulations: scenarios that mean the same in other words have the same
// record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/run_request.hpp"

namespace weir::explorer {

/// Simulates a random scenario as it is and said differently, and compares what run.json would hold. Which
/// difference there is, empty: none.
/// - `words`: units of times, sizes and rates are other ones, options stand in another order, and so do
///   the lines in files of switches and matrices, which are rewritten where they are.
/// - `clock`: the clock of the packet model begins later.
/// `options` must be accepted.
std::string broken_relation_of(const std::vector<config::GivenOption>& options);

/// Simulates events with an address, drawn from the seed, twice, and compares their latencies and bytes:
/// - `later`: all of them later by a whole number of seconds, since rows and heartbeats keep theirs.
/// - `idle`: with a producer and a consumer more, where their messages take nothing that others need.
///   With policy `none` a consumer.
/// Writes files into the directory, and removes them if nothing is broken.
std::string broken_relation_of_events(std::uint64_t seed, const std::string& directory);

}  // namespace weir::explorer
