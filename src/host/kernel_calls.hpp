// Counters that are no files: what drivers count (ethtool's ioctl) and what queueing disciplines count
// (rtnetlink). Behind an interface, so that tests can answer for the kernel. Rejected: libnl and the
// program ethtool, for two requests each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::host {

/// Counts of the discipline at an interface's root, which contain what its children count.
struct QueueStatistics {
    std::string interface;
    std::uint32_t drops = 0;
    std::uint32_t overlimits = 0;
    std::uint32_t requeues = 0;
};

class KernelCalls {
  public:
    KernelCalls() = default;
    KernelCalls(const KernelCalls&) = delete;
    KernelCalls& operator=(const KernelCalls&) = delete;
    virtual ~KernelCalls() = default;

    /// Names of what the driver counts; empty: nothing, or the driver does not report them.
    virtual std::vector<std::string> driver_counter_names(const std::string& interface) = 0;
    /// Their values, in the order of the names. Another number of values than of names: the names do not hold
    /// any more.
    virtual std::vector<std::uint64_t> driver_counters(const std::string& interface) = 0;
    virtual std::vector<QueueStatistics> root_queues() = 0;
};

/// The kernel of this host.
std::unique_ptr<KernelCalls> kernel_calls();

}  // namespace weir::host
