// Rows of the option table: the network of a simulation.
#pragma once

#include <span>

#include "config/option_table.hpp"

namespace weir::config {

std::span<const Option> network_option_rows();

}  // namespace weir::config
