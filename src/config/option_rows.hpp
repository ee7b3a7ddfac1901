// The rows of the option table: one entry per option, with its setter and getter. Apart from option_table.cpp
// only because of its length.
#pragma once

#include <span>

#include "config/option_table.hpp"

namespace weir::config {

std::span<const Option> option_rows();

}  // namespace weir::config
