// The rows of the option table. An option stands in the file of its group in the help:
// `weir run --help GROUP` is GROUP_options.cpp. For option_groups.cpp, which joins them.
#pragma once

#include <span>

#include "config/option_table.hpp"

namespace weir::config {

std::span<const Option> layout_options();
std::span<const Option> data_options();
std::span<const Option> transfer_options();
std::span<const Option> building_options();
std::span<const Option> busy_options();
std::span<const Option> run_options();
std::span<const Option> output_options();
std::span<const Option> network_options();
std::span<const Option> switch_options();
std::span<const Option> testing_options();

}  // namespace weir::config
