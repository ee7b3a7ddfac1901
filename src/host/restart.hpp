#pragma once

#include <string>
#include <vector>

namespace weir::host {

/// From here on an exec closes every descriptor but the three standard ones. Until then they stay open:
/// threads of libraries, as UCX's, still wait on theirs, and end the process if one vanishes.
void close_descriptors_at_exec();

/// Begins weir again in this process with these arguments and the environment as it is. No open descriptor
/// but the three standard ones goes along. Returns only if that fails.
void restart_weir(const std::vector<std::string>& arguments);

}  // namespace weir::host
