// Networks of a few links for the tests of FairShares.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulation/fair_shares.hpp"

namespace weir::simulation::test {

/// At 1 b/s it takes 8 * 10^18 ns, nearly as much as 64 bits hold.
inline constexpr core::Bytes long_flow{1000000000};

inline FairShares fluid_network(const std::vector<std::int64_t>& capacities, std::uint32_t flows_limit = 64) {
    std::vector<core::BitRate> rates;
    rates.reserve(capacities.size());
    for (const std::int64_t capacity : capacities) {
        rates.push_back({capacity});
    }
    return {std::move(rates), flows_limit};
}

inline FlowId begin_flow(FairShares& network, std::uint32_t up, std::uint32_t down,
                         core::Bytes bytes = long_flow, core::Instant now = {}) {
    return network.begin(now, {up}, {down}, bytes);
}

inline std::int64_t flow_rate(const FairShares& network, FlowId flow) {
    return network.rate(flow).bits_per_second;
}

}  // namespace weir::simulation::test
