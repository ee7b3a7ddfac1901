#include "transport/ucx/ucx_variables.hpp"

#include <algorithm>

namespace weir::transport {

namespace {

using Variables = std::vector<std::pair<const char*, const char*>>;

}  // namespace

std::vector<std::pair<const char*, const char*>> ucx_variables(
    const std::function<const char*(const char* name)>& value_of) {
    const Variables groups[] = {
        // Lets endpoints that report failures use a single copy in shared memory instead of two. A receiver
        // may then still read from a buffer whose sender has given up, and such a buffer is not used again.
        {{"UCX_CMA_MEMORY_INVALIDATE", "y"}},
        // Over TCP such endpoints send data in segments, with a call of the kernel for each: UCX's own have
        // 8 KiB.
        {{"UCX_TCP_TX_SEG_SIZE", "256k"}, {"UCX_TCP_RX_SEG_SIZE", "256k"}}};
    Variables chosen;
    for (const Variables& group : groups) {
        if (std::all_of(group.begin(), group.end(),
                        [&](const auto& one) { return value_of(one.first) == nullptr; })) {
            chosen.insert(chosen.end(), group.begin(), group.end());
        }
    }
    return chosen;
}

}  // namespace weir::transport
