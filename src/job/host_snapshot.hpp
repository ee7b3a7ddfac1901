// The settings of this host and process, as `weir check` judges them and run.json keeps them.
#pragma once

#include <string>

#include "host/host_settings.hpp"

namespace weir::job {

/// `root`: what the paths of the kernel's files begin with; empty on a real host. Takes some milliseconds.
host::HostSettings host_snapshot(const std::string& root = {});

}  // namespace weir::job
