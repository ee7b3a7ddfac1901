// `weir run --dry-run` and `weir simulate --dry-run`: what a request comes to, without starting anything.
#pragma once

#include <string>

#include "config/run_request.hpp"

namespace weir::cli {

std::string dry_run_text(const config::RunRequest& request);
std::string dry_run_json(const config::RunRequest& request);

}  // namespace weir::cli
