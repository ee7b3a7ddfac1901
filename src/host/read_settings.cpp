#include "host/read_settings.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "files/formatting.hpp"
#include "host/control_group.hpp"
#include "host/counter_files.hpp"
#include "host/host_facts.hpp"

namespace weir::host {

namespace {

/// Parameters on which it depends how TCP and UDP fill a link.
constexpr std::array<std::string_view, 9> kernel_parameters{
    "net.core.rmem_max", "net.core.wmem_max",        "net.core.netdev_max_backlog",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",        "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",  "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_slow_start_after_idle"};

/// What stands behind the first colon of the line that begins so, without blanks around it.
std::string field(const std::string& text, std::string_view beginning) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        if (line.starts_with(beginning)) {
            const auto colon = line.find(':');
            const auto first = line.find_first_not_of(" \t", colon + 1);
            return colon == std::string::npos || first == std::string::npos ? std::string{}
                                                                            : line.substr(first);
        }
    }
    return {};
}

/// "Max locked memory         8388608              8388608              bytes"
std::optional<KernelLimit> locked_memory_in(const std::string& limits) {
    std::istringstream lines(limits);
    std::string line;
    constexpr std::string_view beginning = "Max locked memory";
    while (std::getline(lines, line)) {
        if (!line.starts_with(beginning)) {
            continue;
        }
        std::istringstream words(line.substr(beginning.size()));
        std::string soft;
        words >> soft;
        if (soft == "unlimited") {
            return KernelLimit{.unlimited = true, .bytes = 0};
        }
        std::int64_t bytes = 0;
        const auto [rest, error] = std::from_chars(soft.data(), soft.data() + soft.size(), bytes);
        return error == std::errc{} ? std::optional(KernelLimit{.unlimited = false, .bytes = bytes})
                                    : std::nullopt;
    }
    return std::nullopt;
}

/// "CapEff:	000001ffffffffff"
bool may_lock_in(const std::string& status) {
    constexpr unsigned cap_ipc_lock = 14;
    const std::string text = field(status, "CapEff");
    std::uint64_t capabilities = 0;
    std::from_chars(text.data(), text.data() + text.size(), capabilities, 16);
    return (capabilities >> cap_ipc_lock & 1U) != 0;
}

/// Of a made-up host by its file, which also lists cores that are not there.
int usable_cores_in(const std::string& root, const std::string& status, int online) {
    const std::size_t allowed =
        root.empty() ? allowed_cpus().size() : processors_in(field(status, "Cpus_allowed_list")).size();
    return allowed == 0 || online == 0 ? static_cast<int>(allowed)
                                       : std::min(static_cast<int>(allowed), online);
}

/// "cpu12", "node3": the number behind the word, if that is all there is.
std::optional<int> numbered(const std::string& name, std::string_view word) {
    if (!name.starts_with(word)) {
        return std::nullopt;
    }
    return files::number_in<int>(std::string_view(name).substr(word.size()));
}

std::string single_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    for (char& letter : text) {
        letter = letter == '\t' || letter == '\n' ? ' ' : letter;
    }
    return text;
}

void read_processors(const std::string& root, HostSettings& host) {
    const std::string processors = root + "/sys/devices/system/cpu/";
    for (const std::string& name : names_in(processors)) {
        if (!numbered(name, "cpu")) {
            continue;
        }
        const std::string online = single_line(file_text(processors + name + "/online"));
        host.cores += online == "0" ? 0 : 1;
        const std::string governor = single_line(file_text(processors + name + "/cpufreq/scaling_governor"));
        if (!governor.empty()) {
            ++host.governors[governor];
        }
    }
    const std::string nodes = root + "/sys/devices/system/node/";
    for (const std::string& name : names_in(nodes)) {
        if (const auto node = numbered(name, "node")) {
            host.cpus_of_node[*node] = single_line(file_text(nodes + name + "/cpulist"));
            std::istringstream distances(file_text(nodes + name + "/distance"));
            int distance = 0;
            while (distances >> distance) {
                host.distances[*node].push_back(distance);
            }
        }
    }
}

}  // namespace

HostSettings read_settings(const std::string& host, const Sight& sight) {
    HostSettings settings;
    settings.host = host;
    const std::string& root = sight.root;
    settings.kernel = single_line(file_text(root + "/proc/sys/kernel/osrelease"));
    settings.processor = field(file_text(root + "/proc/cpuinfo"), "model name");
    if (const AvailableMemory memory = available_memory(root); memory.bytes.count > 0) {
        settings.memory_available_bytes = memory.bytes.count;
        settings.memory_limited = memory.by_group;
    }
    const std::string status = file_text(root + "/proc/self/status");
    settings.locked_memory = locked_memory_in(file_text(root + "/proc/self/limits"));
    settings.locks_without_limit = may_lock_in(status);
    read_processors(root, settings);
    settings.usable_cores = usable_cores_in(root, status, settings.cores);
    settings.cpu_quota = group_limits(root).cores;
    for (const std::string_view name : kernel_parameters) {
        std::string path = root + "/proc/sys/";
        for (const char letter : name) {
            path += letter == '.' ? '/' : letter;
        }
        const std::string value = single_line(file_text(path));
        if (!value.empty()) {
            settings.kernel_parameters[std::string(name)] = value;
        }
    }
    settings.rdma_ports = read_rdma_ports(sight);
    settings.sees_network = std::filesystem::exists(root + "/sys/class/net");
    settings.interfaces = read_interfaces(sight, settings.rdma_ports, settings.interfaces_left_out);
    return settings;
}

}  // namespace weir::host
