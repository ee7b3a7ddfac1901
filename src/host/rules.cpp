#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <set>
#include <variant>

#include "files/formatting.hpp"
#include "host/control_group.hpp"
#include "host/subject.hpp"

namespace weir::host {

namespace {

using Texts = std::vector<std::string>;

std::string list(const Texts& entries) {
    return entries.empty() ? "none" : fmt::format("{}", fmt::join(entries, ", "));
}

/// "mlx5_0:1, mlx5_1:1 (DOWN), eth1"
std::string devices_of(const HostSettings& host) {
    Texts names;
    for (const RdmaPort& port : host.rdma_ports) {
        names.push_back(port.name() + (port.active ? "" : fmt::format(" ({})", port.state)));
    }
    for (const Interface& interface : host.interfaces) {
        names.push_back(interface.name);
    }
    return list(names);
}

/// Names of devices that the host does not have.
Texts missing_devices(const Subject& s) {
    Texts wrong;
    for (const std::string& name : s.view.choice.not_found) {
        wrong.push_back(fmt::format("{} names {}, which does not exist; available: {}", s.view.choice.why,
                                    name, devices_of(s.host)));
    }
    return wrong;
}

/// TCP where RDMA would be, though nobody asked for TCP.
Texts ports_down(const Subject& s) {
    const auto layer = s.host.variables.find("OMPI_MCA_pml");
    const bool asked_for_tcp = !s.view.choice.why.starts_with("all interfaces") ||
                               (layer != s.host.variables.end() && layer->second == "ob1");
    if (s.host.rdma_ports.empty() || s.host.any_active_port() || asked_for_tcp) {
        return {};
    }
    Texts states;
    for (const RdmaPort& port : s.host.rdma_ports) {
        states.push_back(
            fmt::format("{} is {}", port.name(), port.state.empty() ? "in no known state" : port.state));
    }
    return {fmt::format("no RDMA port is active, and data will go over TCP: {}", list(states))};
}

/// Links that came up at a fraction of their speed: a damaged cable, or a port of the switch that is set
/// wrong.
Texts slow_ports(const Subject& s) {
    constexpr std::int64_t few = 4;
    Texts wrong;
    for (const RdmaPort& port : s.host.rdma_ports) {
        const auto& all = s.host.interfaces;
        const auto faster = std::find_if(all.begin(), all.end(), [&](const Interface& interface) {
            return interface.up && interface.speed_bits_per_second && port.speed_bits_per_second &&
                   *port.speed_bits_per_second < *interface.speed_bits_per_second / few;
        });
        if (port.active && faster != all.end()) {
            wrong.push_back(fmt::format("{} has {}, and {} on the same host has {}", port.name(),
                                        files::readable(core::BitRate{*port.speed_bits_per_second}),
                                        faster->name,
                                        files::readable(core::BitRate{*faster->speed_bits_per_second})));
        }
    }
    return wrong;
}

/// "3 (RoCE v2, 10.0.0.7)" for each entry of a type, or of all.
std::string gid_entries(const RdmaPort& port, std::string_view type) {
    Texts entries;
    for (const Gid& gid : port.gids) {
        if (type.empty() || gid.type == type) {
            entries.push_back(fmt::format("{} ({}, {})", gid.index,
                                          gid.type.empty() ? "type unknown" : gid.type,
                                          ipv4_of(gid).value_or(gid.gid)));
        }
    }
    return list(entries);
}

/// "GID index 3 of mlx5_0:1 (UCX_IB_GID_INDEX)"
std::string gid_chosen(const Subject& s) {
    return fmt::format("GID index {} of {} ({})", *s.path->gid_index, s.port->name(), s.view.choice.gid_why);
}

bool gid_of_version_1(const Subject& s) {
    return s.gid != nullptr && !s.gid->type.empty() && s.gid->type != "RoCE v2";
}

bool small_packets(const RdmaPort& port) {
    return port.active_mtu_bytes && port.largest_mtu_bytes &&
           *port.active_mtu_bytes < *port.largest_mtu_bytes;
}

/// RoCE packets need up to 96 bytes around their payload (iboe_get_mtu of the kernel).
int mtu_for_largest_packets(const RdmaPort& port) {
    return port.largest_mtu_bytes.value_or(0) + 96;
}

bool small_mtu(const Subject& s) {
    return s.interface != nullptr && s.interface->mtu_bytes &&
           *s.interface->mtu_bytes < mtu_for_largest_packets(*s.port);
}

/// Some priorities have it, and that of the data has not.
bool passes_by_data(const std::optional<Priorities>& enabled, const Subject& s) {
    return enabled && *enabled != 0 && s.path->priority &&
           (*enabled >> static_cast<unsigned>(*s.path->priority) & 1U) == 0;
}

std::string ecn_beside_data(const std::optional<Priorities>& enabled, const char* which, const Subject& s) {
    return passes_by_data(enabled, s)
               ? fmt::format("the data has priority {}, but the ECN {} of {} is enabled for {}",
                             *s.path->priority, which, s.interface->name, priorities_text(enabled))
               : "";
}

bool nothing_against_loss(const Interface& interface) {
    const auto off = [](const auto& set) { return set && *set == 0; };
    return off(interface.pfc) && (off(interface.ecn_notification) || off(interface.ecn_reaction)) &&
           off(interface.pause_receiving);
}

/// Of all paths; 0: not known.
double speed_of_links(const HostView& host) {
    double total = 0;
    for (const NetworkPath& path : host.choice.paths) {
        const Subject s(host, path);
        std::optional<std::int64_t> bits = s.port != nullptr ? s.port->speed_bits_per_second : std::nullopt;
        if (!bits && s.interface != nullptr) {
            bits = s.interface->speed_bits_per_second;
        }
        if (!bits) {
            return 0;
        }
        total += static_cast<double>(*bits);
    }
    return total;
}

std::string too_fast(const Subject& s, bool sends) {
    const HostPart& part = s.view.part;
    const double links = speed_of_links(s.view);
    const double needed = std::max(part.sends_bits_per_second, part.receives_bits_per_second);
    if (links == 0 || needed <= links ||
        sends != (part.sends_bits_per_second >= part.receives_bits_per_second)) {
        return "";
    }
    return fmt::format("the plan {} {} {} this host, but its link has {}", sends ? "sends" : "receives",
                       files::rate_text(needed), sends ? "from" : "at", files::rate_text(links));
}

/// RDMA must lock more memory than it may, or may in all hardly lock what it must.
std::string little_to_lock(const Subject& s, Severity severity) {
    if (!s.view.uses_rdma() || s.host.locks_without_limit || !s.host.locked_memory ||
        s.host.locked_memory->unlimited) {
        return "";
    }
    // What MPI and UCX lock for themselves: queues and bounce buffers.
    constexpr std::int64_t for_the_library = 64 << 20;
    const std::int64_t needed = s.view.part.largest_rank_bytes + for_the_library;
    if ((severity == Severity::serious) != (s.host.locked_memory->bytes < needed)) {
        return "";
    }
    return fmt::format(
        "a process may lock {} of memory, but RDMA must lock its buffers, about {} on this host",
        files::readable(core::Bytes{s.host.locked_memory->bytes}), files::readable(core::Bytes{needed}));
}

/// The plan needs between these shares of the memory that there is.
std::string little_memory(const Subject& s, double above, double upto) {
    const auto needed = static_cast<double>(s.view.part.memory_bytes);
    const auto available = static_cast<double>(s.host.memory_available_bytes.value_or(0));
    if (!s.host.memory_available_bytes || needed <= above * available || needed > upto * available) {
        return "";
    }
    return fmt::format("the plan needs {} of buffers on this host, but {} are available{}",
                       files::bytes_text(needed), files::bytes_text(available),
                       limit_hint(s.host.memory_limited));
}

std::string shared_cores(const Subject& s) {
    const int cores = s.view.usable_cores();
    return cores > 0 && s.view.part.ranks() > cores
               ? fmt::format("{} ranks share {}", s.view.part.ranks(),
                             files::counted(static_cast<std::uint64_t>(cores), "core"))
               : "";
}

std::string slow_governors(const Subject& s) {
    Texts names;
    for (const auto& [name, cores] : s.host.governors) {
        if (name != "performance") {
            names.push_back(name);
        }
    }
    return names.empty()
               ? ""
               : fmt::format("the CPU governor is {}: cores that wait for data slow down", list(names));
}

/// The NUMA node of the path's device, if it is one of several that are known.
std::optional<int> node_of_device(const Subject& s) {
    const auto node = s.port != nullptr        ? s.port->numa_node
                      : s.interface != nullptr ? s.interface->numa_node
                                               : std::nullopt;
    const auto& nodes = s.host.cpus_of_node;
    return nodes.size() > 1 && node && nodes.contains(*node) ? node : std::nullopt;
}

std::string far_ranks(const Subject& s) {
    const auto node = node_of_device(s);
    if (!node) {
        return "";
    }
    const std::set<int> near = processors_in(s.host.cpus_of_node.at(*node));
    const auto& ranks = s.view.part.cpus;
    const auto far = std::count_if(ranks.begin(), ranks.end(), [&](const std::vector<int>& cpus) {
        return std::none_of(cpus.begin(), cpus.end(), [&](int cpu) { return near.contains(cpu); });
    });
    return far == 0 ? ""
                    : fmt::format("{} of {} ranks are bound to cores away from NUMA node {}, where {} is",
                                  far, s.view.part.ranks(), *node,
                                  s.port != nullptr ? s.port->name() : s.path->interface);
}

/// What a rule finds: a sentence, which is empty if nothing is wrong, or several.
using Wrong = std::variant<std::string, Texts>;

struct HostRule {
    Per per;
    Severity severity;
    const char* topic;
    std::function<Wrong(const Subject&)> wrong;
    const char* remedy = "";  ///< may name {interface}, {mtu}, {port}, {cores}
};

constexpr const char* another_gid =
    "set the index of a RoCE v2 entry with -x UCX_IB_GID_INDEX=N, or leave the choice to UCX";
constexpr const char* check_cable = "check cable, switch port and driver: ibstat, ip link";
constexpr const char* enable_ecn =
    "enable it for that priority: /sys/class/net/INTERFACE/ecn/roce_{{np,rp}}/enable/";
constexpr const char* unlimited_locks =
    "set ulimit -l unlimited for the service that starts the ranks: limits.conf for ssh, "
    "LimitMEMLOCK=infinity "
    "for slurmd";
constexpr const char* less_memory =
    "use fewer --slots, a smaller --event-size or --scale; `weir run --dry-run` shows what is needed";

using enum Severity;

const HostRule rules[] = {
    {Per::host, serious, "device", missing_devices,
     "name devices of every host, or set another value on each kind of host"},
    {Per::host, warning, "device",
     [](const Subject& s) {
         const auto& paths = s.view.choice.paths;
         const bool any = std::any_of(paths.begin(), paths.end(),
                                      [](const NetworkPath& path) { return path.interface == "lo"; });
         return any ? s.view.choice.why + " names lo, which reaches only this host" : "";
     }},
    {Per::host, serious, "device",
     [](const Subject& s) {
         return s.view.choice.paths.empty() && s.view.choice.not_found.empty()
                    ? "there is no network device that is up"
                    : "";
     },
     "bring an interface up: ip link set dev INTERFACE up"},
    {Per::host, warning, "device",
     [](const Subject& s) {
         const PathChoice& choice = s.view.choice;
         return choice.paths.size() > 1 && choice.why.find("UCX_NET_DEVICES is not set") != std::string::npos
                    ? fmt::format("{} RDMA ports are active, and UCX will choose among them",
                                  choice.paths.size())
                    : "";
     },
     "name the one under test: -x UCX_NET_DEVICES={port}"},
    {Per::host, warning, "device", ports_down,
     "check cable, switch port and driver: ibstat, ip link; nothing, if TCP is to be measured"},
    {Per::host, warning, "speed", slow_ports, "check cable and port: ibstat, ethtool"},
    {Per::host, warning, "device",
     [](const Subject& s) {
         return s.host.any_active_port() && !s.view.uses_rdma() && s.view.choice.not_found.empty()
                    ? fmt::format("an RDMA port is active and will not be used ({})", s.view.choice.why)
                    : "";
     },
     "if RDMA is to be measured: mpirun --mca pml ucx -x UCX_TLS=rc,sm,self"},

    {Per::port, serious, "device",
     [](const Subject& s) { return s.port->active ? "" : s.port->name() + " is " + s.port->state; },
     check_cable},
    {Per::gid_index, serious, "gid",
     [](const Subject& s) {
         return s.gid == nullptr
                    ? fmt::format("{} is empty; available: {}", gid_chosen(s), gid_entries(*s.port, ""))
                    : "";
     },
     another_gid},
    {Per::gid_index, serious, "gid",
     [](const Subject& s) {
         return gid_of_version_1(s) ? fmt::format(
                                          "{} is {}, whose packets carry neither DSCP nor ECN marks and "
                                          "are not routed; RoCE v2: {}",
                                          gid_chosen(s), s.gid->type, gid_entries(*s.port, "RoCE v2"))
                                    : "";
     },
     another_gid},
    {Per::gid_index, warning, "gid",
     [](const Subject& s) {
         return s.gid != nullptr && !gid_of_version_1(s) && is_link_local(*s.gid)
                    ? gid_chosen(s) + " is link-local: it reaches hosts on the same segment only"
                    : "";
     },
     "assign an address to the interface, and use the entry that results from it"},
    {Per::gid_index, note, "gid",
     [](const Subject& s) {
         const bool others =
             s.gid != nullptr && !s.gid->interface.empty() && s.gid->interface != s.port->interface;
         return others ? fmt::format("GID index {} of {} belongs to {}", s.gid->index, s.port->name(),
                                     s.gid->interface)
                       : "";
     }},
    {Per::port, warning, "mtu",
     [](const Subject& s) {
         return small_packets(*s.port) && small_mtu(s)
                    ? fmt::format(
                          "{} sends RDMA packets of {} B where {} B are possible, because {} has an MTU "
                          "of {} B",
                          s.port->name(), *s.port->active_mtu_bytes, *s.port->largest_mtu_bytes,
                          s.interface->name, *s.interface->mtu_bytes)
                    : "";
     },
     "on all hosts and switch ports: ip link set dev {interface} mtu {mtu}"},
    {Per::port, note, "mtu",
     [](const Subject& s) {
         return small_packets(*s.port) && !small_mtu(s) && s.port->link_layer == "InfiniBand"
                    ? fmt::format("{} has an MTU of {} B, but supports {} B", s.port->name(),
                                  *s.port->active_mtu_bytes, *s.port->largest_mtu_bytes)
                    : "";
     },
     "the subnet manager sets it"},
    {Per::interface, serious, "device",
     [](const Subject& s) { return s.interface->up ? "" : s.interface->name + " is down"; },
     "ip link set dev {interface} up"},
    {Per::rdma_interface, serious, "pfc",
     [](const Subject& s) {
         return passes_by_data(s.interface->pfc, s)
                    ? fmt::format(
                          "the data has priority {} (traffic class {}, {}), but PFC on {} is enabled for {}",
                          *s.path->priority, s.path->traffic_class.value_or(0),
                          s.view.choice.traffic_class_why, s.interface->name,
                          priorities_text(s.interface->pfc))
                    : "";
     },
     "choose a traffic class whose priority has PFC (UCX_IB_TRAFFIC_CLASS = 4 x DSCP + 2; by default, the "
     "priority is DSCP / 8), or enable PFC for the priority of the data"},
    {Per::rdma_interface, serious, "ecn",
     [](const Subject& s) { return ecn_beside_data(s.interface->ecn_notification, "notification point", s); },
     enable_ecn},
    {Per::rdma_interface, serious, "ecn",
     [](const Subject& s) { return ecn_beside_data(s.interface->ecn_reaction, "reaction point", s); },
     enable_ecn},
    {Per::rdma_interface, warning, "pfc",
     [](const Subject& s) {
         return nothing_against_loss(*s.interface)
                    ? s.interface->name +
                          " has neither PFC nor pause frames nor ECN: RoCE on it loses packets under load"
                    : "";
     },
     "use such a setting only on purpose, to compare it; see the documentation of card and switch"},
    {Per::rdma_interface, warning, "pause",
     [](const Subject& s) {
         return s.interface->pfc.value_or(0) != 0 && s.interface->pause_receiving.value_or(false)
                    ? s.interface->name +
                          " has pause frames for the whole link in addition to PFC: the switch "
                          "may stop all priorities"
                    : "";
     },
     "ethtool --pause {interface} rx off tx off"},
    {Per::rdma_interface, note, "pfc",
     [](const Subject& s) {
         return !s.interface->pfc && !s.interface->ecn_notification
                    ? "the kernel does not report the PFC and ECN settings of " + s.interface->name
                    : "";
     },
     "use the tool of the vendor (mlnx_qos, niccli), or ask the administrator"},

    {Per::host, serious, "speed", [](const Subject& s) { return too_fast(s, true); },
     "lower --rate, or use fewer producers per host"},
    {Per::host, serious, "speed", [](const Subject& s) { return too_fast(s, false); },
     "use more consumers or fewer per host, or lower --rate"},
    {Per::host, serious, "locked_memory", [](const Subject& s) { return little_to_lock(s, serious); },
     unlimited_locks},
    {Per::host, warning, "locked_memory", [](const Subject& s) { return little_to_lock(s, warning); },
     unlimited_locks},
    {Per::host, serious, "memory", [](const Subject& s) { return little_memory(s, 1, HUGE_VAL); },
     less_memory},
    {Per::host, warning, "memory", [](const Subject& s) { return little_memory(s, 0.9, 1); }, less_memory},
    {Per::host, warning, "cores", shared_cores,
     "use one core per rank; otherwise ranks wait for each other and not for the network"},
    {Per::host, warning, "governor", slow_governors, "cpupower frequency-set -g performance"},

    {Per::path, warning, "numa", far_ranks,
     "bind ranks to cores {cores}: mpirun --map-by numa, or --cpu-set"},

    {Per::host, note, "interfaces",
     [](const Subject& s) {
         return s.host.interfaces_left_out > 0
                    ? fmt::format(
                          "{} more interfaces are up that have neither a device nor a network of their "
                          "own: they are left out, here and in a run",
                          s.host.interfaces_left_out)
                    : "";
     }},
};

std::string remedy_of(const HostRule& rule, const Subject& s) {
    const auto& paths = s.view.choice.paths;
    const auto node = node_of_device(s);
    const int mtu = s.port != nullptr ? mtu_for_largest_packets(*s.port) : 0;
    return fmt::format(
        fmt::runtime(rule.remedy), fmt::arg("interface", s.interface != nullptr ? s.interface->name : ""),
        fmt::arg("mtu", mtu > 4096 ? 4200 : mtu),
        fmt::arg("cores", node ? s.host.cpus_of_node.at(*node) : ""),
        fmt::arg("port",
                 s.view.uses_rdma() ? s.host.rdma_ports[paths.front().rdma_port.value_or(0)].name() : ""));
}

}  // namespace

std::vector<Finding> judge_host(const HostView& host) {
    std::vector<Finding> findings;
    for_each_row(rules, host, [&](const HostRule& rule, const Subject& subject) {
        const Wrong wrong = rule.wrong(subject);
        const auto* const one = std::get_if<std::string>(&wrong);
        const Texts sentences = one == nullptr ? std::get<Texts>(wrong)
                                : one->empty() ? Texts{}
                                               : Texts{*one};
        for (const std::string& what : sentences) {
            findings.push_back({.severity = rule.severity,
                                .topic = rule.topic,
                                .hosts = {host.settings.host},
                                .what = what,
                                .advice = remedy_of(rule, subject)});
        }
    });
    return findings;
}

}  // namespace weir::host
