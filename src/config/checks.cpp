#include "config/checks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <system_error>

#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "core/memory_need.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

namespace fs = std::filesystem;

struct RanksOfHost {
    std::int64_t producers = 0;
    std::int64_t consumers = 0;
    core::Bytes available;
};

/// What remains for everything that is not chunk buffers: MPI itself, its registrations and connections.
constexpr core::Bytes spare_per_rank{std::int64_t{32} << 20};

core::Bytes whole_bytes(double bytes) {
    return {static_cast<std::int64_t>(std::min(bytes, 9e18))};
}

void check_host(const RunRequest& request, const std::string& host, const RanksOfHost& load) {
    if (load.available.count <= 0) {
        return;
    }
    const core::Plan& plan = request.plan;
    const std::int64_t producer = core::producer_memory_bytes(plan);
    const std::int64_t consumer = core::consumer_memory_bytes(plan);
    // Floating point, because the sums may be beyond 64 bits; exactness does not matter here.
    const double producers = static_cast<double>(load.producers) * static_cast<double>(producer);
    const double consumers = static_cast<double>(load.consumers) * static_cast<double>(consumer);
    const std::uint32_t each = request.engine.queue_pairs;
    const double connections = static_cast<double>(load.producers) *
                                   static_cast<double>(core::connection_memory_bytes(each, plan.consumers)) +
                               static_cast<double>(load.consumers) *
                                   static_cast<double>(core::connection_memory_bytes(each, plan.producers));
    const double need =
        producers + consumers + connections +
        static_cast<double>(load.producers + load.consumers) * static_cast<double>(spare_per_rank.count);
    if (need <= static_cast<double>(load.available.count)) {
        return;
    }
    if (connections > producers && connections > consumers) {
        throw UsageError(
            "--queue-pairs: {} to each peer of {} producers and {} consumers need about {} on {}, of {} with "
            "their buffers, and it has {} available; use fewer, or more hosts",
            each, load.producers, load.consumers, files::readable(whole_bytes(connections)), host,
            files::readable(whole_bytes(need)), files::readable(load.available));
    }
    const bool by_producers = producers > consumers;
    throw UsageError(
        "--{}: {} producers of {} and {} consumers of {} ({} slots of {}) need {} on {}, which has {} "
        "available; use {}, a smaller --scale, or more hosts",
        by_producers ? "buffer" : "slots", load.producers, files::readable(core::Bytes{producer}),
        load.consumers, files::readable(core::Bytes{consumer}), plan.slots, files::readable(plan.slot_size),
        files::readable(whole_bytes(need)), host, files::readable(load.available),
        by_producers ? "a smaller buffer" : "fewer or smaller slots");
}

/// The nearest directory upwards that exists.
fs::path existing_ancestor(const fs::path& directory) {
    std::error_code error;
    fs::path path = fs::absolute(directory, error).lexically_normal();
    if (!path.has_filename()) {
        path = path.parent_path();
    }
    do {
        path = path.parent_path();
    } while (path.has_relative_path() && !fs::exists(path, error));
    return path;
}

}  // namespace

core::Bytes available_memory() {
    std::ifstream stream("/proc/meminfo");
    std::string key;
    while (stream >> key) {
        std::int64_t value = 0;
        if (key == "MemAvailable:" && stream >> value) {
            return {value * 1024};
        }
        stream.ignore(1000, '\n');
    }
    return {};
}

void check_memory(const RunRequest& request, const core::RoleMap& roles,
                  std::span<const std::string> hosts_by_rank,
                  std::span<const core::Bytes> available_by_rank) {
    std::map<std::string, RanksOfHost> loads;
    for (int rank = 0; rank < roles.ranks(); ++rank) {
        const auto index = static_cast<std::size_t>(rank);
        RanksOfHost& load = loads[hosts_by_rank[index]];
        load.available = available_by_rank[index];
        load.producers += roles.node(rank).role == core::Role::producer ? 1 : 0;
        load.consumers += roles.node(rank).role == core::Role::consumer ? 1 : 0;
    }
    for (const auto& [host, load] : loads) {
        check_host(request, host, load);
    }
}

std::string default_run_directory(std::int64_t unix_seconds) {
    using namespace std::chrono;
    const sys_seconds time{seconds{unix_seconds}};
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{time - day};
    return fmt::format("weir-run-{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

void check_run_directory(const fs::path& directory) {
    constexpr auto here = UsageError::Reach::this_host;
    std::error_code error;
    if (fs::exists(fs::symlink_status(directory, error))) {
        throw UsageError(here, "--out: '{}' exists already; name a directory that does not",
                         directory.string());
    }
    const fs::path parent = existing_ancestor(directory);
    if (!fs::is_directory(parent, error)) {
        throw UsageError(here,
                         "--out: '{}' is not a directory, so '{}' cannot be made in it; choose another place",
                         parent.string(), directory.string());
    }
    if (::access(parent.c_str(), W_OK | X_OK) != 0) {
        throw UsageError(here,
                         "--out: '{}' cannot be written to, so '{}' cannot be made in it; name another place",
                         parent.string(), directory.string());
    }
}

std::string create_run_directory(const std::string& out, std::int64_t unix_seconds,
                                 const std::vector<std::string>& parts) {
    std::error_code error;
    const std::string name = out.empty() ? default_run_directory(unix_seconds) : out;
    fs::path directory = name;
    constexpr int most = 1000;
    for (int number = 2; out.empty() && number <= most && fs::exists(directory, error); ++number) {
        directory = fmt::format("{}-{}", name, number);
    }
    check_run_directory(directory);
    fs::create_directories(directory, error);
    for (const std::string& part : parts) {
        if (!error) {
            fs::create_directory(directory / part, error);
        }
    }
    if (error) {
        throw UsageError(UsageError::Reach::this_host, "--out: '{}' cannot be made: {}; choose another place",
                         directory.string(), error.message());
    }
    return fs::absolute(directory).string();
}

}  // namespace weir::config
