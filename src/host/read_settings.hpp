// Reads the settings of a host out of the kernel's files (sysfs, procfs) and out of KernelSettings. Takes
// some milliseconds. What is not there is left out and never guessed.
#pragma once

#include <map>
#include <string>

#include "host/host_settings.hpp"
#include "host/kernel_settings.hpp"

namespace weir::host {

/// `root`: what the paths begin with, empty on a real host.
struct Sight {
    std::string root;
    KernelSettings& kernel;
};

/// All of a host but `variables` and `versions`, which are the process's own.
HostSettings read_settings(const std::string& host, const Sight& sight);

std::vector<RdmaPort> read_rdma_ports(const Sight& sight);
/// `left_out`: how many that are up and cannot matter are not among them.
std::vector<Interface> read_interfaces(const Sight& sight, const std::vector<RdmaPort>& ports,
                                       std::size_t& left_out);

}  // namespace weir::host
