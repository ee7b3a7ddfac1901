// What consumers have to process, in seconds of processing in each second. Above 1, what waits grows for as
// long as the run goes on, however many slots there are: this follows from rate, shares and times, and a run
// need not be long enough to show it.
//
// Which load counts depends on who can take an event. Mostly any consumer can, and all together have one
// load. With strict turns (round-robin) and addressed events a consumer has its share whatever the others
// do, and one with a load above 1 is enough.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan.hpp"

namespace weir::judge {

/// Each consumer has its share of the events, which no other can take.
bool has_own_shares(const core::Plan& plan);

/// Events in each second that consumers process: fragments of one event together are one. Not with
/// generation `saturate`.
double planned_events_per_second(const core::Plan& plan);

struct ProcessingLoads {
    std::vector<double> each;  ///< by consumer; empty unless has_own_shares()
    double all = 0;            ///< else: of all consumers; 0 where some are not busy, and can take what comes

    [[nodiscard]] double highest() const;
};

/// `events_per_second`: of all consumers. `slowness`, by consumer: times as long as planned; empty: as
/// planned. No loads without processing, or with generation `saturate`.
ProcessingLoads processing_loads(const core::Plan& plan, double events_per_second,
                                 std::span<const double> slowness = {});

}  // namespace weir::judge
