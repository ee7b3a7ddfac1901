#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>

#include "files/formatting.hpp"
#include "host/subject.hpp"

namespace weir::host {

namespace {

std::string rate(const std::optional<std::int64_t>& bits_per_second) {
    return bits_per_second ? files::readable(core::BitRate{*bits_per_second}) : "";
}

std::string bytes(const std::optional<int>& bytes) {
    return bytes ? fmt::format("{} B", *bytes) : "";
}

std::string on_or_off(const std::optional<bool>& on) {
    return !on ? "" : *on ? "on" : "off";
}

/// "performance", or "performance on 60 cores, powersave on 4 cores"
std::string governors(const Subject& s) {
    if (s.host.governors.size() == 1) {
        return s.host.governors.begin()->first;
    }
    std::string text;
    for (const auto& [name, cores] : s.host.governors) {
        text += fmt::format("{}{} on {} cores", text.empty() ? "" : ", ", name, cores);
    }
    return text;
}

/// "RoCE v2, IPv4"
std::string gid_kind(const Subject& s) {
    if (s.gid == nullptr) {
        return "empty";
    }
    return fmt::format("{}, {}", s.gid->type.empty() ? "type unknown" : s.gid->type,
                       ipv4_of(*s.gid)         ? "IPv4"
                       : is_link_local(*s.gid) ? "link-local"
                                               : "IPv6");
}

std::string rdma_driver(const Subject& s) {
    return s.port->driver + (s.port->virtual_function ? " (virtual function)" : "");
}

std::string locked_memory(const Subject& s) {
    const auto& limit = s.host.locked_memory;
    return !limit ? ""
                  : (limit->unlimited ? "unlimited" : files::readable(core::Bytes{limit->bytes})) +
                        (s.host.locks_without_limit ? ", without effect on this process" : "");
}

/// "32", "1 of 32" or "1 of 32, by a quota of 1.5"
std::string cores(const Subject& s) {
    const int usable = s.view.usable_cores();
    const double quota = s.host.cpu_quota;
    if (usable == 0 || (usable >= s.host.cores && s.host.cores > 0)) {
        return s.host.cores > 0 ? std::to_string(s.host.cores) : "";
    }
    return (s.host.cores > 0 ? fmt::format("{} of {}", usable, s.host.cores) : std::to_string(usable)) +
           (quota > 0 && quota < usable + 1 ? fmt::format(", by a quota of {:.3g}", quota) : "");
}

/// Among which hosts a fact should be the same.
enum class Alike : std::uint8_t {
    everywhere,
    within_role,  ///< among hosts of producers, and among hosts of consumers; the scheduler's may differ
    not_needed,
};

struct FactRow {
    Per per;
    const char* name;
    const char* topic;
    std::function<std::string(const Subject&)> value;  ///< "9000 B"; empty: not known
    Alike alike = Alike::not_needed;
    /// If it differs; nothing: serious over RDMA, a warning over TCP.
    std::optional<Severity> severity = Severity::warning;
    const char* advice = "";
};

using enum Alike;
using enum Severity;
constexpr std::nullopt_t by_transport = std::nullopt;
constexpr const char* pause_advice = "set the same: ethtool --pause INTERFACE rx on|off tx on|off";

const FactRow rows[] = {
    {Per::port, "network", "device",
     [](const Subject& s) {
         return s.port->link_layer == "InfiniBand" ? "RDMA over InfiniBand" : "RDMA over Converged Ethernet";
     },
     everywhere, serious, "set UCX_NET_DEVICES to ports of the same network"},
    {Per::port, "RDMA port", "device", [](const Subject& s) { return s.port->name(); }},
    {Per::port, "RDMA driver", "driver", rdma_driver, everywhere, note},
    {Per::port, "RDMA firmware", "firmware", [](const Subject& s) { return s.port->firmware; }, within_role,
     warning, "install one version: defaults of congestion control change between firmware versions"},
    {Per::port, "RDMA port speed", "speed",
     [](const Subject& s) { return rate(s.port->speed_bits_per_second); }, within_role, warning,
     "look for a port that came up with fewer lanes, or another cable or card"},
    {Per::port, "RDMA MTU", "mtu", [](const Subject& s) { return bytes(s.port->active_mtu_bytes); },
     everywhere, serious,
     "it follows from the MTU of the interface: set that to the same value on all hosts"},
    {Per::gid_index, "GID index", "gid", [](const Subject& s) { return std::to_string(*s.path->gid_index); }},
    {Per::gid_index, "GID type", "gid", gid_kind, everywhere, serious,
     "the same index has different meanings on these hosts: do not set UCX_IB_GID_INDEX, or make the tables "
     "equal (same VLANs, same addresses, in the same order)"},
    {Per::traffic_class, "traffic class", "traffic_class",
     [](const Subject& s) {
         return fmt::format("{} (DSCP {})", *s.path->traffic_class, *s.path->traffic_class >> 2);
     },
     everywhere, serious, "set the same for all ranks: -x UCX_IB_TRAFFIC_CLASS=..."},
    {Per::no_port, "network", "device", [](const Subject&) { return "kernel (TCP)"; }},
    {Per::interface, "interface", "device", [](const Subject& s) { return s.interface->name; }},
    {Per::interface, "interface driver", "driver", [](const Subject& s) { return s.interface->driver; },
     within_role, note},
    {Per::interface, "link speed", "speed",
     [](const Subject& s) { return rate(s.interface->speed_bits_per_second); }, within_role, warning,
     "look for a link that negotiated less: ethtool INTERFACE"},
    {Per::interface, "MTU", "mtu", [](const Subject& s) { return bytes(s.sender->mtu_bytes); }, everywhere,
     serious,
     "set the same on all hosts, and at least that on every switch port between them: ip link set dev "
     "INTERFACE "
     "mtu BYTES"},
    {Per::interface, "priority of the data", "priority",
     [](const Subject& s) { return s.path->priority ? std::to_string(*s.path->priority) : ""; }, everywhere,
     by_transport, "set trust and the DSCP map the same: dcb app show dev INTERFACE"},
    {Per::interface, "trusts DSCP", "priority",
     [](const Subject& s) { return on_or_off(s.interface->dscp_trusted); }, everywhere, by_transport,
     "set trust the same: mlnx_qos -i INTERFACE --trust=dscp, or dcb app"},
    {Per::interface, "PFC priorities", "pfc",
     [](const Subject& s) { return priorities_text(s.interface->pfc); }, everywhere, by_transport,
     "set the same on hosts and switch: dcb pfc show dev INTERFACE"},
    {Per::interface, "pause frames (receive)", "pause",
     [](const Subject& s) { return on_or_off(s.interface->pause_receiving); }, everywhere, warning,
     pause_advice},
    {Per::interface, "pause frames (send)", "pause",
     [](const Subject& s) { return on_or_off(s.interface->pause_sending); }, everywhere, warning,
     pause_advice},
    {Per::interface, "ECN notification point (NP)", "ecn",
     [](const Subject& s) { return priorities_text(s.interface->ecn_notification); }, everywhere,
     by_transport, "set the same: /sys/class/net/INTERFACE/ecn/roce_np/enable/"},
    {Per::interface, "ECN reaction point (RP)", "ecn",
     [](const Subject& s) { return priorities_text(s.interface->ecn_reaction); }, everywhere, by_transport,
     "set the same: /sys/class/net/INTERFACE/ecn/roce_rp/enable/"},

    {Per::host, "locked memory", "locked_memory", locked_memory, everywhere, warning,
     "set the same: ulimit -l unlimited (limits.conf, or LimitMEMLOCK of the service that starts ranks)"},
    {Per::host, "cores", "cores", cores, within_role, note},
    {Per::host, "processor", "processor", [](const Subject& s) { return s.host.processor; }, within_role,
     note},
    {Per::host, "CPU governor", "governor", governors, within_role, warning,
     "set the same: cpupower frequency-set -g performance"},
    {Per::host, "kernel", "kernel", [](const Subject& s) { return s.host.kernel; }, within_role, warning,
     "use one kernel version on hosts of one role: it contains the drivers"},
};

/// Facts that a host has by name.
struct NamedRow {
    std::map<std::string, std::string> HostSettings::* values;
    const char* topic;
    Alike alike;
    Severity severity;
    const char* advice;  ///< may have the {name}
};

constexpr NamedRow named_rows[] = {
    {&HostSettings::versions, "version", everywhere, serious, "install the same version on all hosts"},
    {&HostSettings::kernel_parameters, "kernel_parameter", within_role, warning,
     "set the same: sysctl {name}=..."},
    {&HostSettings::variables, "variable", everywhere, serious,
     "set the same for all ranks: mpirun -x NAME=VALUE, or export it before srun"},
};

/// What a host has of a row.
struct Fact {
    std::string name;
    std::string value;
    std::string topic;
    Alike alike;
    Severity if_different;
    std::string advice;
};

std::vector<Fact> facts_of(const HostView& host) {
    std::vector<Fact> facts;
    const auto& paths = host.choice.paths;
    for_each_row(rows, host, [&](const FactRow& row, const Subject& subject) {
        const std::string prefix = subject.path == nullptr || paths.size() == 1
                                       ? ""
                                       : fmt::format("{}. ", subject.path - paths.data() + 1);
        const Severity over_path = subject.port != nullptr ? serious : warning;
        facts.push_back({prefix + row.name, row.value(subject), row.topic, row.alike,
                         row.severity.value_or(over_path), row.advice});
    });
    for (const NamedRow& row : named_rows) {
        for (const auto& [name, value] : host.settings.*row.values) {
            facts.push_back({name, value, row.topic, row.alike, row.severity,
                             fmt::format(fmt::runtime(row.advice), fmt::arg("name", name))});
        }
    }
    return facts;
}

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

/// One finding for each value that is not the most common one; one for all where none is.
void judge_difference(const Fact& fact, const FactValues& values, std::vector<Finding>& findings) {
    // Not known on some hosts is a difference of what can be read, not of the setting.
    FactValues known;
    std::copy_if(values.begin(), values.end(), std::back_inserter(known),
                 [](const auto& value) { return !value.value.empty(); });
    if (known.size() < 2) {
        return;
    }
    const auto add = [&](std::vector<std::string> hosts, std::string what) {
        findings.push_back({fact.if_different, fact.topic, std::move(hosts), std::move(what), fact.advice});
    };
    const auto& common = known[0];
    if (common.hosts.size() == known[1].hosts.size()) {
        std::string text;
        for (const auto& [value, hosts] : known) {
            text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", value,
                                hosts.size() == 1 ? hosts.front() : files::counted(hosts.size(), "host"));
        }
        add({}, fmt::format("{} differs: {}", fact.name, text));
        return;
    }
    for (std::size_t i = 1; i < known.size(); ++i) {
        add(known[i].hosts, fmt::format("{} is {}, but {} on {}", fact.name, known[i].value, common.value,
                                        files::counted(common.hosts.size(), "host")));
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

std::string priorities_text(const std::optional<Priorities>& priorities) {
    if (!priorities) {
        return "";
    }
    std::string text;
    for (unsigned priority = 0; priority < 8; ++priority) {
        if ((*priorities >> priority & 1U) != 0) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", priority);
        }
    }
    return text.empty() ? "none" : text;
}

std::vector<ComparedFact> compare(const std::vector<HostView>& hosts, std::vector<Finding>& findings) {
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
    std::vector<ComparedFact> comparison;
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
                judge_difference(kind, values, findings);
            }
        }
        comparison.push_back(std::move(compared));
    }
    return comparison;
}

}  // namespace weir::host
