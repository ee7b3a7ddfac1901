#include "cli/introduction.hpp"

#include <algorithm>

#include "config/checks.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"

namespace weir::cli {

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
    for (const std::string& bytes :
         job.share(std::to_string(config::available_memory().count), "introduction")) {
        all.memory.push_back({std::stoll(bytes)});
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
