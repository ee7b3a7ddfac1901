// The settings of this host and process, as `weir check` judges them and run.json keeps them.
#pragma once

#include <string>

#include "preflight/host_settings.hpp"

namespace weir::runtime {

/// `root`: what the paths of the kernel's files begin with; empty on a real host. Takes some milliseconds.
preflight::HostSettings host_snapshot(const std::string& root = {});

}  // namespace weir::runtime
