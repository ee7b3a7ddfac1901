#include "cli/introduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "config/checks.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "config/usage_error.hpp"
#include "host/control_group.hpp"
#include "host/process.hpp"

namespace weir::cli {

namespace {

config::SocketRoom this_socket_room() {
    std::error_code error;
    const bool has_rdma = !std::filesystem::is_empty("/sys/class/infiniband", error) && !error;
    return config::socket_room(std::getenv("UCX_TLS"), has_rdma, host::most_open_files());
}

}  // namespace

Introduction introduce(job::Job& job, const config::RunRequest& request) {
    Introduction all;
    for (const std::string& text : job.share(host::encode_location(host::this_location()), "introduction")) {
        all.locations.push_back(host::decode_location(text));
        host::RankLocation& location = all.locations.back();
        if (std::string leaf = config::leaf_of_host(request.roles, location.host); !leaf.empty()) {
            location.leaf = std::move(leaf);
        }
        all.hosts.push_back(location.host);
    }
    all.one_name = host::tell_apart(all.locations);
    const std::string role = request.roles.role ? core::role_name(*request.roles.role) : "";
    bool any_role = false;
    for (const std::string& name : job.share(role, "introduction")) {
        std::optional<core::Role> given;
        for (const auto candidate : {core::Role::scheduler, core::Role::producer, core::Role::consumer}) {
            if (name == core::role_name(candidate)) {
                given = candidate;
                any_role = true;
            }
        }
        all.roles.push_back(given);
    }
    if (!any_role) {
        all.roles.clear();
    }
    all.options = job.share(config::encode_options(request), "introduction");
    const config::SocketRoom mine = this_socket_room();
    const host::AvailableMemory memory = host::available_memory();
    const std::string limits = fmt::format("{} {:d} {} {:d}", memory.bytes.count, memory.by_group,
                                           mine.open_files, mine.within_host);
    for (const std::string& text : job.share(limits, "introduction")) {
        std::istringstream numbers(text);
        bool by_group = false;
        numbers >> all.memory.emplace_back().available.count >> by_group >>
            all.sockets.emplace_back().open_files >> all.sockets.back().within_host;
        all.memory.back().by_limit = host::limit_hint(by_group);
    }
    return all;
}

host::HostPart part_of(const std::string& host, const config::RunRequest& request, const core::RoleMap& roles,
                       const std::vector<host::RankLocation>& locations) {
    const core::Plan& plan = request.plan;
    const double sends =
        plan.generation == core::Generation::saturate ? 0 : static_cast<double>(plan.rate.bits_per_second);
    const auto connections = [&](std::uint32_t peers) {
        return core::connection_memory_bytes(request.engine.queue_pairs, peers);
    };
    host::HostPart part;
    for (int rank = 0; rank < roles.ranks(); ++rank) {
        const host::RankLocation& location = locations[static_cast<std::size_t>(rank)];
        if (location.host != host) {
            continue;
        }
        std::int64_t memory = 0;
        switch (roles.node(rank).role) {
            case core::Role::producer:
                ++part.producers;
                part.sends_bits_per_second += sends;
                memory = core::producer_memory_bytes(plan) + connections(plan.consumers);
                break;
            case core::Role::consumer:
                ++part.consumers;
                part.receives_bits_per_second += sends * plan.producers / std::max(1U, plan.consumers);
                memory = core::consumer_memory_bytes(plan) + connections(plan.producers);
                break;
            case core::Role::scheduler:
                ++part.schedulers;
                break;
        }
        part.memory_bytes += memory;
        part.largest_rank_bytes = std::max(part.largest_rank_bytes, memory);
        part.cpus.push_back(location.cpus);
    }
    return part;
}

core::RoleMap agree_on_layout(const Introduction& all, config::RunRequest& request) {
    if (std::any_of(all.options.begin(), all.options.end(),
                    [&](const std::string& options) { return options != all.options.front(); })) {
        request = config::merge_options(all.options);
    }
    core::RoleMap roles = config::assign_roles(request.roles, all.hosts, all.roles);
    config::apply_layout(request, roles);
    if (!request.join.host.empty() && roles.scheduler_rank() != 0) {
        throw config::UsageError(
            fmt::format("--join: the scheduler would be rank {}, and it must be rank 0, which listens; start "
                        "rank 0 on the scheduler's host, and leave --scheduler-rank out",
                        roles.scheduler_rank()));
    }
    return roles;
}

}  // namespace weir::cli
