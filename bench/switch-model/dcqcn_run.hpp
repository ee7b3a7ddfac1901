// Flows with DCQCN into one port, from the start of all of them to 0.5 s.
#pragma once

#include "core/switch_plan.hpp"
#include "packet/packet.hpp"

namespace weir::switch_model {

struct DcqcnRun {
    std::uint32_t flows = 2;
    std::int64_t rate = 0;
    core::EcnPlan ecn;
    core::Duration loop = core::Duration::microseconds(4);
    std::uint64_t seed = 1;
    packet::Picoseconds begin{};  ///< of all flows: nothing may depend on it
};

/// From 0.1 to 0.5 s after the beginning; the queue in bytes, every 10 us.
struct DcqcnStatistics {
    double mean = 0;
    double p5 = 0;
    double p95 = 0;
    double use = 0;         ///< of the link
    double worst_flow = 0;  ///< largest distance of a flow from its share, relative to it
};

DcqcnStatistics run_dcqcn(const DcqcnRun& run);

}  // namespace weir::switch_model
