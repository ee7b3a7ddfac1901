#include "host/control_group.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "host/counter_files.hpp"

namespace weir::host {

namespace {

/// The number at the beginning of a text; nothing: it begins with something else, such as "max".
std::optional<std::int64_t> number_at(std::string_view text) {
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Behind a word that begins a line, as in "inactive_file 4096\n".
std::optional<std::int64_t> number_behind(const std::string& text, const std::string& word) {
    const auto at = ("\n" + text).find("\n" + word + " ");
    return at == std::string::npos ? std::nullopt
                                   : number_at(std::string_view(text).substr(at + word.size() + 1));
}

/// False also of what must not be looked at.
bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// The directories of a group and of those above it. A container may have its own group where others have
/// the topmost, and a process moved out of its namespace has a path with "..": then that is all to be seen.
std::vector<std::string> upwards(const std::string& mount, std::string group) {
    std::vector<std::string> directories;
    const bool seen = group.find("..") == std::string::npos && is_there(mount + group);
    for (group = seen ? group : ""; group.size() > 1; group.resize(group.rfind('/'))) {
        directories.push_back(mount + group);
    }
    directories.push_back(mount);
    return directories;
}

void take_least(std::optional<std::int64_t>& least, std::int64_t value) {
    least = std::min(least.value_or(value), value);
}

/// `stat` has the page cache, which counts as used and which the kernel gives up for others.
void limit_memory(GroupLimits& limits, std::optional<std::int64_t> limit, std::optional<std::int64_t> used,
                  const std::string& stat, const std::string& prefix) {
    if (!limit || !used) {
        return;
    }
    const std::int64_t cache = number_behind(stat, prefix + "inactive_file").value_or(0) +
                               number_behind(stat, prefix + "active_file").value_or(0);
    take_least(limits.memory_bytes,
               std::max<std::int64_t>(0, *limit - *used + std::clamp<std::int64_t>(cache, 0, *used)));
}

void limit_cores(GroupLimits& limits, std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
    if (quota && period && *quota > 0 && *period > 0) {
        const double cores = static_cast<double>(*quota) / static_cast<double>(*period);
        limits.cores = limits.cores > 0 ? std::min(limits.cores, cores) : cores;
    }
}

void look_at_version_2(const std::string& directory, GroupLimits& limits) {
    const std::string cpu = file_text(directory + "/cpu.max");  // "150000 100000"
    limit_cores(limits, number_at(cpu),
                number_at(std::string_view(cpu).substr(std::min(cpu.find(' ') + 1, cpu.size()))));
    const auto used = number_at(file_text(directory + "/memory.current"));
    const std::string stat = file_text(directory + "/memory.stat");
    for (const char* name : {"/memory.max", "/memory.high"}) {  // above "high" it is slowed down
        limit_memory(limits, number_at(file_text(directory + name)), used, stat, "");
    }
}

void look_at_version_1(const std::string& directory, GroupLimits& limits) {
    limit_cores(limits, number_at(file_text(directory + "/cpu.cfs_quota_us")),
                number_at(file_text(directory + "/cpu.cfs_period_us")));
    const std::string stat = file_text(directory + "/memory.stat");
    auto limit = number_at(file_text(directory + "/memory.limit_in_bytes"));
    if (const auto of_all = number_behind(stat, "hierarchical_memory_limit"); limit && of_all) {
        take_least(limit, *of_all);  // of a group above that may not be seen from here
    }
    limit_memory(limits, limit, number_at(file_text(directory + "/memory.usage_in_bytes")), stat, "total_");
}

}  // namespace

GroupLimits group_limits(const std::string& root) {
    GroupLimits limits;
    const std::string base = root + "/sys/fs/cgroup";
    std::istringstream lines(file_text(root + "/proc/self/cgroup"));
    // "0::/job" (version 2), "4:cpu,cpuacct:/job" (version 1); of a mixture both
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool version_2 = controllers.empty();
        const std::string unified = base + "/unified";
        const std::string mount = !version_2 ? base + "/" + controllers : is_there(unified) ? unified : base;
        for (const std::string& directory : upwards(mount, line.substr(second + 1))) {
            version_2 ? look_at_version_2(directory, limits) : look_at_version_1(directory, limits);
        }
    }
    return limits;
}

AvailableMemory available_memory(const std::string& root) {
    const std::string meminfo = file_text(root + "/proc/meminfo");
    const std::string_view name = "\nMemAvailable:";
    const auto at = meminfo.find(name);
    const auto digits = meminfo.find_first_not_of(' ', at + name.size());
    const auto kibibytes = at == std::string::npos || digits == std::string::npos
                               ? std::nullopt
                               : number_at(std::string_view(meminfo).substr(digits));
    const core::Bytes of_host{kibibytes.value_or(0) * 1024};
    const auto left = group_limits(root).memory_bytes;
    if (!left || (of_host.count > 0 && of_host.count <= *left)) {
        return {.bytes = of_host};
    }
    return {.bytes = {std::max<std::int64_t>(1, *left)}, .by_group = true};
}

}  // namespace weir::host
