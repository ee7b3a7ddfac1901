// A host for a check: its settings, the way that its data will take, and its part in the planned run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/host_settings.hpp"
#include "host/path_choice.hpp"

namespace weir::host {

/// What the plan needs of a host.
struct HostPart {
    int producers = 0;
    int consumers = 0;
    int schedulers = 0;
    std::int64_t memory_bytes = 0;        ///< buffers of all ranks there
    std::int64_t largest_rank_bytes = 0;  ///< buffers of the rank with most
    double sends_bits_per_second = 0;     ///< payload, all ranks together
    double receives_bits_per_second = 0;
    std::vector<std::vector<int>> cpus;  ///< that each rank may run on

    [[nodiscard]] int ranks() const { return producers + consumers + schedulers; }
};

struct HostView {
    HostSettings settings;
    PathChoice choice;
    HostPart part;
};

}  // namespace weir::host
