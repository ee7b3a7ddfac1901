// Rates and sizes that are floating point numbers, as text.
#pragma once

#include <cstdint>
#include <string>

#include "telemetry/formatting.hpp"

namespace weir::preflight {

inline std::string rate_text(double bits_per_second) {
    return telemetry::readable(core::BitRate{static_cast<std::int64_t>(bits_per_second)});
}

inline std::string size_text(double bytes) {
    return telemetry::readable(core::Bytes{static_cast<std::int64_t>(bytes)});
}

}  // namespace weir::preflight
