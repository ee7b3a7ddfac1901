// The kernel's lists of processors: "0-15,32-47".
#pragma once

#include <set>
#include <string_view>

namespace weir::host {

/// What cannot be read is left out.
std::set<int> processors_in(std::string_view list);

}  // namespace weir::host
