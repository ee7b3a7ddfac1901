#include <fmt/format.h>

#include <algorithm>

#include "preflight/facts.hpp"
#include "preflight/rules.hpp"
#include "preflight/words.hpp"

namespace weir::preflight {

namespace {

class NetworkRules {
  public:
    explicit NetworkRules(const HostView& host)
        : host_(host.settings), choice_(host.choice), part_(host.part) {}

    std::vector<Finding> all() {
        devices();
        for (const NetworkPath& path : choice_.paths) {
            if (path.rdma_port) {
                const RdmaPort& port = host_.rdma_ports[*path.rdma_port];
                state(port);
                if (path.gid_index) {
                    gid(port, *path.gid_index);
                }
                rdma_mtu(port);
            }
            const Interface* interface = find_interface(host_, path.interface);
            if (interface != nullptr) {
                interface_state(*interface);
                if (path.rdma_port) {
                    flow_control(*interface, path);
                }
            }
        }
        speed();
        return std::move(findings_);
    }

  private:
    void find(Severity severity, const char* topic, std::string what, std::string advice = {}) {
        findings_.push_back({severity, topic, {host_.host}, std::move(what), std::move(advice)});
    }

    [[nodiscard]] std::string devices_here() const {
        std::string names;
        for (const RdmaPort& port : host_.rdma_ports) {
            names += fmt::format("{}{}{}", names.empty() ? "" : ", ", port.name(),
                                 port.active ? "" : fmt::format(" ({})", port.state));
        }
        for (const Interface& interface : host_.interfaces) {
            names += fmt::format("{}{}", names.empty() ? "" : ", ", interface.name);
        }
        return names.empty() ? "none" : names;
    }

    void devices() {
        for (const std::string& name : choice_.not_found) {
            find(Severity::serious, "device",
                 fmt::format("{} names {}, which is not here; here are: {}", choice_.why, name,
                             devices_here()),
                 "name the devices of every host, or give each kind of host its own value");
        }
        if (std::any_of(choice_.paths.begin(), choice_.paths.end(),
                        [](const NetworkPath& path) { return path.interface == "lo"; })) {
            find(Severity::warning, "device",
                 fmt::format("{} names lo, which reaches this host only", choice_.why));
        }
        if (choice_.paths.empty() && choice_.not_found.empty()) {
            find(Severity::serious, "device", "there is no network device that is up",
                 "bring an interface up: ip link set dev INTERFACE up");
        }
        const bool by_itself = choice_.why.find("UCX_NET_DEVICES is not set") != std::string::npos;
        if (choice_.paths.size() > 1 && by_itself) {
            find(Severity::warning, "device",
                 fmt::format("{} RDMA ports are active, and UCX will choose", choice_.paths.size()),
                 "say which is under test: -x UCX_NET_DEVICES=" +
                     host_.rdma_ports[*choice_.paths.front().rdma_port].name());
        }
        const bool has_active = std::any_of(host_.rdma_ports.begin(), host_.rdma_ports.end(),
                                            [](const RdmaPort& port) { return port.active; });
        const bool uses_rdma =
            std::any_of(choice_.paths.begin(), choice_.paths.end(),
                        [](const NetworkPath& path) { return path.rdma_port.has_value(); });
        if (has_active && !uses_rdma && choice_.not_found.empty()) {
            find(Severity::warning, "device",
                 fmt::format("an RDMA port is active and will not be used ({})", choice_.why),
                 "if RDMA is to be measured: mpirun --mca pml ucx -x UCX_TLS=rc,sm,self");
        }
    }

    void state(const RdmaPort& port) {
        if (!port.active) {
            find(Severity::serious, "device", fmt::format("{} is {}", port.name(), port.state),
                 "look at cable, switch port and driver: ibstat, ip link");
        }
    }

    void interface_state(const Interface& interface) {
        if (!interface.up) {
            find(Severity::serious, "device", fmt::format("{} is down", interface.name),
                 fmt::format("ip link set dev {} up", interface.name));
        }
    }

    /// "3 (RoCE v2, 10.0.0.7)"
    static std::string entries(const RdmaPort& port, std::string_view type) {
        std::string text;
        for (const Gid& gid : port.gids) {
            if (type.empty() || gid.type == type) {
                text +=
                    fmt::format("{}{} ({}, {})", text.empty() ? "" : ", ", gid.index,
                                gid.type.empty() ? "type unknown" : gid.type, ipv4_of(gid).value_or(gid.gid));
            }
        }
        return text.empty() ? "none" : text;
    }

    void gid(const RdmaPort& port, int index) {
        const Gid* chosen = find_gid(port, index);
        if (chosen == nullptr) {
            find(Severity::serious, "gid",
                 fmt::format("GID index {} of {} ({}) is empty; there are: {}", index, port.name(),
                             choice_.gid_why, entries(port, "")),
                 "give the index of a RoCE v2 entry with -x UCX_IB_GID_INDEX=N, or leave the choice to UCX");
            return;
        }
        if (!chosen->type.empty() && chosen->type != "RoCE v2") {
            find(Severity::serious, "gid",
                 fmt::format("GID index {} of {} ({}) is {}, whose packets carry neither DSCP nor ECN marks "
                             "and are not routed; RoCE v2: {}",
                             index, port.name(), choice_.gid_why, chosen->type, entries(port, "RoCE v2")),
                 "give the index of a RoCE v2 entry with -x UCX_IB_GID_INDEX=N, or leave the choice to UCX");
        } else if (is_link_local(*chosen)) {
            find(Severity::warning, "gid",
                 fmt::format(
                     "GID index {} of {} ({}) is link-local: it reaches hosts on the same segment only",
                     index, port.name(), choice_.gid_why),
                 "give the interface an address, and use the entry that is made from it");
        }
        if (!chosen->interface.empty() && chosen->interface != port.interface) {
            find(Severity::note, "gid",
                 fmt::format("GID index {} of {} belongs to {}", index, port.name(), chosen->interface));
        }
    }

    void rdma_mtu(const RdmaPort& port) {
        if (!port.active_mtu_bytes || !port.largest_mtu_bytes ||
            *port.active_mtu_bytes >= *port.largest_mtu_bytes) {
            return;
        }
        const Interface* interface = find_interface(host_, port.interface);
        // RoCE packets need up to 96 bytes around their payload (iboe_get_mtu of the kernel).
        constexpr int around_payload = 96;
        const int needed = *port.largest_mtu_bytes + around_payload;
        if (interface != nullptr && interface->mtu_bytes && *interface->mtu_bytes < needed) {
            find(Severity::warning, "mtu",
                 fmt::format(
                     "{} sends RDMA packets of {} B where {} B were possible, because {} has an MTU of {} B",
                     port.name(), *port.active_mtu_bytes, *port.largest_mtu_bytes, interface->name,
                     *interface->mtu_bytes),
                 fmt::format("on all hosts and switch ports: ip link set dev {} mtu {}", interface->name,
                             needed > 4096 ? 4200 : needed));
        } else if (port.link_layer == "InfiniBand") {
            find(Severity::note, "mtu",
                 fmt::format("{} has an MTU of {} B, and could have {} B", port.name(),
                             *port.active_mtu_bytes, *port.largest_mtu_bytes),
                 "it is the subnet manager that sets it");
        }
    }

    void flow_control(const Interface& interface, const NetworkPath& path) {
        const auto bit = [](int priority) { return 1U << static_cast<unsigned>(priority); };
        if (interface.pfc && *interface.pfc != 0 && path.priority &&
            (*interface.pfc & bit(*path.priority)) == 0) {
            find(Severity::serious, "pfc",
                 fmt::format("the data go with priority {} (traffic class {}, {}), and {} has PFC for {}",
                             *path.priority, path.traffic_class.value_or(0), choice_.traffic_class_why,
                             interface.name, priorities_text(*interface.pfc)),
                 "choose a traffic class of a priority with PFC: UCX_IB_TRAFFIC_CLASS = 4 x DSCP + 2, by "
                 "default DSCP "
                 "= 8 x priority + 2 or the like; or move PFC");
        }
        const auto ecn = [&](const std::optional<Priorities>& enabled, const char* which) {
            if (enabled && *enabled != 0 && path.priority && (*enabled & bit(*path.priority)) == 0) {
                find(Severity::serious, "ecn",
                     fmt::format("the data go with priority {}, and {} {} ECN for {}", *path.priority,
                                 interface.name, which, priorities_text(*enabled)),
                     "switch it on for that priority: /sys/class/net/INTERFACE/ecn/roce_{np,rp}/enable/");
            }
        };
        ecn(interface.ecn_notification, "answers");
        ecn(interface.ecn_reaction, "obeys");
        const bool no_pfc = interface.pfc && *interface.pfc == 0;
        const bool no_ecn = (interface.ecn_notification && *interface.ecn_notification == 0) ||
                            (interface.ecn_reaction && *interface.ecn_reaction == 0);
        const bool no_pause = interface.pause_receiving && !*interface.pause_receiving;
        if (no_pfc && no_ecn && no_pause) {
            find(Severity::warning, "pfc",
                 fmt::format(
                     "{} has neither PFC nor pause frames nor ECN: RoCE on it loses packets under load",
                     interface.name),
                 "that is a setting to compare, not to run by accident: see the documentation of card and "
                 "switch");
        }
        if (interface.pfc && *interface.pfc != 0 && interface.pause_receiving.value_or(false)) {
            find(Severity::warning, "pause",
                 fmt::format(
                     "{} has pause frames for the whole link besides PFC: then the switch may stop all "
                     "priorities",
                     interface.name),
                 fmt::format("ethtool --pause {} rx off tx off", interface.name));
        }
        if (!interface.pfc && !interface.ecn_notification) {
            find(Severity::note, "pfc",
                 fmt::format("the kernel does not know the PFC and ECN settings of {}", interface.name),
                 "ask the vendor's tool (mlnx_qos, niccli) or the administrator");
        }
    }

    void speed() {
        double total = 0;
        for (const NetworkPath& path : choice_.paths) {
            const Interface* interface = find_interface(host_, path.interface);
            std::optional<std::int64_t> bits;
            if (path.rdma_port) {
                bits = host_.rdma_ports[*path.rdma_port].speed_bits_per_second;
            }
            if (!bits && interface != nullptr) {
                bits = interface->speed_bits_per_second;
            }
            if (!bits) {
                return;
            }
            total += static_cast<double>(*bits);
        }
        const double needed = std::max(part_.sends_bits_per_second, part_.receives_bits_per_second);
        if (total > 0 && needed > total) {
            const bool sends = part_.sends_bits_per_second >= part_.receives_bits_per_second;
            find(Severity::serious, "speed",
                 fmt::format("the plan has {} {} here, and the link has {}", rate_words(needed),
                             sends ? "to be sent from" : "to be received", rate_words(total)),
                 sends ? "lower --rate, or have fewer producers on a host"
                       : "have more consumers, or fewer on a host; or lower --rate");
        }
    }

    const HostSettings& host_;
    const PathChoice& choice_;
    const Part& part_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge_network(const HostView& host) {
    return NetworkRules(host).all();
}

}  // namespace weir::preflight
