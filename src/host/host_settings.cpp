#include "host/host_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "files/checked_json.hpp"

/// Nothing is null.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
    static void to_json(json& json, const std::optional<T>& value) {
        if (value) {
            json = *value;
        } else {
            json = nullptr;
        }
    }
};

namespace weir::host {

using files::read_checked;

static void to_json(nlohmann::json& json, const Gid& gid) {
    json = {{"index", gid.index}, {"gid", gid.gid}, {"type", gid.type}, {"interface", gid.interface}};
}

static void read_checked(const nlohmann::json& json, Gid& gid) {
    read_checked(json.at("index"), gid.index);
    read_checked(json.at("gid"), gid.gid);
    read_checked(json.at("type"), gid.type);
    read_checked(json.at("interface"), gid.interface);
}

static void to_json(nlohmann::json& json, const KernelLimit& limit) {
    json = {{"unlimited", limit.unlimited}, {"bytes", limit.bytes}};
}

static void read_checked(const nlohmann::json& json, KernelLimit& limit) {
    read_checked(json.at("unlimited"), limit.unlimited);
    read_checked(json.at("bytes"), limit.bytes);
}

static void to_json(nlohmann::json& json, const RdmaPort& port) {
    json = {{"device", port.device},
            {"port", port.port},
            {"active", port.active},
            {"state", port.state},
            {"link_layer", port.link_layer},
            {"driver", port.driver},
            {"firmware", port.firmware},
            {"speed_bits_per_second", port.speed_bits_per_second},
            {"active_mtu_bytes", port.active_mtu_bytes},
            {"largest_mtu_bytes", port.largest_mtu_bytes},
            {"traffic_class", port.traffic_class},
            {"numa_node", port.numa_node},
            {"interface", port.interface},
            {"gids", port.gids}};
}

static void read_checked(const nlohmann::json& json, RdmaPort& port) {
    read_checked(json.at("device"), port.device);
    read_checked(json.at("port"), port.port);
    read_checked(json.at("active"), port.active);
    read_checked(json.at("state"), port.state);
    read_checked(json.at("link_layer"), port.link_layer);
    read_checked(json.at("driver"), port.driver);
    read_checked(json.at("firmware"), port.firmware);
    read_checked(json.at("speed_bits_per_second"), port.speed_bits_per_second);
    read_checked(json.at("active_mtu_bytes"), port.active_mtu_bytes);
    read_checked(json.at("largest_mtu_bytes"), port.largest_mtu_bytes);
    read_checked(json.at("traffic_class"), port.traffic_class);
    read_checked(json.at("numa_node"), port.numa_node);
    read_checked(json.at("interface"), port.interface);
    read_checked(json.at("gids"), port.gids);
}

// By hand where numbers are keys: JSON has only names, and a bit mask is a list for people.
namespace {

using nlohmann::json;

json priorities_json(const std::optional<Priorities>& priorities) {
    if (!priorities) {
        return nullptr;
    }
    json list = json::array();
    for (unsigned priority = 0; priority < 8; ++priority) {
        if ((*priorities >> priority & 1U) != 0) {
            list.push_back(priority);
        }
    }
    return list;
}

std::optional<Priorities> priorities_from(const json& list) {
    if (list.is_null()) {
        return std::nullopt;
    }
    unsigned priorities = 0;
    for (const json& priority : list) {
        priorities |= 1U << (files::whole_number<unsigned>(priority) & 7U);
    }
    return static_cast<Priorities>(priorities);
}

template <typename T>
json keyed(const std::map<int, T>& map) {
    json object = json::object();
    for (const auto& [key, value] : map) {
        object[std::to_string(key)] = value;
    }
    return object;
}

template <typename T>
std::map<int, T> keyed_from(const json& object) {
    std::map<int, T> map;
    for (const auto& [key, value] : object.items()) {
        int number = 0;
        std::from_chars(key.data(), key.data() + key.size(), number);
        read_checked(value, map[number]);
    }
    return map;
}

json interface_json(const Interface& interface) {
    return {{"name", interface.name},
            {"up", interface.up},
            {"driver", interface.driver},
            {"speed_bits_per_second", interface.speed_bits_per_second},
            {"mtu_bytes", interface.mtu_bytes},
            {"numa_node", interface.numa_node},
            {"addresses", interface.addresses},
            {"pfc_priorities", priorities_json(interface.pfc)},
            {"dscp_trusted", interface.dscp_trusted},
            {"priority_of_dscp", keyed(interface.priority_of_dscp)},
            {"pause_receiving", interface.pause_receiving},
            {"pause_sending", interface.pause_sending},
            {"ecn_notification_priorities", priorities_json(interface.ecn_notification)},
            {"ecn_reaction_priorities", priorities_json(interface.ecn_reaction)}};
}

Interface interface_from(const json& object) {
    Interface interface;
    read_checked(object.at("name"), interface.name);
    read_checked(object.at("up"), interface.up);
    read_checked(object.at("driver"), interface.driver);
    read_checked(object.at("speed_bits_per_second"), interface.speed_bits_per_second);
    read_checked(object.at("mtu_bytes"), interface.mtu_bytes);
    read_checked(object.at("numa_node"), interface.numa_node);
    read_checked(object.at("addresses"), interface.addresses);
    interface.pfc = priorities_from(object.at("pfc_priorities"));
    read_checked(object.at("dscp_trusted"), interface.dscp_trusted);
    interface.priority_of_dscp = keyed_from<int>(object.at("priority_of_dscp"));
    read_checked(object.at("pause_receiving"), interface.pause_receiving);
    read_checked(object.at("pause_sending"), interface.pause_sending);
    interface.ecn_notification = priorities_from(object.at("ecn_notification_priorities"));
    interface.ecn_reaction = priorities_from(object.at("ecn_reaction_priorities"));
    return interface;
}

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
    return gid.gid.starts_with("fe80");
}

const Interface* find_interface(const HostSettings& host, const std::string& name) {
    const auto found = std::find_if(host.interfaces.begin(), host.interfaces.end(),
                                    [&](const Interface& interface) { return interface.name == name; });
    return found == host.interfaces.end() ? nullptr : &*found;
}

nlohmann::json to_json(const HostSettings& host) {
    json interfaces = json::array();
    for (const Interface& interface : host.interfaces) {
        interfaces.push_back(interface_json(interface));
    }
    return {{"host", host.host},
            {"kernel", host.kernel},
            {"processor", host.processor},
            {"cores", host.cores},
            {"memory_available_bytes", host.memory_available_bytes},
            {"locks_without_limit", host.locks_without_limit},
            {"locked_memory", host.locked_memory},
            {"governors", host.governors},
            {"cpus_of_node", keyed(host.cpus_of_node)},
            {"distances", keyed(host.distances)},
            {"kernel_parameters", host.kernel_parameters},
            {"rdma_ports", host.rdma_ports},
            {"interfaces", std::move(interfaces)},
            {"interfaces_left_out", host.interfaces_left_out},
            {"variables", host.variables},
            {"versions", host.versions}};
}

HostSettings host_settings_from_json(const nlohmann::json& object) {
    HostSettings host;
    read_checked(object.at("host"), host.host);
    read_checked(object.at("kernel"), host.kernel);
    read_checked(object.at("processor"), host.processor);
    read_checked(object.at("cores"), host.cores);
    read_checked(object.at("memory_available_bytes"), host.memory_available_bytes);
    read_checked(object.at("locks_without_limit"), host.locks_without_limit);
    read_checked(object.at("locked_memory"), host.locked_memory);
    read_checked(object.at("governors"), host.governors);
    host.cpus_of_node = keyed_from<std::string>(object.at("cpus_of_node"));
    host.distances = keyed_from<std::vector<int>>(object.at("distances"));
    read_checked(object.at("kernel_parameters"), host.kernel_parameters);
    read_checked(object.at("rdma_ports"), host.rdma_ports);
    for (const auto& interface : object.at("interfaces")) {
        host.interfaces.push_back(interface_from(interface));
    }
    read_checked(object.at("interfaces_left_out"), host.interfaces_left_out);
    read_checked(object.at("variables"), host.variables);
    read_checked(object.at("versions"), host.versions);
    return host;
}

std::string encode_settings(const HostSettings& host) {
    // Names of devices may be any bytes.
    return to_json(host).dump(-1, ' ', false, json::error_handler_t::replace);
}

HostSettings decode_settings(const std::string& text) {
    return host_settings_from_json(json::parse(text));
}

}  // namespace weir::host
