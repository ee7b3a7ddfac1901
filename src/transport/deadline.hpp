// Until when something that cannot be waited for without a limit is waited for.
#pragma once

#include <chrono>

namespace weir::transport {

using Deadline = std::chrono::steady_clock::time_point;

}  // namespace weir::transport
