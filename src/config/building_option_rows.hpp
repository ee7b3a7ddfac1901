// The options of event building: which fragments make an event, who asks for them, and what bounds that.
#pragma once

#include <span>

#include "config/option_table.hpp"

namespace weir::config {

std::span<const Option> building_option_rows();

}  // namespace weir::config
