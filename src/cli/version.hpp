// `weir --version`: what this weir is, and the libraries that it would run with.
#pragma once

#include <string>

namespace weir::cli {

/// One fact per line, the first "weir VERSION". The libraries are those of now, not those that weir was built
/// with.
std::string version_text();

}  // namespace weir::cli
