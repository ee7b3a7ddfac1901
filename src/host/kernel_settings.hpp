// Settings that are no files: PFC (netlink), pause frames (ethtool's ioctl), MTU of RDMA packets
// (libibverbs), addresses. Behind an interface, so that tests can set the kernel's answers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/host_settings.hpp"

namespace weir::host {

/// Data center bridging of an interface, as the kernel has it. Where a vendor's daemon or firmware
/// sets it, the kernel may have nothing.
struct Bridging {
    std::optional<Priorities> pfc;
    std::optional<bool> dscp_trusted;
    std::map<int, int> priority_of_dscp;
};

struct PauseFrames {
    bool receiving = false;
    bool sending = false;
};

struct PortMtu {
    int active_bytes = 0;
    int largest_bytes = 0;
};

class KernelSettings {
  public:
    KernelSettings() = default;
    KernelSettings(const KernelSettings&) = delete;
    KernelSettings& operator=(const KernelSettings&) = delete;
    virtual ~KernelSettings() = default;

    virtual Bridging bridging(const std::string& interface) = 0;
    virtual std::optional<PauseFrames> pause_frames(const std::string& interface) = 0;
    /// Nothing also where weir was built without libibverbs.
    virtual std::optional<PortMtu> port_mtu(const std::string& device, int port) = 0;
    virtual std::vector<std::string> addresses(const std::string& interface) = 0;
};

/// The kernel of this host.
std::unique_ptr<KernelSettings> kernel_settings();
/// One that finds nothing.
std::unique_ptr<KernelSettings> no_kernel_settings();

}  // namespace weir::host
