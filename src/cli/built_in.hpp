// `weir scenarios` and `weir switches`: what is built in.
#pragma once

#include <string>

namespace weir::cli {

/// A table of the built-in scenarios, or the TOML of one (built in, or a file). Throws config::UsageError.
std::string scenarios_text(const std::string& name);

/// A table of the built-in switches, or the TOML of one (built in, or a file). Throws config::UsageError.
std::string switches_text(const std::string& name);

}  // namespace weir::cli
