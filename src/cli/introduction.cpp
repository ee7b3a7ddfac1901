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
        all.hosts.push_back(all.locations.back().host);
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

core::RoleMap agree_on_layout(const Introduction& all, config::RunRequest& request) {
    if (std::any_of(all.options.begin(), all.options.end(),
                    [&](const std::string& options) { return options != all.options.front(); })) {
        request = config::merge_options(all.options);
    }
    core::RoleMap roles = config::assign_roles(request.roles, all.hosts, all.roles);
    config::apply_layout(request, roles);
    return roles;
}

}  // namespace weir::cli
