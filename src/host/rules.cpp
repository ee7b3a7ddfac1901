#include <cmath>
#include <set>

#include "files/formatting.hpp"
#include "host/control_group.hpp"
#include "host/host_rule.hpp"

namespace weir::host {

namespace {

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
        states.push_back(state_of(port));
    }
    return {fmt::format("no RDMA port is active, and data will go over TCP: {}", list(states))};
}

/// Rails that are missing where others carry the data.
Texts unused_ports_down(const Subject& s) {
    const auto& paths = s.view.choice.paths;
    Texts down;
    for (std::size_t place = 0; place < s.host.rdma_ports.size(); ++place) {
        const bool used = std::any_of(paths.begin(), paths.end(),
                                      [&](const NetworkPath& path) { return path.rdma_port == place; });
        if (!used && !s.host.rdma_ports[place].active && s.host.any_active_port()) {
            down.push_back(state_of(s.host.rdma_ports[place]));
        }
    }
    return down;
}

/// Links that came up at a fraction of their speed: a damaged cable, or a port of the switch that is set
/// wrong. A port of a bond may have the speed of one leg or of all.
Texts port_beside_interface(const Subject& s) {
    Texts wrong;
    for (const RdmaPort& port : s.host.rdma_ports) {
        const Interface* const interface = find_interface(s.host, port.interface);
        if (!port.active || !port.speed_bits_per_second || interface == nullptr ||
            !interface->speed_bits_per_second) {
            continue;
        }
        constexpr std::int64_t least_of_rdma = 2'500'000'000;  // what a port of 1 Gb/s says
        const std::int64_t most = std::max(*interface->speed_bits_per_second, least_of_rdma);
        std::int64_t least = *interface->speed_bits_per_second;
        for (const BondLeg& leg : interface->legs) {
            least = std::min(least, leg.speed_bits_per_second.value_or(least));
        }
        if (2 * *port.speed_bits_per_second <= least || *port.speed_bits_per_second >= 2 * most) {
            wrong.push_back(fmt::format("{} has {}, and its interface {} has {}", port.name(),
                                        files::readable(core::BitRate{*port.speed_bits_per_second}),
                                        interface->name,
                                        files::readable(core::BitRate{*interface->speed_bits_per_second})));
        }
    }
    return wrong;
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
    return when(cores > 0 && s.view.part.ranks() > cores, "{} ranks share {}", s.view.part.ranks(),
                files::counted(static_cast<std::uint64_t>(cores), "core"));
}

std::string slow_governors(const Subject& s) {
    Texts names;
    for (const auto& [name, cores] : s.host.governors) {
        if (name != "performance") {
            names.push_back(name);
        }
    }
    return when(!names.empty(), "the CPU governor is {}: cores that wait for data slow down", list(names));
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
    return when(far > 0, "{} of {} ranks are bound to cores away from NUMA node {}, where {} is", far,
                s.view.part.ranks(), *node, s.port != nullptr ? s.port->name() : s.path->interface);
}

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
         return when(any, "{} names lo, which reaches only this host", s.view.choice.why);
     }},
    {Per::host, serious, "device",
     [](const Subject& s) {
         const PathChoice& choice = s.view.choice;
         return when(choice.paths.empty() && choice.not_found.empty() && s.host.sees_network,
                     "there is no network device that is up");
     },
     "bring an interface up: ip link set dev INTERFACE up"},
    {Per::host, warning, "device",
     [](const Subject& s) {
         return when(!s.host.sees_network, "network devices cannot be seen from here: no /sys/class/net");
     },
     "mount -t sysfs sysfs /sys, or give the container the host's"},
    {Per::host, warning, "device",
     [](const Subject& s) {
         const PathChoice& choice = s.view.choice;
         const bool any = choice.why.find("UCX_NET_DEVICES is not set") != std::string::npos;
         return when(any && choice.paths.size() > 1,
                     "{} RDMA ports are active, and UCX will choose among them", choice.paths.size());
     },
     "name the one under test: -x UCX_NET_DEVICES={port}"},
    {Per::host, warning, "device", ports_down,
     "check cable, switch port and driver: ibstat, ip link; nothing, if TCP is to be measured"},
    {Per::host, note, "device", unused_ports_down, check_cable},
    {Per::host, warning, "speed", port_beside_interface, "check cable and port: ibstat, ethtool"},
    {Per::host, warning, "device",
     [](const Subject& s) {
         const bool other = !s.view.uses_rdma() && s.view.choice.not_found.empty();
         return when(other && s.host.any_active_port(), "an RDMA port is active and will not be used ({})",
                     s.view.choice.why);
     },
     "if RDMA is to be measured: mpirun --mca pml ucx -x UCX_TLS=rc,sm,self"},

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
         return when(s.host.interfaces_left_out > 0,
                     "{} more interfaces are up that have neither a device nor a network of their own: they "
                     "are left out, here and in a run",
                     s.host.interfaces_left_out);
     }},
};

std::string remedy_of(const HostRule& rule, const Subject& s) {
    const auto& paths = s.view.choice.paths;
    const auto node = node_of_device(s);
    const Gid* const gid = s.port != nullptr ? usable_gid(*s.port) : nullptr;
    const int mtu = s.port != nullptr ? mtu_for_largest_packets(*s.port) : 0;
    return fmt::format(
        fmt::runtime(rule.remedy), fmt::arg("interface", s.interface != nullptr ? s.interface->name : ""),
        fmt::arg("down", s.interface == nullptr ? "" : (s.interface->up ? s.sender : s.interface)->name),
        fmt::arg("gid", gid != nullptr ? std::to_string(gid->index) : "N"),
        fmt::arg("mtu", mtu > 4096 ? 4200 : mtu),
        fmt::arg("cores", node ? s.host.cpus_of_node.at(*node) : ""),
        fmt::arg("port",
                 s.view.uses_rdma() ? s.host.rdma_ports[paths.front().rdma_port.value_or(0)].name() : ""));
}

}  // namespace

std::vector<Finding> judge_host(const HostView& host) {
    std::vector<Finding> findings;
    const auto apply = [&](const HostRule& rule, const Subject& subject) {
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
    };
    for_each_row(rules, host, apply);
    for_each_row(network_rules(), host, apply);
    return findings;
}

}  // namespace weir::host
