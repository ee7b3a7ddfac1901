#include "host/path_choice.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "files/formatting.hpp"

namespace weir::host {

namespace {

/// UCX's own traffic class on RoCE v2: DSCP 26, able to carry ECN marks.
constexpr int ucx_traffic_class = 106;

std::string variable(const HostSettings& host, const std::string& name) {
    const auto found = host.variables.find(name);
    return found == host.variables.end() ? std::string{} : found->second;
}

std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        if (end > begin) {
            words.push_back(list.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return words;
}

/// Whether UCX_TLS leaves any of UCX's RDMA transports.
bool rdma_allowed(const std::string& transports) {
    const bool denies = transports.starts_with('^');
    const auto words = words_of(denies ? transports.substr(1) : transports);
    const auto named = [&](std::string_view family) {
        return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
            return word == "all" || word == family || word.starts_with(std::string(family) + "_");
        });
    };
    if (words.empty()) {
        return true;
    }
    if (denies) {
        return !named("ib") && !(named("rc") && named("ud") && named("dc"));
    }
    return named("ib") || named("rc") || named("ud") || named("dc");
}

void add_rdma(const HostSettings& host, std::size_t place, PathChoice& choice) {
    const RdmaPort& port = host.rdma_ports[place];
    NetworkPath path;
    path.rdma_port = place;
    path.interface = port.interface;
    if (port.link_layer != "InfiniBand") {
        if (const auto given = number_of_variable(host, "UCX_IB_GID_INDEX")) {
            path.gid_index = given;
            choice.gid_why = "UCX_IB_GID_INDEX";
        } else if (const Gid* gid =
                       gid_chosen_by_ucx(port, rule_of_ucx(host).value_or(UcxRule::since_1_20))) {
            path.gid_index = gid->index;
            choice.gid_why = "UCX's own choice: RoCE v2 before v1, IPv4 before IPv6";
        }
        if (const auto given = number_of_variable(host, "UCX_IB_TRAFFIC_CLASS")) {
            path.traffic_class = given;
            choice.traffic_class_why = "UCX_IB_TRAFFIC_CLASS";
        } else if (port.traffic_class && *port.traffic_class > 0) {
            path.traffic_class = port.traffic_class;
            choice.traffic_class_why = "set for the port";
        } else {
            path.traffic_class = ucx_traffic_class;
            choice.traffic_class_why = "UCX's default";
        }
        const Interface* interface = find_interface(host, port.interface);
        if (interface != nullptr) {
            path.priority = priority_of(*interface, *path.traffic_class,
                                        number_of_variable(host, "UCX_IB_SL").value_or(0));
        }
    }
    choice.paths.push_back(path);
}

void add_named(const HostSettings& host, const std::string& name, PathChoice& choice) {
    const auto port = std::find_if(host.rdma_ports.begin(), host.rdma_ports.end(), [&](const RdmaPort& each) {
        return each.name() == name || each.device == name;
    });
    if (port != host.rdma_ports.end()) {
        add_rdma(host, static_cast<std::size_t>(port - host.rdma_ports.begin()), choice);
    } else if (name == "lo" || find_interface(host, name) != nullptr) {
        choice.paths.push_back({.interface = name});
    } else {
        choice.not_found.push_back(name);
    }
}

/// Interfaces that a connection to another host could take; on a host without addresses known, all.
void add_interfaces(const HostSettings& host, PathChoice& choice) {
    const bool any_address =
        std::any_of(host.interfaces.begin(), host.interfaces.end(),
                    [](const Interface& interface) { return !interface.addresses.empty(); });
    for (const Interface& interface : host.interfaces) {
        if (interface.up && (!any_address || !interface.addresses.empty())) {
            choice.paths.push_back({.interface = interface.name});
        }
    }
}

}  // namespace

std::optional<int> number_of_variable(const HostSettings& host, const std::string& name) {
    return files::number_in<int>(variable(host, name));
}

const Gid* find_gid(const RdmaPort& port, int index) {
    const auto found =
        std::find_if(port.gids.begin(), port.gids.end(), [&](const Gid& gid) { return gid.index == index; });
    return found == port.gids.end() ? nullptr : &*found;
}

// uct_ib_device_select_gid in UCX's src/uct/ib/base/ib_device.c
const Gid* gid_chosen_by_ucx(const RdmaPort& port, UcxRule rule) {
    const Gid* chosen = nullptr;
    const auto rank_of = [rule](const Gid& gid) {
        const bool ipv4 = ipv4_of(gid).has_value();
        const bool last = !ipv4 && (rule == UcxRule::until_1_19 || is_link_local(gid));
        return (gid.type == "RoCE v2" ? 0 : 3) + (ipv4 ? 0 : last ? 2 : 1);
    };
    for (const Gid& gid : port.gids) {
        chosen = chosen == nullptr || rank_of(gid) < rank_of(*chosen) ? &gid : chosen;
    }
    return chosen;
}

std::optional<UcxRule> rule_of_ucx(const HostSettings& host) {
    const auto version = host.versions.find("UCX");
    int major = 0;
    int minor = 0;
    if (version == host.versions.end() ||
        std::sscanf(version->second.c_str(), "%d.%d", &major, &minor) != 2) {
        return std::nullopt;
    }
    return major > 1 || minor >= 20 ? UcxRule::since_1_20 : UcxRule::until_1_19;
}

const Gid* usable_gid(const RdmaPort& port) {
    const Gid* const chosen = gid_chosen_by_ucx(port, UcxRule::since_1_20);
    return chosen != nullptr && chosen->type == "RoCE v2" ? chosen : nullptr;
}

std::optional<int> priority_of(const Interface& interface, int traffic_class, int service_level) {
    if (!interface.dscp_trusted) {
        return std::nullopt;
    }
    if (!*interface.dscp_trusted) {
        return service_level & 7;
    }
    const int dscp = traffic_class >> 2;
    const auto set = interface.priority_of_dscp.find(dscp);
    return set == interface.priority_of_dscp.end() ? dscp >> 3 : set->second;
}

nlohmann::json to_json(const HostSettings& host, const PathChoice& choice) {
    nlohmann::json paths = nlohmann::json::array();
    const auto number = [](const std::optional<int>& value) {
        return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
    };
    for (const NetworkPath& path : choice.paths) {
        paths.push_back(
            {{"rdma_port", path.rdma_port ? nlohmann::json(host.rdma_ports[*path.rdma_port].name())
                                          : nlohmann::json(nullptr)},
             {"interface", path.interface},
             {"gid_index", number(path.gid_index)},
             {"traffic_class", number(path.traffic_class)},
             {"priority", number(path.priority)}});
    }
    nlohmann::json json = to_json(host);
    json["expected_paths"] = std::move(paths);
    json["expected_because_of"] = choice.why;
    return json;
}

std::string encode_settings(const HostSettings& host, const PathChoice& choice) {
    return to_json(host, choice).dump();
}

PathChoice choose_paths(const HostSettings& host, bool by_ucx) {
    PathChoice choice;
    const std::string layer = variable(host, "OMPI_MCA_pml");
    const std::string devices = variable(host, "UCX_NET_DEVICES");
    std::vector<std::size_t> active;
    for (std::size_t place = 0; place < host.rdma_ports.size(); ++place) {
        if (host.rdma_ports[place].active) {
            active.push_back(place);
        }
    }
    // By default, Open MPI takes UCX only where there are RDMA devices.
    choice.uses_ucx = by_ucx || (layer.empty() ? !active.empty() : layer == "ucx");
    if (!choice.uses_ucx) {
        const std::string included = variable(host, "OMPI_MCA_btl_tcp_if_include");
        // It may also hold subnets, which have nothing to do with names.
        if (!included.empty() && included.find('/') == std::string::npos) {
            choice.why = "btl_tcp_if_include";
            for (const std::string& name : words_of(included)) {
                add_named(host, name, choice);
            }
        } else {
            choice.why = "all interfaces that are up: MPI runs without UCX unless configured otherwise";
            add_interfaces(host, choice);
        }
        return choice;
    }
    if (!devices.empty() && devices != "all") {
        choice.why = "UCX_NET_DEVICES";
        for (const std::string& name : words_of(devices)) {
            add_named(host, name, choice);
        }
    } else if (!active.empty() && rdma_allowed(variable(host, "UCX_TLS"))) {
        choice.why = "all active RDMA ports, of which UCX chooses the fastest: UCX_NET_DEVICES is not set";
        for (const std::size_t place : active) {
            add_rdma(host, place, choice);
        }
    } else {
        choice.why = active.empty() ? "all interfaces that are up: there is no active RDMA port"
                                    : "all interfaces that are up: UCX_TLS leaves out RDMA";
        add_interfaces(host, choice);
    }
    return choice;
}

}  // namespace weir::host
