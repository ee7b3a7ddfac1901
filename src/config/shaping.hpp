// Shaping as an option writes it: what holds back a producer's chunks.
//
//   none
//   bucket:20Mb/s[,burst=64KiB]      a token bucket for payload
//   in-step:25us[,tick=2.5ms]        a chunk per 25 us, the grid laid anew by each tick of the scheduler
#pragma once

#include <string>
#include <string_view>

#include "core/plan.hpp"

namespace weir::config {

/// Throws UsageError.
core::Shaping parse_shaping(std::string_view text);
/// The canonical text, which parses to the same shaping.
std::string shaping_text(const core::Shaping& shaping);

}  // namespace weir::config
