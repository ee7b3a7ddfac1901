#include "preflight/host_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

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
    static void from_json(const json& json, std::optional<T>& value) {
        value = json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
    }
};

namespace weir::preflight {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Gid, index, gid, type, interface)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Limit, unlimited, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RdmaPort, device, port, active, state, link_layer, driver, firmware,
                                   speed_bits_per_second, active_mtu_bytes, largest_mtu_bytes, traffic_class,
                                   numa_node, interface, gids)

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
        priorities |= 1U << (priority.get<unsigned>() & 7U);
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
        map[number] = value.template get<T>();
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
    object.at("name").get_to(interface.name);
    object.at("up").get_to(interface.up);
    object.at("driver").get_to(interface.driver);
    object.at("speed_bits_per_second").get_to(interface.speed_bits_per_second);
    object.at("mtu_bytes").get_to(interface.mtu_bytes);
    object.at("numa_node").get_to(interface.numa_node);
    object.at("addresses").get_to(interface.addresses);
    interface.pfc = priorities_from(object.at("pfc_priorities"));
    object.at("dscp_trusted").get_to(interface.dscp_trusted);
    interface.priority_of_dscp = keyed_from<int>(object.at("priority_of_dscp"));
    object.at("pause_receiving").get_to(interface.pause_receiving);
    object.at("pause_sending").get_to(interface.pause_sending);
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
            {"variables", host.variables},
            {"versions", host.versions}};
}

HostSettings host_settings_from_json(const nlohmann::json& object) {
    HostSettings host;
    object.at("host").get_to(host.host);
    object.at("kernel").get_to(host.kernel);
    object.at("processor").get_to(host.processor);
    object.at("cores").get_to(host.cores);
    object.at("memory_available_bytes").get_to(host.memory_available_bytes);
    object.at("locks_without_limit").get_to(host.locks_without_limit);
    object.at("locked_memory").get_to(host.locked_memory);
    object.at("governors").get_to(host.governors);
    host.cpus_of_node = keyed_from<std::string>(object.at("cpus_of_node"));
    host.distances = keyed_from<std::vector<int>>(object.at("distances"));
    object.at("kernel_parameters").get_to(host.kernel_parameters);
    object.at("rdma_ports").get_to(host.rdma_ports);
    for (const auto& interface : object.at("interfaces")) {
        host.interfaces.push_back(interface_from(interface));
    }
    object.at("variables").get_to(host.variables);
    object.at("versions").get_to(host.versions);
    return host;
}

std::string encode_settings(const HostSettings& host) {
    return to_json(host).dump();
}

HostSettings decode_settings(const std::string& text) {
    return host_settings_from_json(json::parse(text));
}

}  // namespace weir::preflight
