#include <fmt/format.h>

#include <algorithm>

#include "host/facts.hpp"
#include "host/quantity_text.hpp"
#include "host/rules.hpp"

namespace weir::host {

namespace {

class NetworkRules {
  public:
    explicit NetworkRules(const HostView& host)
        : host_(host.settings), choice_(host.choice), part_(host.part) {}

    std::vector<Finding> all() {
        check_devices();
        for (const NetworkPath& path : choice_.paths) {
            if (path.rdma_port) {
                const RdmaPort& port = host_.rdma_ports[*path.rdma_port];
                check_port(port);
                if (path.gid_index) {
                    check_gid(port, *path.gid_index);
                }
                check_rdma_mtu(port);
            }
            const Interface* interface = find_interface(host_, path.interface);
            if (interface != nullptr) {
                check_interface(*interface);
                if (path.rdma_port) {
                    check_flow_control(*interface, path);
                }
            }
        }
        check_speed();
        return std::move(findings_);
    }

  private:
    void add(Severity severity, const char* topic, std::string what, std::string advice = {}) {
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

    [[nodiscard]] std::string ports_here() const {
        std::string names;
        for (const RdmaPort& port : host_.rdma_ports) {
            names += fmt::format("{}{} is {}", names.empty() ? "" : ", ", port.name(),
                                 port.state.empty() ? "in no known state" : port.state);
        }
        return names;
    }

    /// A link that came up at a fraction of its speed: a damaged cable, or a port of the switch that is set
    /// wrong.
    void check_slow_ports() {
        constexpr std::int64_t few = 4;
        for (const RdmaPort& port : host_.rdma_ports) {
            if (!port.active || !port.speed_bits_per_second) {
                continue;
            }
            for (const Interface& interface : host_.interfaces) {
                if (interface.up && interface.speed_bits_per_second &&
                    *port.speed_bits_per_second < *interface.speed_bits_per_second / few) {
                    add(Severity::warning, "speed",
                        fmt::format("{} has {}, and {} on the same host has {}", port.name(),
                                    rate_text(static_cast<double>(*port.speed_bits_per_second)),
                                    interface.name,
                                    rate_text(static_cast<double>(*interface.speed_bits_per_second))),
                        "check cable and port: ibstat, ethtool");
                    break;
                }
            }
        }
    }

    void check_devices() {
        for (const std::string& name : choice_.not_found) {
            add(Severity::serious, "device",
                fmt::format("{} names {}, which does not exist; available: {}", choice_.why, name,
                            devices_here()),
                "name devices of every host, or set another value on each kind of host");
        }
        if (std::any_of(choice_.paths.begin(), choice_.paths.end(),
                        [](const NetworkPath& path) { return path.interface == "lo"; })) {
            add(Severity::warning, "device",
                fmt::format("{} names lo, which reaches only this host", choice_.why));
        }
        if (choice_.paths.empty() && choice_.not_found.empty()) {
            add(Severity::serious, "device", "there is no network device that is up",
                "bring an interface up: ip link set dev INTERFACE up");
        }
        const bool chosen_by_ucx = choice_.why.find("UCX_NET_DEVICES is not set") != std::string::npos;
        if (choice_.paths.size() > 1 && chosen_by_ucx) {
            add(Severity::warning, "device",
                fmt::format("{} RDMA ports are active, and UCX will choose among them", choice_.paths.size()),
                "name the one under test: -x UCX_NET_DEVICES=" +
                    host_.rdma_ports[*choice_.paths.front().rdma_port].name());
        }
        const bool has_active = std::any_of(host_.rdma_ports.begin(), host_.rdma_ports.end(),
                                            [](const RdmaPort& port) { return port.active; });
        const bool uses_rdma =
            std::any_of(choice_.paths.begin(), choice_.paths.end(),
                        [](const NetworkPath& path) { return path.rdma_port.has_value(); });
        const auto layer = host_.variables.find("OMPI_MCA_pml");
        const bool asked_for_tcp = !choice_.why.starts_with("all interfaces") ||
                                   (layer != host_.variables.end() && layer->second == "ob1");
        if (!host_.rdma_ports.empty() && !has_active && !asked_for_tcp) {
            add(Severity::warning, "device",
                fmt::format("no RDMA port is active, and data will go over TCP: {}", ports_here()),
                "check cable, switch port and driver: ibstat, ip link; nothing, if TCP is to be measured");
        }
        check_slow_ports();
        if (has_active && !uses_rdma && choice_.not_found.empty()) {
            add(Severity::warning, "device",
                fmt::format("an RDMA port is active and will not be used ({})", choice_.why),
                "if RDMA is to be measured: mpirun --mca pml ucx -x UCX_TLS=rc,sm,self");
        }
    }

    void check_port(const RdmaPort& port) {
        if (!port.active) {
            add(Severity::serious, "device", fmt::format("{} is {}", port.name(), port.state),
                "check cable, switch port and driver: ibstat, ip link");
        }
    }

    void check_interface(const Interface& interface) {
        if (!interface.up) {
            add(Severity::serious, "device", fmt::format("{} is down", interface.name),
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

    void check_gid(const RdmaPort& port, int index) {
        const Gid* chosen = find_gid(port, index);
        if (chosen == nullptr) {
            add(Severity::serious, "gid",
                fmt::format("GID index {} of {} ({}) is empty; available: {}", index, port.name(),
                            choice_.gid_why, entries(port, "")),
                "set the index of a RoCE v2 entry with -x UCX_IB_GID_INDEX=N, or leave the choice to UCX");
            return;
        }
        if (!chosen->type.empty() && chosen->type != "RoCE v2") {
            add(Severity::serious, "gid",
                fmt::format("GID index {} of {} ({}) is {}, whose packets carry neither DSCP nor ECN marks "
                            "and are not routed; RoCE v2: {}",
                            index, port.name(), choice_.gid_why, chosen->type, entries(port, "RoCE v2")),
                "set the index of a RoCE v2 entry with -x UCX_IB_GID_INDEX=N, or leave the choice to UCX");
        } else if (is_link_local(*chosen)) {
            add(Severity::warning, "gid",
                fmt::format(
                    "GID index {} of {} ({}) is link-local: it reaches hosts on the same segment only", index,
                    port.name(), choice_.gid_why),
                "assign an address to the interface, and use the entry that results from it");
        }
        if (!chosen->interface.empty() && chosen->interface != port.interface) {
            add(Severity::note, "gid",
                fmt::format("GID index {} of {} belongs to {}", index, port.name(), chosen->interface));
        }
    }

    void check_rdma_mtu(const RdmaPort& port) {
        if (!port.active_mtu_bytes || !port.largest_mtu_bytes ||
            *port.active_mtu_bytes >= *port.largest_mtu_bytes) {
            return;
        }
        const Interface* interface = find_interface(host_, port.interface);
        // RoCE packets need up to 96 bytes around their payload (iboe_get_mtu of the kernel).
        constexpr int around_payload = 96;
        const int needed = *port.largest_mtu_bytes + around_payload;
        if (interface != nullptr && interface->mtu_bytes && *interface->mtu_bytes < needed) {
            add(Severity::warning, "mtu",
                fmt::format(
                    "{} sends RDMA packets of {} B where {} B are possible, because {} has an MTU of {} B",
                    port.name(), *port.active_mtu_bytes, *port.largest_mtu_bytes, interface->name,
                    *interface->mtu_bytes),
                fmt::format("on all hosts and switch ports: ip link set dev {} mtu {}", interface->name,
                            needed > 4096 ? 4200 : needed));
        } else if (port.link_layer == "InfiniBand") {
            add(Severity::note, "mtu",
                fmt::format("{} has an MTU of {} B, but supports {} B", port.name(), *port.active_mtu_bytes,
                            *port.largest_mtu_bytes),
                "the subnet manager sets it");
        }
    }

    void check_flow_control(const Interface& interface, const NetworkPath& path) {
        const auto bit = [](int priority) { return 1U << static_cast<unsigned>(priority); };
        if (interface.pfc && *interface.pfc != 0 && path.priority &&
            (*interface.pfc & bit(*path.priority)) == 0) {
            add(Severity::serious, "pfc",
                fmt::format(
                    "the data has priority {} (traffic class {}, {}), but PFC on {} is enabled for {}",
                    *path.priority, path.traffic_class.value_or(0), choice_.traffic_class_why, interface.name,
                    priorities_text(*interface.pfc)),
                "choose a traffic class whose priority has PFC (UCX_IB_TRAFFIC_CLASS = 4 x DSCP + 2; by "
                "default, the priority is DSCP / 8), or enable PFC for the priority of the data");
        }
        const auto ecn = [&](const std::optional<Priorities>& enabled, const char* which) {
            if (enabled && *enabled != 0 && path.priority && (*enabled & bit(*path.priority)) == 0) {
                add(Severity::serious, "ecn",
                    fmt::format("the data has priority {}, but the ECN {} of {} is enabled for {}",
                                *path.priority, which, interface.name, priorities_text(*enabled)),
                    "enable it for that priority: /sys/class/net/INTERFACE/ecn/roce_{np,rp}/enable/");
            }
        };
        ecn(interface.ecn_notification, "notification point");
        ecn(interface.ecn_reaction, "reaction point");
        const bool no_pfc = interface.pfc && *interface.pfc == 0;
        const bool no_ecn = (interface.ecn_notification && *interface.ecn_notification == 0) ||
                            (interface.ecn_reaction && *interface.ecn_reaction == 0);
        const bool no_pause = interface.pause_receiving && !*interface.pause_receiving;
        if (no_pfc && no_ecn && no_pause) {
            add(Severity::warning, "pfc",
                fmt::format(
                    "{} has neither PFC nor pause frames nor ECN: RoCE on it loses packets under load",
                    interface.name),
                "use such a setting only on purpose, to compare it; see the documentation of card and "
                "switch");
        }
        if (interface.pfc && *interface.pfc != 0 && interface.pause_receiving.value_or(false)) {
            add(Severity::warning, "pause",
                fmt::format(
                    "{} has pause frames for the whole link in addition to PFC: the switch may stop all "
                    "priorities",
                    interface.name),
                fmt::format("ethtool --pause {} rx off tx off", interface.name));
        }
        if (!interface.pfc && !interface.ecn_notification) {
            add(Severity::note, "pfc",
                fmt::format("the kernel does not report the PFC and ECN settings of {}", interface.name),
                "use the tool of the vendor (mlnx_qos, niccli), or ask the administrator");
        }
    }

    void check_speed() {
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
            add(Severity::serious, "speed",
                fmt::format("the plan {} {} {} this host, but its link has {}", sends ? "sends" : "receives",
                            rate_text(needed), sends ? "from" : "at", rate_text(total)),
                sends ? "lower --rate, or use fewer producers per host"
                      : "use more consumers or fewer per host, or lower --rate");
        }
    }

    const HostSettings& host_;
    const PathChoice& choice_;
    const HostPart& part_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge_network(const HostView& host) {
    return NetworkRules(host).all();
}

}  // namespace weir::host
