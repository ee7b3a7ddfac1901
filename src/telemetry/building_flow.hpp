// What a consumer counts beside fragments: events that it built, and what it took to get their fragments.
#pragma once

#include <cstdint>

namespace weir::telemetry {

struct BuildingFlow {
    std::uint64_t finished_events = 0;  ///< pattern build: all fragments came
    std::uint64_t given_up_events = 0;  ///< pattern build: a fragment was declined or lost
    std::uint64_t asked_again = 0;      ///< transport datagram: fragments asked for again

    constexpr BuildingFlow& operator+=(const BuildingFlow& other) {
        finished_events += other.finished_events;
        given_up_events += other.given_up_events;
        asked_again += other.asked_again;
        return *this;
    }
    constexpr bool operator==(const BuildingFlow&) const = default;
};

}  // namespace weir::telemetry
