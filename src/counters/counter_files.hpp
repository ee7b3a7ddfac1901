// Counters that the kernel shows as files with one number in each: RDMA ports under /sys/class/infiniband and
// interfaces under /sys/class/net. A file is opened for every reading: descriptors that stay open would cost
// thousands on hosts with many interfaces, and a reading of 100 files takes well below a millisecond.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "counters/counter.hpp"

namespace weir::counters {

using Sources = std::vector<std::unique_ptr<CounterSource>>;

/// The number in a file; nothing if it is not there or holds anything else ("N/A (no PMA)").
Value number_in_file(const std::string& path);

/// Everything in a file of the kernel; empty if it cannot be read.
std::string file_text(const std::string& path);

/// Sorted names of what lies in a directory; none if it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

/// Active ports of RDMA devices. `root`: what the paths begin with, empty on a real host.
Sources rdma_ports(const std::string& root);

/// Interfaces that are up, without the loopback. Where there are very many, as on hosts of containers, those
/// that have neither a device nor a network of their own are left out: data of ranks do not leave by them.
struct InterfacesInUse {
    static constexpr std::size_t all_up_to = 64;
    std::vector<std::string> names;  ///< sorted
    std::size_t left_out = 0;
};
InterfacesInUse interfaces_in_use(const std::string& root);

/// What the kernel itself counts for each interface.
Sources interface_statistics(const std::string& root, const std::vector<std::string>& interfaces);

}  // namespace weir::counters
