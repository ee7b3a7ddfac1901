#include "host/host_facts.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "files/json.hpp"
#include "host/control_group.hpp"
#include "host/ucx_library.hpp"

namespace weir::host {

namespace {

std::string first_line_with(const char* path, std::string_view beginning) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with(beginning)) {
            return line;
        }
    }
    return {};
}

std::string after_colon(const std::string& line) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) {
        return {};
    }
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string{} : line.substr(start);
}

/// "pid:[4026531836]"; empty: it cannot be read.
std::string namespace_of_this_process(const char* kind) {
    std::error_code error;
    return std::filesystem::read_symlink(fmt::format("/proc/self/ns/{}", kind), error).string();
}

}  // namespace

std::vector<int> allowed_cpus() {
    // The kernel refuses a mask shorter than its own; grow until it fits.
    for (int bits = 1024; bits <= 1 << 16; bits *= 2) {
        cpu_set_t* mask = CPU_ALLOC(bits);
        const std::size_t size = CPU_ALLOC_SIZE(bits);
        std::vector<int> cpus;
        if (sched_getaffinity(0, size, mask) == 0) {
            for (int cpu = 0; cpu < bits; ++cpu) {
                if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask)) {
                    cpus.push_back(cpu);
                }
            }
        }
        CPU_FREE(mask);
        if (!cpus.empty()) {
            return cpus;
        }
    }
    return {};
}

/// SLURM's topology plugins (tree, block) tell each process the switches above its node, the nearest last,
/// then the node: "core.leaf-3.fn01"; without such a plugin, the node alone.
std::string leaf_in(std::string_view address) {
    const auto node = address.rfind('.');
    if (node == std::string_view::npos) {
        return {};
    }
    const std::string_view switches = address.substr(0, node);
    return std::string(switches.substr(switches.rfind('.') + 1));
}

RankLocation this_location() {
    const char* const address = std::getenv("SLURM_TOPOLOGY_ADDR");
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return {.host = name.data(),
            .pid = getpid(),
            .cpus = allowed_cpus(),
            .cpu_quota = group_limits().cores,
            .leaf = leaf_in(address != nullptr ? address : ""),
            .boot = first_line_with("/proc/sys/kernel/random/boot_id", ""),
            .pid_namespace = namespace_of_this_process("pid"),
            .network_namespace = namespace_of_this_process("net")};
}

static void each_field(files::MaybeConst<RankLocation> auto& location, auto&& visit) {
    visit("host", location.host);
    visit("pid", location.pid);
    visit("cpus", location.cpus);
    visit("cpu_quota", location.cpu_quota);
    visit("leaf", location.leaf);
    visit("boot", location.boot);
    visit("pid_namespace", location.pid_namespace);
    visit("network_namespace", location.network_namespace);
}

std::string encode_location(const RankLocation& location) {
    return files::json_text(files::json_of<nlohmann::ordered_json>(location));
}

RankLocation decode_location(const std::string& text) {
    return files::checked<RankLocation>(files::parse_json(text));
}

std::vector<std::string> tell_apart(std::vector<RankLocation>& locations) {
    using Machine = std::pair<std::string, std::string>;
    std::set<std::string> names;
    std::map<std::string, std::vector<Machine>> machines;  // by name, in the order of their first ranks
    for (const RankLocation& location : locations) {
        names.insert(location.host);
        std::vector<Machine>& known = machines[location.host];
        const Machine machine{location.boot, location.network_namespace};
        if (std::find(known.begin(), known.end(), machine) == known.end()) {
            known.push_back(machine);
        }
    }
    std::map<std::pair<std::string, Machine>, std::string> unique;
    std::vector<std::string> lines;
    for (const auto& [name, known] : machines) {
        std::string all = name;
        unique[{name, known.front()}] = name;
        for (std::size_t i = 1, number = 2; i < known.size(); ++i) {
            std::string other;
            do {
                other = fmt::format("{}-{}", name, number++);
            } while (!names.insert(other).second);
            all += ", " + other;
            unique[{name, known[i]}] = std::move(other);
        }
        if (known.size() > 1) {
            lines.push_back(
                fmt::format("{} machines have the host name {}: they are named {}", known.size(), name, all));
        }
    }
    for (RankLocation& location : locations) {
        location.host = unique.at({location.host, {location.boot, location.network_namespace}});
    }
    return lines;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t first = 0; first < cpus.size();) {
        std::size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) {
            ++last;
        }
        text += text.empty() ? "" : ",";
        text +=
            first == last ? fmt::format("{}", cpus[first]) : fmt::format("{}-{}", cpus[first], cpus[last]);
        first = last + 1;
    }
    return text;
}

int cores_within(std::size_t cores, double quota) {
    const auto all = static_cast<double>(cores);
    return static_cast<int>(quota > 0 ? std::clamp(std::floor(quota), 1.0, std::max(1.0, all)) : all);
}

HostLoad load_of(const std::string& host, const std::vector<RankLocation>& locations) {
    HostLoad load;
    std::set<int> cores;
    double quota = 0;
    for (const RankLocation& location : locations) {
        if (location.host == host) {
            ++load.ranks;
            cores.insert(location.cpus.begin(), location.cpus.end());
            quota = std::max(quota, location.cpu_quota);
        }
    }
    load.cores = cores_within(cores.size(), quota);
    return load;
}

std::map<std::string, std::string> steering_variables() {
    std::map<std::string, std::string> variables;
    // Only what steers the run; a whole environment can hold secrets.
    constexpr std::array<std::string_view, 8> prefixes = {
        "UCX_", "OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "SLURM_", "MPICH_", "OMP_NUM_", "LOADEDMODULES"};
    std::set<std::string> lines;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        lines.insert(*entry);
    }
    for (const std::string& line : lines) {
        // What the launcher sets for its own ranks: addresses and a job key, and nothing that a user set.
        const bool of_launcher = line.starts_with("OMPI_MCA_orte_") || line.starts_with("OMPI_MCA_ess_") ||
                                 line.starts_with("PMIX_MCA_mca_base_component_show_load_errors") ||
                                 line.starts_with("OMPI_MCA_pmix");
        const bool wanted =
            !of_launcher && std::any_of(prefixes.begin(), prefixes.end(),
                                        [&](std::string_view prefix) { return line.starts_with(prefix); });
        const auto equals = line.find('=');
        const bool secret =
            line.find("KEY") < equals || line.find("TOKEN") < equals || line.find("JWT") < equals;
        if (wanted && !secret && equals != std::string::npos) {
            variables[line.substr(0, equals)] = line.substr(equals + 1);
        }
    }
    return variables;
}

nlohmann::ordered_json environment_facts(const std::string& mpi_library) {
    utsname system{};
    uname(&system);
    const auto ucx = loaded_ucx();
    return {{"kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
            {"processor", after_colon(first_line_with("/proc/cpuinfo", "model name"))},
            {"memory", after_colon(first_line_with("/proc/meminfo", "MemTotal"))},
            {"mpi_library", mpi_library},
            {"ucx_version", ucx ? nlohmann::ordered_json(ucx->version) : nlohmann::ordered_json()},
            {"ucx_file", ucx ? nlohmann::ordered_json(ucx->file) : nlohmann::ordered_json()},
            {"variables", steering_variables()}};
}

std::set<int> processors_in(std::string_view list) {
    constexpr int most = 1 << 16;
    std::set<int> processors;
    while (!list.empty()) {
        const std::string_view part = list.substr(0, list.find(','));
        list.remove_prefix(std::min(part.size() + 1, list.size()));
        int first = 0;
        const char* end = part.data() + part.size();
        const auto [rest, error] = std::from_chars(part.data(), end, first);
        int last = first;
        if (error == std::errc{} && rest != end && *rest == '-') {
            std::from_chars(rest + 1, end, last);
        }
        for (int cpu = first; error == std::errc{} && cpu <= last && cpu < most; ++cpu) {
            processors.insert(cpu);
        }
    }
    return processors;
}

}  // namespace weir::host
