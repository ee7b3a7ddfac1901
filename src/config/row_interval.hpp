// What the rows of --row-interval come to, before the run: how many, and how many bytes. A run that would
// write more than a limit is refused with these numbers. Chosen: one limit on the bytes of all ranks over the
// whole run, which is what a file system has to hold and a report to read; at 4500 ranks and 10 ms it is
// reached in two minutes. Rejected: to leave rows out when there are too many (a burst would be missing
// without a word), and to aggregate ranks (the leader would get every interval of every rank over the network
// that is measured).
//
// A run of a few seconds has too few rows of seconds to be drawn, so it gets short rows unless --row-interval
// says otherwise: 50 to 100 in the measured time where rows of 10 ms allow it, 20 at least. Not with more
// than 1000 ranks, which would be as many files more, and never so many that they come to 64 MiB.
#pragma once

#include <cstdint>

#include "config/run_request.hpp"
#include "core/plan.hpp"

namespace weir::config {

struct BurstNeed {
    std::uint64_t ranks = 0;
    std::uint64_t rows_per_second = 0;  ///< of all ranks
    core::Duration time;                ///< for which rows are written, until the drain ends
    core::Bytes bytes;                  ///< in bursts/, at most
};

/// For a plan with a row interval; producers and consumers that are not known yet count as none.
BurstNeed burst_need(const core::Plan& plan);

}  // namespace weir::config
