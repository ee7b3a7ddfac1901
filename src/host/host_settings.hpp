// What one host has that matters to a run: its network devices and how they are set, its limits,
// its processors and the variables that steer MPI. Read on each host (read_settings), compared by
// one rank (comparison, rules), kept in run.json. Every number may be missing: a setting that cannot be read
// is unknown, which is never a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weir::host {

/// An entry of a port's table of addresses.
struct Gid {
    int index = 0;
    std::string gid;        ///< "fe80:0000:...", as the kernel writes it
    std::string type;       ///< "RoCE v2", "IB/RoCE v1"
    std::string interface;  ///< that it belongs to; empty on InfiniBand
};

/// "10.0.0.7" where the GID is made from an IPv4 address; nothing otherwise.
std::optional<std::string> ipv4_of(const Gid& gid);
/// Made from a link-local address, of IPv6 or IPv4: valid on one Ethernet segment only.
bool is_link_local(const Gid& gid);

struct RdmaPort {
    std::string device;  ///< "mlx5_0"
    int port = 1;
    bool active = false;
    std::string state;       ///< "ACTIVE", "DOWN"
    std::string link_layer;  ///< "Ethernet": RoCE; "InfiniBand"
    std::string driver;      ///< "mlx5_core"; empty: unknown
    std::string firmware;
    std::optional<std::int64_t> speed_bits_per_second;
    std::optional<int> active_mtu_bytes;   ///< of RDMA packets, payload
    std::optional<int> largest_mtu_bytes;  ///< that the port could do
    std::optional<int> traffic_class;      ///< that the driver forces on all packets
    std::optional<int> numa_node;
    std::string interface;  ///< of RoCE; empty: none
    std::vector<Gid> gids;  ///< that are not empty
    bool virtual_function = false;

    /// "mlx5_0:1", as UCX_NET_DEVICES has it
    [[nodiscard]] std::string name() const { return device + ":" + std::to_string(port); }
};

/// Bit p: for priority p.
using Priorities = std::uint8_t;

/// One of the interfaces that a bond is made of.
struct BondLeg {
    std::string name;
    bool up = false;
    std::optional<std::int64_t> speed_bits_per_second;
};

struct Interface {
    std::string name;
    bool seen = true;  ///< from here; false: it is of another namespace
    bool up = false;
    std::vector<BondLeg> legs;  ///< of the bond that it is, or that it is a VLAN of
    std::string leg_choice;     ///< of the bond: "layer2", "layer3+4"; empty: by other means
    std::string driver;
    std::optional<std::int64_t> speed_bits_per_second;
    std::optional<int> mtu_bytes;
    std::optional<int> numa_node;
    std::vector<std::string> addresses;

    std::optional<Priorities> pfc;        ///< priorities whose queues may be paused
    std::optional<bool> dscp_trusted;     ///< the priority of a packet follows from its DSCP
    std::map<int, int> priority_of_dscp;  ///< where it was set; others follow the default
    std::optional<bool> pause_receiving;  ///< acts on pause frames for the whole link
    std::optional<bool> pause_sending;
    std::optional<Priorities> ecn_notification;  ///< RoCE receiver answers marks with CNPs
    std::optional<Priorities> ecn_reaction;      ///< RoCE sender acts on CNPs
};

/// A limit of the kernel on a process.
struct KernelLimit {
    bool unlimited = false;
    std::int64_t bytes = 0;
};

struct HostSettings {
    std::string host;
    std::string kernel;
    std::string processor;
    int cores = 0;         ///< that are online
    int usable_cores = 0;  ///< that the process may run on
    double cpu_quota = 0;  ///< cores' worth of time that control groups allow; 0: no limit
    std::optional<std::int64_t> memory_available_bytes;  ///< by its control groups, too
    bool memory_limited = false;                         ///< they leave less than the host has
    bool locks_without_limit = false;           ///< the process may, whatever the limit is (CAP_IPC_LOCK)
    std::optional<KernelLimit> locked_memory;   ///< per process
    std::map<std::string, int> governors;       ///< "performance" -> number of cores
    std::map<int, std::string> cpus_of_node;    ///< NUMA node -> "0-15,32-47"
    std::map<int, std::vector<int>> distances;  ///< NUMA node -> to each node, in order
    std::map<std::string, std::string> kernel_parameters;  ///< "net.ipv4.tcp_rmem" -> "4096 131072 6291456"
    std::vector<RdmaPort> rdma_ports;
    std::vector<Interface> interfaces;             ///< up or belonging to an RDMA port, without the loopback
    bool sees_network = true;                      ///< there is a /sys/class/net
    std::size_t interfaces_left_out = 0;           ///< of hundreds that are up: without device and network
    std::map<std::string, std::string> variables;  ///< "UCX_TLS", "OMPI_MCA_pml", ... of the process
    std::map<std::string, std::string> versions;   ///< "weir", "MPI", "UCX", ...

    [[nodiscard]] bool any_active_port() const {
        return std::any_of(rdma_ports.begin(), rdma_ports.end(),
                           [](const RdmaPort& port) { return port.active; });
    }
};

const Interface* find_interface(const HostSettings& host, const std::string& name);

nlohmann::json to_json(const HostSettings& host);
/// Throws nlohmann::json::exception if the text is none of to_json.
HostSettings host_settings_from_json(const nlohmann::json& object);
/// The same as text.
std::string encode_settings(const HostSettings& host);
HostSettings decode_settings(const std::string& text);

}  // namespace weir::host
