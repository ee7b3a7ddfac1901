// Which way MPI's data will take on a host: which device, which entry of its table of addresses, which
// traffic class and which priority. Follows the variables of UCX and Open MPI, and otherwise
// what they do by themselves; it is a forecast. What they really did is measured by the probe
// (probe.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/host_settings.hpp"

namespace weir::host {

struct NetworkPath {
    std::optional<std::size_t> rdma_port =
        {};                             ///< place in HostSettings::rdma_ports; nothing: through the kernel
    std::string interface = {};         ///< empty: none (InfiniBand)
    std::optional<int> gid_index = {};  ///< of RoCE
    std::optional<int> traffic_class = {};  ///< of RoCE: 4 x DSCP + ECN bits
    std::optional<int> priority = {};       ///< that the interface gives to the packets; nothing: not known
};

struct PathChoice {
    std::vector<NetworkPath> paths;
    std::vector<std::string> not_found;  ///< devices that a variable names and the host does not have
    bool uses_ucx = false;               ///< probably; the probe finds out
    std::string why;      ///< "UCX_NET_DEVICES", "all active RDMA ports: UCX_NET_DEVICES is not set"
    std::string gid_why;  ///< "UCX_IB_GID_INDEX", "chosen by UCX: RoCE v2 first, IPv4 before IPv6"
    std::string traffic_class_why;
};

/// `by_ucx`: weir sends by UCX (--engine ucx), whatever MPI is set to.
PathChoice choose_paths(const HostSettings& host, bool by_ucx = false);

/// The entry that UCX takes by default: RoCE v2 before v1, IPv4 before IPv6, lowest index first. Since
/// October 2025 (1.20) IPv6 that is not link-local before others. nullptr: the table is empty.
enum class UcxRule : std::uint8_t { until_1_19, since_1_20 };
const Gid* gid_chosen_by_ucx(const RdmaPort& port, UcxRule rule);
/// Of the UCX that this host has; nothing: it is not known yet.
std::optional<UcxRule> rule_of_ucx(const HostSettings& host);
/// The first entry of RoCE v2 that reaches other segments, or of RoCE v2; nullptr: none.
const Gid* usable_gid(const RdmaPort& port);

/// The entry of this index; nullptr: empty.
const Gid* find_gid(const RdmaPort& port, int index);

/// Priority of packets with this traffic class; nothing where it is not known what the interface goes by.
std::optional<int> priority_of(const Interface& interface, int traffic_class, int service_level);

/// The settings, and the choice beside them.
nlohmann::json to_json(const HostSettings& host, const PathChoice& choice);
/// As text.
std::string encode_settings(const HostSettings& host, const PathChoice& choice);

/// A variable's value as a number; nothing: not set, or "auto".
std::optional<int> number_of_variable(const HostSettings& host, const std::string& name);

}  // namespace weir::host
