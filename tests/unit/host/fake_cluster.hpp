// Hosts for the tests of settings and rules: as structures, and as trees of files to be
// read.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "host/check_report.hpp"
#include "host/kernel_settings.hpp"

namespace weir::host::test {

/// What the kernel answers.
class FakeKernel final : public KernelSettings {
  public:
    std::map<std::string, Bridging> bridgings;
    std::map<std::string, PauseFrames> pauses;
    std::map<std::string, PortMtu> mtus;
    std::map<std::string, std::vector<std::string>> known_addresses;

    Bridging bridging(const std::string& interface) override { return bridgings[interface]; }
    std::optional<PauseFrames> pause_frames(const std::string& interface) override {
        const auto found = pauses.find(interface);
        return found == pauses.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<PortMtu> port_mtu(const std::string& device, int port) override {
        const auto found = mtus.find(device + ":" + std::to_string(port));
        return found == mtus.end() ? std::nullopt : std::optional(found->second);
    }
    std::vector<std::string> addresses(const std::string& interface) override {
        return known_addresses[interface];
    }
};

constexpr const char* link_local = "fe80:0000:0000:0000:48b3:e0ff:fe08:085f";

/// The entry of 10.0.0.NUMBER
inline std::string ipv4_gid(int number) {
    const char* digits = "0123456789abcdef";
    std::string gid = "0000:0000:0000:0000:0000:ffff:0a00:00";
    return gid + digits[number / 16] + digits[number % 16];
}

/// A host with one RoCE port as it should be: PFC and ECN for priority 3, which DSCP 26 leads to.
inline HostSettings roce_host(const std::string& name, int number = 7) {
    HostSettings host;
    host.host = name;
    host.kernel = "6.1.0";
    host.cores = 32;
    host.memory_available_bytes = std::int64_t{256} << 30;
    host.locked_memory = KernelLimit{.unlimited = true, .bytes = 0};
    host.governors = {{"performance", 32}};
    host.cpus_of_node = {{0, "0-15"}, {1, "16-31"}};
    RdmaPort port;
    port.device = "mlx5_0";
    port.active = true;
    port.state = "ACTIVE";
    port.link_layer = "Ethernet";
    port.firmware = "22.35";
    port.speed_bits_per_second = 100000000000;
    port.active_mtu_bytes = 4096;
    port.largest_mtu_bytes = 4096;
    port.numa_node = 0;
    port.interface = "eth1";
    port.gids = {{0, link_local, "IB/RoCE v1", "eth1"},
                 {1, link_local, "RoCE v2", "eth1"},
                 {2, ipv4_gid(number), "IB/RoCE v1", "eth1"},
                 {3, ipv4_gid(number), "RoCE v2", "eth1"}};
    host.rdma_ports = {port};
    Interface interface;
    interface.name = "eth1";
    interface.up = true;
    interface.speed_bits_per_second = 100000000000;
    interface.mtu_bytes = 9000;
    interface.numa_node = 0;
    interface.addresses = {"10.0.0." + std::to_string(number)};
    interface.pfc = 1U << 3U;
    interface.dscp_trusted = true;
    interface.pause_receiving = false;
    interface.pause_sending = false;
    interface.ecn_notification = 1U << 3U;
    interface.ecn_reaction = 1U << 3U;
    host.interfaces = {interface};
    host.variables = {{"OMPI_MCA_pml", "ucx"}, {"UCX_NET_DEVICES", "mlx5_0:1"}};
    host.versions = {{"MPI", "Open MPI v4.1.4"}, {"weir", "1.0"}};
    return host;
}

/// A host whose data go through the kernel.
inline HostSettings tcp_host(const std::string& name) {
    HostSettings host = roce_host(name);
    host.rdma_ports.clear();
    host.variables.clear();
    return host;
}

inline HostView view_of(const HostSettings& settings, int producers = 1, int consumers = 0) {
    HostView view(settings);
    view.part.producers = producers;
    view.part.consumers = consumers;
    view.part.cpus.assign(static_cast<std::size_t>(producers + consumers), {0, 1, 2, 3});
    return view;
}

inline CheckResult judged(const std::vector<HostSettings>& hosts) {
    CheckResult result;
    for (const HostSettings& host : hosts) {
        result.hosts.push_back(view_of(host));
    }
    judge_hosts(result);
    return result;
}

/// The findings of a topic.
inline std::vector<Finding> about(const std::string& topic, const std::vector<Finding>& findings) {
    std::vector<Finding> found;
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(found),
                 [&](const Finding& finding) { return finding.topic == topic; });
    return found;
}

inline bool says(const Finding& finding, const std::string& words) {
    return finding.what.find(words) != std::string::npos;
}

}  // namespace weir::host::test
