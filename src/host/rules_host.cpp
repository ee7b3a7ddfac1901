#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "files/formatting.hpp"
#include "host/processor_list.hpp"
#include "host/rules.hpp"

namespace weir::host {

namespace {

class HostRules {
  public:
    explicit HostRules(const HostView& host) : host_(host.settings), choice_(host.choice), part_(host.part) {}

    std::vector<Finding> all() {
        check_locked_memory();
        check_memory();
        check_cores();
        check_governor();
        check_numa_distance();
        check_interfaces();
        return std::move(findings_);
    }

  private:
    void add(Severity severity, const char* topic, std::string what, std::string advice = {}) {
        findings_.push_back({severity, topic, {host_.host}, std::move(what), std::move(advice)});
    }

    void check_locked_memory() {
        const bool rdma = std::any_of(choice_.paths.begin(), choice_.paths.end(),
                                      [](const NetworkPath& path) { return path.rdma_port.has_value(); });
        if (!rdma || host_.locks_without_limit || !host_.locked_memory || host_.locked_memory->unlimited) {
            return;
        }
        // What MPI and UCX lock for themselves: queues and bounce buffers.
        constexpr std::int64_t for_the_library = 64 << 20;
        const std::int64_t needed = part_.largest_rank_bytes + for_the_library;
        const bool enough = host_.locked_memory->bytes >= needed;
        add(enough ? Severity::warning : Severity::serious, "locked_memory",
            fmt::format(
                "a process may lock {} of memory, but RDMA must lock its buffers, about {} on this host",
                files::readable(core::Bytes{host_.locked_memory->bytes}),
                files::readable(core::Bytes{needed})),
            "set ulimit -l unlimited for the service that starts the ranks: limits.conf for ssh, "
            "LimitMEMLOCK=infinity "
            "for slurmd");
    }

    void check_memory() {
        if (!host_.memory_available_bytes || part_.memory_bytes == 0) {
            return;
        }
        const auto available = static_cast<double>(*host_.memory_available_bytes);
        const auto needed = static_cast<double>(part_.memory_bytes);
        if (needed > 0.9 * available) {
            add(needed > available ? Severity::serious : Severity::warning, "memory",
                fmt::format("the plan needs {} of buffers on this host, but {} are available",
                            files::readable(core::Bytes{part_.memory_bytes}),
                            files::readable(core::Bytes{*host_.memory_available_bytes})),
                "use fewer --slots, a smaller --event-size or --scale; `weir run --dry-run` shows what is "
                "needed");
        }
    }

    void check_cores() {
        std::set<int> all;
        for (const auto& cpus : part_.cpus) {
            all.insert(cpus.begin(), cpus.end());
        }
        if (!all.empty() && part_.ranks() > static_cast<int>(all.size())) {
            add(Severity::warning, "cores",
                fmt::format("{} ranks share {}", part_.ranks(), files::counted(all.size(), "core")),
                "use one core per rank; otherwise ranks wait for each other and not for the network");
        }
    }

    void check_governor() {
        int slow = 0;
        std::string names;
        for (const auto& [name, count] : host_.governors) {
            if (name != "performance") {
                slow += count;
                names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
            }
        }
        if (slow > 0) {
            add(Severity::warning, "governor",
                fmt::format("the CPU governor is {}: cores that wait for data slow down", names),
                "cpupower frequency-set -g performance");
        }
    }

    void check_interfaces() {
        if (host_.interfaces_left_out > 0) {
            add(Severity::note, "interfaces",
                fmt::format(
                    "{} more interfaces are up that have neither a device nor a network of their own: "
                    "they are left out, here and in a run",
                    host_.interfaces_left_out));
        }
    }

    std::optional<int> node_of_network(const NetworkPath& path) const {
        if (path.rdma_port) {
            return host_.rdma_ports[*path.rdma_port].numa_node;
        }
        const Interface* interface = find_interface(host_, path.interface);
        return interface != nullptr ? interface->numa_node : std::nullopt;
    }

    void check_numa_distance() {
        if (host_.cpus_of_node.size() < 2) {
            return;
        }
        for (const NetworkPath& path : choice_.paths) {
            const auto near = node_of_network(path);
            if (!near || !host_.cpus_of_node.contains(*near)) {
                continue;
            }
            const std::set<int> near_cpus = processors_in(host_.cpus_of_node.at(*near));
            const auto far_ranks =
                std::count_if(part_.cpus.begin(), part_.cpus.end(), [&](const std::vector<int>& cpus) {
                    return std::none_of(cpus.begin(), cpus.end(),
                                        [&](int cpu) { return near_cpus.contains(cpu); });
                });
            if (far_ranks > 0) {
                const std::string name =
                    path.rdma_port ? host_.rdma_ports[*path.rdma_port].name() : path.interface;
                add(Severity::warning, "numa",
                    fmt::format("{} of {} ranks are bound to cores away from NUMA node {}, where {} is",
                                far_ranks, part_.ranks(), *near, name),
                    fmt::format("bind ranks to cores {}: mpirun --map-by numa, or --cpu-set",
                                host_.cpus_of_node.at(*near)));
            }
        }
    }

    const HostSettings& host_;
    const PathChoice& choice_;
    const HostPart& part_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge_host(const HostView& host) {
    return HostRules(host).all();
}

}  // namespace weir::host
