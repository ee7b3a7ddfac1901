#include "host/host_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "files/json.hpp"

namespace weir::host {

/// A bit mask as a list, for people.
template <typename Mask>
struct PriorityList {
    Mask& mask;
};

template <typename Mask>
static void to_json(nlohmann::json& list, const PriorityList<Mask>& priorities) {
    list = nullptr;
    if (priorities.mask) {
        list = nlohmann::json::array();
        for (unsigned priority = 0; priority < 8; ++priority) {
            if ((*priorities.mask >> priority & 1U) != 0) {
                list.push_back(priority);
            }
        }
    }
}

template <typename Mask>
static void from_json(const nlohmann::json& list, PriorityList<Mask>& priorities) {
    priorities.mask.reset();
    if (!list.is_null()) {
        unsigned mask = 0;
        for (const nlohmann::json& priority : list) {
            mask |= 1U << (files::whole_number<unsigned>(priority) & 7U);
        }
        priorities.mask = static_cast<Priorities>(mask);
    }
}

static void each_field(files::MaybeConst<Gid> auto& gid, auto&& visit) {
    visit("index", gid.index);
    visit("gid", gid.gid);
    visit("type", gid.type);
    visit("interface", gid.interface);
}

static void each_field(files::MaybeConst<KernelLimit> auto& limit, auto&& visit) {
    visit("unlimited", limit.unlimited);
    visit("bytes", limit.bytes);
}

static void each_field(files::MaybeConst<RdmaPort> auto& port, auto&& visit) {
    visit("device", port.device);
    visit("port", port.port);
    visit("active", port.active);
    visit("state", port.state);
    visit("link_layer", port.link_layer);
    visit("driver", port.driver);
    visit("firmware", port.firmware);
    visit("speed_bits_per_second", port.speed_bits_per_second);
    visit("active_mtu_bytes", port.active_mtu_bytes);
    visit("largest_mtu_bytes", port.largest_mtu_bytes);
    visit("traffic_class", port.traffic_class);
    visit("numa_node", port.numa_node);
    visit("interface", port.interface);
    visit("gids", port.gids);
    visit("virtual_function", port.virtual_function);
}

static void each_field(files::MaybeConst<BondLeg> auto& leg, auto&& visit) {
    visit("name", leg.name);
    visit("up", leg.up);
    visit("speed_bits_per_second", leg.speed_bits_per_second);
}

static void each_field(files::MaybeConst<Interface> auto& interface, auto&& visit) {
    visit("name", interface.name);
    visit("seen", interface.seen);
    visit("up", interface.up);
    visit("legs", interface.legs);
    visit("leg_choice", interface.leg_choice);
    visit("driver", interface.driver);
    visit("speed_bits_per_second", interface.speed_bits_per_second);
    visit("mtu_bytes", interface.mtu_bytes);
    visit("numa_node", interface.numa_node);
    visit("addresses", interface.addresses);
    visit("pfc_priorities", PriorityList{interface.pfc});
    visit("dscp_trusted", interface.dscp_trusted);
    visit("priority_of_dscp", interface.priority_of_dscp);
    visit("pause_receiving", interface.pause_receiving);
    visit("pause_sending", interface.pause_sending);
    visit("ecn_notification_priorities", PriorityList{interface.ecn_notification});
    visit("ecn_reaction_priorities", PriorityList{interface.ecn_reaction});
}

static void each_field(files::MaybeConst<HostSettings> auto& host, auto&& visit) {
    visit("host", host.host);
    visit("kernel", host.kernel);
    visit("processor", host.processor);
    visit("cores", host.cores);
    visit("usable_cores", host.usable_cores);
    visit("cpu_quota", host.cpu_quota);
    visit("memory_available_bytes", host.memory_available_bytes);
    visit("memory_limited", host.memory_limited);
    visit("locks_without_limit", host.locks_without_limit);
    visit("locked_memory", host.locked_memory);
    visit("governors", host.governors);
    visit("cpus_of_node", host.cpus_of_node);
    visit("distances", host.distances);
    visit("kernel_parameters", host.kernel_parameters);
    visit("rdma_ports", host.rdma_ports);
    visit("interfaces", host.interfaces);
    visit("sees_network", host.sees_network);
    visit("interfaces_left_out", host.interfaces_left_out);
    visit("variables", host.variables);
    visit("versions", host.versions);
}

namespace {

/// The eight groups of four digits; nothing if it is not written so.
std::optional<std::array<std::string, 8>> groups_of(const std::string& gid) {
    constexpr std::size_t length = 8 * 4 + 7;
    if (gid.size() != length) {
        return std::nullopt;
    }
    std::array<std::string, 8> groups;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        groups[group] = gid.substr(group * 5, 4);
    }
    return groups;
}

}  // namespace

std::optional<std::string> ipv4_of(const Gid& gid) {
    const auto groups = groups_of(gid.gid);
    const auto zero = [](const std::string& group) { return group == "0000"; };
    if (!groups || !std::all_of(groups->begin(), groups->begin() + 5, zero) || (*groups)[5] != "ffff") {
        return std::nullopt;
    }
    const std::string digits = (*groups)[6] + (*groups)[7];
    std::uint32_t address = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
    return fmt::format("{}.{}.{}.{}", address >> 24U, address >> 16U & 255U, address >> 8U & 255U,
                       address & 255U);
}

bool is_link_local(const Gid& gid) {
    return gid.gid.starts_with("fe80") || ipv4_of(gid).value_or("").starts_with("169.254.");
}

const Interface* find_interface(const HostSettings& host, const std::string& name) {
    const auto found = std::find_if(host.interfaces.begin(), host.interfaces.end(),
                                    [&](const Interface& interface) { return interface.name == name; });
    return found == host.interfaces.end() ? nullptr : &*found;
}

nlohmann::json to_json(const HostSettings& host) {
    return files::json_of<nlohmann::json>(host);
}

HostSettings host_settings_from_json(const nlohmann::json& object) {
    return files::checked<HostSettings>(object);
}

std::string encode_settings(const HostSettings& host) {
    // Names of devices may be any bytes.
    return to_json(host).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

HostSettings decode_settings(const std::string& text) {
    return host_settings_from_json(nlohmann::json::parse(text));
}

}  // namespace weir::host
