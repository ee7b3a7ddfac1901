// What `weir check` finds out about hosts. Facts are their settings as named values (facts.cpp): what differs
// is found without interpreting it. Rules say what is wrong on a host by itself (rules.cpp), and what a probe
// showed (rules_probe.cpp); each looks at one thing, and reports nothing where that is not known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "files/formatting.hpp"
#include "host/host_facts.hpp"
#include "host/host_settings.hpp"
#include "host/path_choice.hpp"
#include "host/probe.hpp"

namespace weir::host {

/// What the plan needs of a host.
struct HostPart {
    int producers = 0;
    int consumers = 0;
    int schedulers = 0;
    std::int64_t memory_bytes = 0;        ///< buffers of all ranks there
    std::int64_t largest_rank_bytes = 0;  ///< buffers of the rank with most
    double sends_bits_per_second = 0;     ///< payload, all ranks together
    double receives_bits_per_second = 0;
    std::vector<std::vector<int>> cpus;  ///< that each rank may run on

    [[nodiscard]] int ranks() const { return producers + consumers + schedulers; }
};

/// A host for a check: its settings, the way that its data will take, and its part in the planned run.
struct HostView {
    explicit HostView(HostSettings of_host, HostPart of_plan = {}, bool by_ucx = false)
        : settings(std::move(of_host)), choice(choose_paths(settings, by_ucx)), part(std::move(of_plan)) {}

    [[nodiscard]] bool uses_rdma() const {
        return std::any_of(choice.paths.begin(), choice.paths.end(),
                           [](const NetworkPath& path) { return path.rdma_port.has_value(); });
    }

    /// That the ranks of the plan may use, or without one this process; as a run counts them (load_of).
    [[nodiscard]] int usable_cores() const {
        std::set<int> all;
        for (const std::vector<int>& cpus : part.cpus) {
            all.insert(cpus.begin(), cpus.end());
        }
        const auto alone = static_cast<std::size_t>(settings.usable_cores);
        return cores_within(all.empty() ? alone : all.size(), settings.cpu_quota);
    }

    HostSettings settings;
    PathChoice choice;
    HostPart part;
};

enum class Severity : std::uint8_t {
    serious,  ///< a run would fail, or would measure something else than intended
    warning,  ///< costs performance, or hides a problem
    note,     ///< for information
};

struct Finding {
    Severity severity = Severity::note;
    std::string topic;               ///< stable, for programs: "mtu", "gid", "locked_memory", ...
    std::vector<std::string> hosts;  ///< where; empty: everywhere, or between hosts
    std::string what;                ///< one sentence without the hosts
    std::string advice;              ///< what to do; empty: nothing
};

/// A fact over all hosts.
struct ComparedFact {
    std::string name;  ///< "MTU"
    struct Value {
        std::string value;  ///< "9000 B"; empty: not known
        std::vector<std::string> hosts;
    };
    std::vector<Value> values;  ///< the most common first
};

struct CheckResult {
    std::vector<HostView> hosts;
    std::vector<std::string> told_apart;  ///< a line for each name that several hosts have
    std::optional<ProbeResult> probe;     ///< nothing: there was none

    std::vector<ComparedFact> facts;  ///< by judge_hosts()
    std::vector<Finding> findings;    ///< by judge_hosts(), worst first
};

/// Compares hosts, applies all rules, and fills in the rest of the result.
void judge_hosts(CheckResult& result);

/// Worst first; findings that differ only in their hosts become one.
std::vector<Finding> in_order(std::vector<Finding> findings);

/// What is the same on all hosts; what is not the same and should be is added to `findings`.
std::vector<ComparedFact> compare(const std::vector<HostView>& hosts, std::vector<Finding>& findings);
std::vector<Finding> judge_host(const HostView& host);
/// Rates, transports, priorities and losses. `hosts`: in any order.
std::vector<Finding> judge_probe(const ProbeResult& probe, const std::vector<HostView>& hosts);

/// "0, 3" or "none"; nothing where it is not known
std::string priorities_text(const std::optional<Priorities>& priorities);

}  // namespace weir::host
