// Devices of the network: RDMA ports under /sys/class/infiniband, interfaces under /sys/class/net.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "files/formatting.hpp"
#include "host/counter_files.hpp"
#include "host/read_settings.hpp"

namespace weir::host {

namespace {

/// The first line of a file, without its end; empty if there is none.
std::string line_of(const std::string& path) {
    const std::string text = file_text(path);
    return text.substr(0, text.find('\n'));
}

std::optional<int> integer_in(const std::string& path) {
    return files::number_in<int>(line_of(path));
}

/// The kernel writes -1 where there are no nodes.
std::optional<int> node_in(const std::string& path) {
    const auto node = integer_in(path);
    return node && *node >= 0 ? node : std::nullopt;
}

/// "100 Gb/sec (4X EDR)"
std::optional<std::int64_t> rate_in(const std::string& path) {
    const std::string line = line_of(path);
    double gigabits = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), gigabits);
    if (error != std::errc{} || !std::string_view(rest).starts_with(" Gb/sec") || gigabits <= 0) {
        return std::nullopt;
    }
    return std::llround(gigabits * 1e9);
}

/// "4: ACTIVE" -> "ACTIVE"
std::string state_in(const std::string& path) {
    const std::string line = line_of(path);
    const auto colon = line.find(": ");
    return colon == std::string::npos ? line : line.substr(colon + 2);
}

/// Sorted by number, which names are not.
std::vector<int> numbers_in(const std::string& directory) {
    std::vector<int> numbers;
    for (const std::string& name : names_in(directory)) {
        if (const auto number = files::number_in<int>(name)) {
            numbers.push_back(*number);
        }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

std::vector<Gid> gids_of(const std::string& port_directory) {
    std::vector<Gid> gids;
    for (const int index : numbers_in(port_directory + "/gids")) {
        const std::string number = std::to_string(index);
        std::string gid = line_of(port_directory + "/gids/" + number);
        const bool holds_nothing =
            std::all_of(gid.begin(), gid.end(), [](char letter) { return letter == '0' || letter == ':'; });
        // Behind the prefix of InfiniBand's own addresses there is nothing, either, in an empty entry.
        if (holds_nothing || gid == "fe80:0000:0000:0000:0000:0000:0000:0000") {
            continue;
        }
        gids.push_back({.index = index,
                        .gid = std::move(gid),
                        .type = line_of(port_directory + "/gid_attrs/types/" + number),
                        .interface = line_of(port_directory + "/gid_attrs/ndevs/" + number)});
    }
    return gids;
}

std::string interface_of(const std::string& device_directory, const RdmaPort& port) {
    if (!port.gids.empty() && !port.gids.front().interface.empty()) {
        return port.gids.front().interface;
    }
    const auto names = names_in(device_directory + "/device/net");
    return port.link_layer == "Ethernet" && names.size() == 1 ? names.front() : std::string{};
}

std::optional<std::int64_t> speed_in(const std::string& directory) {
    const auto megabits = integer_in(directory + "/speed");
    return megabits && *megabits > 0 ? std::optional(*megabits * std::int64_t{1000000}) : std::nullopt;
}

/// Tunnels and some virtual interfaces do not report whether they are up.
bool is_up(const std::string& directory) {
    const std::string state = line_of(directory + "/operstate");
    return state == "up" || state == "unknown";
}

/// Of a bond, or of the one that a VLAN is on.
void read_legs(const std::string& interfaces, std::string name, Interface& interface) {
    for (const std::string& entry : names_in(interfaces + name)) {
        constexpr std::string_view lower = "lower_";
        if (line_of(interfaces + name + "/bonding/slaves").empty() && entry.starts_with(lower)) {
            name = entry.substr(lower.size());
            break;
        }
    }
    std::istringstream legs(line_of(interfaces + name + "/bonding/slaves"));
    for (std::string leg; legs >> leg;) {
        const std::string directory = interfaces + leg;
        const bool up = is_up(directory) && line_of(directory + "/bonding_slave/mii_status") != "down";
        interface.legs.push_back({leg, up, speed_in(directory)});
    }
    // "balance-xor 2", "802.3ad 4": the others do not choose by a hash of the packet.
    const std::string mode = line_of(interfaces + name + "/bonding/mode");
    if (mode.ends_with(" 2") || mode.ends_with(" 4")) {
        const std::string policy = line_of(interfaces + name + "/bonding/xmit_hash_policy");
        interface.leg_choice = policy.substr(0, policy.find(' '));
    }
}

/// Also where the host's own function cannot be seen, as in a virtual machine.
bool is_virtual_function(const std::string& device) {
    constexpr std::array mlx5{"0x1014", "0x1016", "0x1018", "0x101a", "0x101c", "0x101e"};
    return std::filesystem::exists(device + "/physfn") ||
           (line_of(device + "/vendor") == "0x15b3" &&
            std::find(mlx5.begin(), mlx5.end(), line_of(device + "/device")) != mlx5.end());
}

/// Vendors' kernel modules show these as one file per priority with 0 or 1 in it.
std::optional<Priorities> priorities_in(const std::string& directory) {
    std::optional<Priorities> priorities;
    for (int priority = 0; priority < 8; ++priority) {
        if (const auto enabled = integer_in(directory + "/" + std::to_string(priority))) {
            const unsigned bit = *enabled != 0 ? 1U << static_cast<unsigned>(priority) : 0U;
            priorities = static_cast<Priorities>(priorities.value_or(0) | bit);
        }
    }
    return priorities;
}

Interface read_interface(const Sight& sight, const std::string& name) {
    const std::string directory = sight.root + "/sys/class/net/" + name;
    Interface interface;
    interface.name = name;
    interface.seen = std::filesystem::exists(directory);
    interface.up = is_up(directory);
    read_legs(sight.root + "/sys/class/net/", name, interface);
    interface.driver = driver_of(directory);
    interface.speed_bits_per_second = speed_in(directory);
    interface.mtu_bytes = integer_in(directory + "/mtu");
    interface.numa_node = node_in(directory + "/device/numa_node");
    interface.addresses = sight.kernel.addresses(name);
    const Bridging bridging = sight.kernel.bridging(name);
    interface.pfc = bridging.pfc;
    interface.dscp_trusted = bridging.dscp_trusted;
    interface.priority_of_dscp = bridging.priority_of_dscp;
    if (const std::string trust = line_of(directory + "/qos/trust"); !trust.empty()) {
        interface.dscp_trusted = trust == "dscp";
    }
    if (const auto pause = sight.kernel.pause_frames(name)) {
        interface.pause_receiving = pause->receiving;
        interface.pause_sending = pause->sending;
    }
    interface.ecn_notification = priorities_in(directory + "/ecn/roce_np/enable");
    interface.ecn_reaction = priorities_in(directory + "/ecn/roce_rp/enable");
    return interface;
}

}  // namespace

std::vector<RdmaPort> read_rdma_ports(const Sight& sight) {
    std::vector<RdmaPort> ports;
    const std::string devices = sight.root + "/sys/class/infiniband/";
    for (const std::string& device : names_in(devices)) {
        const std::string directory = devices + device;
        for (const int number : numbers_in(directory + "/ports")) {
            const std::string port_directory = directory + "/ports/" + std::to_string(number);
            RdmaPort port;
            port.device = device;
            port.port = number;
            port.state = state_in(port_directory + "/state");
            port.active = port.state == "ACTIVE";
            port.link_layer = line_of(port_directory + "/link_layer");
            port.driver = driver_of(directory);
            port.firmware = line_of(directory + "/fw_ver");
            port.speed_bits_per_second = rate_in(port_directory + "/rate");
            port.numa_node = node_in(directory + "/device/numa_node");
            port.traffic_class = integer_in(directory + "/tc/" + std::to_string(number) + "/traffic_class");
            port.gids = gids_of(port_directory);
            port.interface = interface_of(directory, port);
            port.virtual_function = is_virtual_function(directory + "/device");
            if (const auto mtu = sight.kernel.port_mtu(device, number)) {
                port.active_mtu_bytes = mtu->active_bytes;
                port.largest_mtu_bytes = mtu->largest_bytes;
            }
            ports.push_back(std::move(port));
        }
    }
    return ports;
}

std::vector<Interface> read_interfaces(const Sight& sight, const std::vector<RdmaPort>& ports,
                                       std::size_t& left_out) {
    auto [names, others] = interfaces_in_use(sight.root);
    left_out = others;
    for (const RdmaPort& port : ports) {
        names.push_back(port.interface);
        for (const Gid& gid : port.gids) {  // VLANs
            names.push_back(gid.interface);
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::erase(names, "");
    std::vector<Interface> interfaces;
    interfaces.reserve(names.size());
    for (const std::string& name : names) {
        interfaces.push_back(read_interface(sight, name));
    }
    return interfaces;
}

}  // namespace weir::host
