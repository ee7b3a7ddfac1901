// Rates and sizes that are floating point numbers, as text.
#pragma once

#include <cstdint>
#include <string>

#include "files/formatting.hpp"

namespace weir::host {

inline std::string rate_text(double bits_per_second) {
    return files::readable(core::BitRate{static_cast<std::int64_t>(bits_per_second)});
}

inline std::string size_text(double bytes) {
    return files::readable(core::Bytes{static_cast<std::int64_t>(bytes)});
}

}  // namespace weir::host
