// Whether this program can use UCX, which it can be built and can run without.
#pragma once

#include <string>

namespace weir::transport {

/// Why `--engine ucx` is not possible here, in one sentence that says what would help; empty: it is. Loads
/// the library.
[[nodiscard]] std::string why_no_ucx();

}  // namespace weir::transport
