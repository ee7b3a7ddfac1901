#include "host/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "files/formatting.hpp"

namespace weir::host {

namespace {

std::string optional_rate_text(const std::optional<std::int64_t>& bits_per_second) {
    return bits_per_second ? files::readable(core::BitRate{*bits_per_second}) : std::string{};
}

std::string bytes_text(const std::optional<int>& bytes) {
    return bytes ? fmt::format("{} B", *bytes) : std::string{};
}

std::string switch_text(const std::optional<bool>& on) {
    return !on ? std::string{} : *on ? "on" : "off";
}

/// "performance", or "performance 60, powersave 4"
std::string governors_text(const std::map<std::string, int>& governors) {
    if (governors.size() == 1) {
        return governors.begin()->first;
    }
    std::string text;
    for (const auto& [name, cores] : governors) {
        text += fmt::format("{}{} on {} cores", text.empty() ? "" : ", ", name, cores);
    }
    return text;
}

/// "RoCE v2, IPv4"
std::string gid_kind(const Gid& gid) {
    return fmt::format("{}, {}", gid.type.empty() ? "type unknown" : gid.type,
                       ipv4_of(gid)         ? "IPv4"
                       : is_link_local(gid) ? "link-local"
                                            : "IPv6");
}

class Facts {
  public:
    explicit Facts(const HostView& host) : host_(host) {}

    std::vector<Fact> all() {
        for (std::size_t i = 0; i < host_.choice.paths.size(); ++i) {
            prefix_ = host_.choice.paths.size() == 1 ? "" : fmt::format("{}. ", i + 1);
            add_path(host_.choice.paths[i]);
        }
        prefix_.clear();
        add_host();
        return std::move(facts_);
    }

  private:
    void add(std::string name, std::string value, std::string topic, Alike alike = Alike::not_needed,
             Severity severity = Severity::warning, std::string advice = {}) {
        facts_.push_back({.name = prefix_ + name,
                          .value = std::move(value),
                          .topic = std::move(topic),
                          .alike = alike,
                          .if_different = severity,
                          .advice = std::move(advice)});
    }

    void add_path(const NetworkPath& path) {
        if (path.rdma_port) {
            add_port(host_.settings.rdma_ports[*path.rdma_port], path);
        } else {
            add("network", "kernel (TCP)", "device");
        }
        if (const Interface* interface = find_interface(host_.settings, path.interface)) {
            add_interface(*interface, path);
        }
    }

    void add_port(const RdmaPort& port, const NetworkPath& path) {
        add("network",
            port.link_layer == "InfiniBand" ? "RDMA over InfiniBand" : "RDMA over Converged Ethernet",
            "device", Alike::everywhere, Severity::serious,
            "set UCX_NET_DEVICES to ports of the same network");
        add("RDMA port", port.name(), "device");
        add("RDMA driver", port.driver, "driver", Alike::everywhere, Severity::note);
        add("RDMA firmware", port.firmware, "firmware", Alike::within_role, Severity::warning,
            "install one version: defaults of congestion control change between firmware versions");
        add("RDMA port speed", optional_rate_text(port.speed_bits_per_second), "speed", Alike::within_role,
            Severity::warning, "look for a port that came up with fewer lanes, or another cable or card");
        add("RDMA MTU", bytes_text(port.active_mtu_bytes), "mtu", Alike::everywhere, Severity::serious,
            "it follows from the MTU of the interface: set that to the same value on all hosts");
        if (path.gid_index) {
            const Gid* gid = find_gid(port, *path.gid_index);
            add("GID index", std::to_string(*path.gid_index), "gid");
            add("GID type", gid != nullptr ? gid_kind(*gid) : "empty", "gid", Alike::everywhere,
                Severity::serious,
                "the same index has different meanings on these hosts: do not set UCX_IB_GID_INDEX, or make "
                "the tables equal (same VLANs, same addresses, in the same order)");
        }
        if (path.traffic_class) {
            add("traffic class", fmt::format("{} (DSCP {})", *path.traffic_class, *path.traffic_class >> 2),
                "traffic_class", Alike::everywhere, Severity::serious,
                "set the same for all ranks: -x UCX_IB_TRAFFIC_CLASS=...");
        }
    }

    void add_interface(const Interface& interface, const NetworkPath& path) {
        add("interface", interface.name, "device");
        add("interface driver", interface.driver, "driver", Alike::within_role, Severity::note);
        add("link speed", optional_rate_text(interface.speed_bits_per_second), "speed", Alike::within_role,
            Severity::warning, "look for a link that negotiated less: ethtool INTERFACE");
        add("MTU", bytes_text(interface.mtu_bytes), "mtu", Alike::everywhere, Severity::serious,
            "set the same on all hosts, and at least that on every switch port between them: ip link set dev "
            "INTERFACE mtu BYTES");
        const bool converged = path.rdma_port.has_value();
        const Severity severity = converged ? Severity::serious : Severity::warning;
        add("priority of the data", path.priority ? std::to_string(*path.priority) : "", "priority",
            Alike::everywhere, severity, "set trust and the DSCP map the same: dcb app show dev INTERFACE");
        add("trusts DSCP", switch_text(interface.dscp_trusted), "priority", Alike::everywhere, severity,
            "set trust the same: mlnx_qos -i INTERFACE --trust=dscp, or dcb app");
        add("PFC priorities", interface.pfc ? priorities_text(*interface.pfc) : "", "pfc", Alike::everywhere,
            severity, "set the same on hosts and switch: dcb pfc show dev INTERFACE");
        add("pause frames (receive)", switch_text(interface.pause_receiving), "pause", Alike::everywhere,
            Severity::warning, "set the same: ethtool --pause INTERFACE rx on|off tx on|off");
        add("pause frames (send)", switch_text(interface.pause_sending), "pause", Alike::everywhere,
            Severity::warning, "set the same: ethtool --pause INTERFACE rx on|off tx on|off");
        add("ECN notification point (NP)",
            interface.ecn_notification ? priorities_text(*interface.ecn_notification) : "", "ecn",
            Alike::everywhere, severity, "set the same: /sys/class/net/INTERFACE/ecn/roce_np/enable/");
        add("ECN reaction point (RP)", interface.ecn_reaction ? priorities_text(*interface.ecn_reaction) : "",
            "ecn", Alike::everywhere, severity, "set the same: /sys/class/net/INTERFACE/ecn/roce_rp/enable/");
    }

    void add_host() {
        const HostSettings& settings = host_.settings;
        std::string locked;
        if (settings.locked_memory) {
            locked = settings.locked_memory->unlimited
                         ? "unlimited"
                         : files::readable(core::Bytes{settings.locked_memory->bytes});
            locked += settings.locks_without_limit ? ", without effect on this process" : "";
        }
        add("locked memory", locked, "locked_memory", Alike::everywhere, Severity::warning,
            "set the same: ulimit -l unlimited (limits.conf, or LimitMEMLOCK of the service that starts "
            "ranks)");
        add("cores", std::to_string(settings.cores), "cores", Alike::within_role, Severity::note);
        add("processor", settings.processor, "processor", Alike::within_role, Severity::note);
        add("CPU governor", governors_text(settings.governors), "governor", Alike::within_role,
            Severity::warning, "set the same: cpupower frequency-set -g performance");
        add("kernel", settings.kernel, "kernel", Alike::within_role, Severity::warning,
            "use one kernel version on hosts of one role: it contains the drivers");
        for (const auto& [name, version] : settings.versions) {
            add(name, version, "version", Alike::everywhere, Severity::serious,
                "install the same version on all hosts");
        }
        for (const auto& [name, value] : settings.kernel_parameters) {
            add(name, value, "kernel_parameter", Alike::within_role, Severity::warning,
                fmt::format("set the same: sysctl {}=...", name));
        }
        for (const auto& [name, value] : settings.variables) {
            add(name, value, "variable", Alike::everywhere, Severity::serious,
                "set the same for all ranks: mpirun -x NAME=VALUE, or export it before srun");
        }
    }

    const HostView& host_;
    std::string prefix_;
    std::vector<Fact> facts_;
};

/// Values of one fact on some hosts.
using FactValues = std::vector<ComparedFact::Value>;

void add_value(FactValues& values, const std::string& value, const std::string& host) {
    auto same = std::find_if(values.begin(), values.end(),
                             [&](const ComparedFact::Value& other) { return other.value == value; });
    if (same == values.end()) {
        same = values.insert(values.end(), {value, {}});
    }
    same->hosts.push_back(host);
}

void sort_by_commonness(FactValues& values) {
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.hosts.size() > b.hosts.size(); });
}

std::string shown(const std::string& value) {
    return value.empty() ? "unknown" : value;
}

/// One finding for each value that is not the most common one; one for all where none is.
void judge_difference(const Fact& fact, const FactValues& values, std::vector<Finding>& findings) {
    // Not known on some hosts is a difference of what can be read, not of the setting.
    FactValues known;
    std::copy_if(values.begin(), values.end(), std::back_inserter(known),
                 [](const auto& value) { return !value.value.empty(); });
    if (known.size() < 2) {
        return;
    }
    const auto hosts_text = [](std::size_t count) {
        return count == 1 ? std::string("1 host") : fmt::format("{} hosts", count);
    };
    if (known[0].hosts.size() == known[1].hosts.size()) {
        std::string text;
        for (const auto& value : known) {
            text +=
                fmt::format("{}{} on {}", text.empty() ? "" : ", ", value.value,
                            value.hosts.size() == 1 ? value.hosts.front() : hosts_text(value.hosts.size()));
        }
        findings.push_back({.severity = fact.if_different,
                            .topic = fact.topic,
                            .hosts = {},
                            .what = fmt::format("{} differs: {}", fact.name, text),
                            .advice = fact.advice});
        return;
    }
    for (std::size_t i = 1; i < known.size(); ++i) {
        findings.push_back({.severity = fact.if_different,
                            .topic = fact.topic,
                            .hosts = known[i].hosts,
                            .what = fmt::format("{} is {}, but {} on {}", fact.name, shown(known[i].value),
                                                known[0].value, hosts_text(known[0].hosts.size())),
                            .advice = fact.advice});
    }
}

const Fact* find_fact(const std::vector<Fact>& facts, const std::string& name) {
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.name == name; });
    return found == facts.end() ? nullptr : &*found;
}

/// The group of hosts within which this one is compared.
std::string group_of(const HostView& host, Alike alike) {
    if (alike == Alike::everywhere) {
        return "all";
    }
    return host.part.producers > 0 ? "producers" : host.part.consumers > 0 ? "consumers" : "scheduler";
}

}  // namespace

std::string priorities_text(Priorities priorities) {
    std::string text;
    for (unsigned priority = 0; priority < 8; ++priority) {
        if ((priorities >> priority & 1U) != 0) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", priority);
        }
    }
    return text.empty() ? "none" : text;
}

std::vector<Fact> facts_of(const HostView& host) {
    return Facts(host).all();
}

HostComparison compare(const std::vector<HostView>& hosts) {
    std::vector<std::vector<Fact>> by_host;
    std::vector<Fact> kinds;  // every fact once, in the order in which it first occurs
    for (const HostView& host : hosts) {
        by_host.push_back(facts_of(host));
        for (const Fact& fact : by_host.back()) {
            if (find_fact(kinds, fact.name) == nullptr) {
                kinds.push_back(fact);
            }
        }
    }
    HostComparison comparison;
    for (const Fact& kind : kinds) {
        ComparedFact compared{.name = kind.name, .values = {}};
        std::map<std::string, FactValues> groups;
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            const Fact* fact = find_fact(by_host[i], kind.name);
            const bool is_variable = kind.topic == "variable";
            // A variable that is not set is a value of its own.
            const std::string value = fact != nullptr ? fact->value : is_variable ? "not set" : "";
            add_value(compared.values, value, hosts[i].settings.host);
            add_value(groups[group_of(hosts[i], kind.alike)], value, hosts[i].settings.host);
        }
        sort_by_commonness(compared.values);
        if (kind.alike != Alike::not_needed) {
            for (auto& [name, values] : groups) {
                sort_by_commonness(values);
                judge_difference(kind, values, comparison.findings);
            }
        }
        comparison.facts.push_back(std::move(compared));
    }
    return comparison;
}

}  // namespace weir::host
