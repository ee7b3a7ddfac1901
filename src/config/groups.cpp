#include "config/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "config/passes.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using HostNames = std::vector<std::string>;

bool contains(const HostNames& hosts, std::string_view host) {
    return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

void check_host_lists(const RunRequest& request) {
    const auto& lists = request.groups.hosts;
    if (!lists.empty() && request.groups.count != 0 && request.groups.count != lists.size()) {
        throw UsageError(
            "--groups: {}, but --group-hosts is given {} times; give it once for each group, or leave "
            "--groups out",
            request.groups.count, lists.size());
    }
    std::map<std::string_view, std::size_t> group_of;
    for (std::size_t group = 0; group < lists.size(); ++group) {
        for (const std::string& host : lists[group]) {
            const auto [found, added] = group_of.emplace(host, group);
            if (!added) {
                throw UsageError("--group-hosts: {} is in groups {} and {}; name each host once", host,
                                 found->second, group);
            }
        }
    }
}

void keep_own(HostNames& hosts, const HostNames& group) {
    std::erase_if(hosts, [&](const std::string& host) { return !contains(group, host); });
}

}  // namespace

std::uint32_t number_of_groups(const RunRequest& request) {
    const auto lists = static_cast<std::uint32_t>(request.groups.hosts.size());
    return std::max({lists, request.groups.count, 1U});
}

void check_groups(const RunRequest& request) {
    check_host_lists(request);
    if (number_of_groups(request) == 1) {
        return;
    }
    if (!request.join.host.empty()) {
        throw UsageError(
            "--groups: cannot be combined with --join; start the ranks with MPI, or each group as a run of "
            "its own");
    }
    if (request.roles.role) {
        throw UsageError(
            "--groups: cannot be combined with --role; use --producers and --consumers, or lists of hosts");
    }
}

std::uint32_t ranks_per_group(const RunRequest& request, std::uint32_t ranks) {
    const std::uint32_t groups = number_of_groups(request);
    if (ranks % groups != 0) {
        throw UsageError(
            "--groups: {} ranks cannot be divided into {} equal groups; start {} or {} ranks, or list the "
            "hosts of each group with --group-hosts",
            ranks, groups, ranks - ranks % groups, ranks - ranks % groups + groups);
    }
    return ranks / groups;
}

std::uint32_t group_of_host(const RunRequest& request, std::string_view host) {
    const auto& lists = request.groups.hosts;
    const auto found = std::find_if(lists.begin(), lists.end(),
                                    [&](const HostNames& hosts) { return contains(hosts, host); });
    if (found == lists.end()) {
        throw UsageError("--group-hosts: there are ranks on {}, which is in no group; add it to one", host);
    }
    return static_cast<std::uint32_t>(found - lists.begin());
}

std::vector<std::string> group_directories(std::uint32_t groups) {
    const std::size_t digits = std::max<std::size_t>(2, std::to_string(groups - 1).size());
    std::vector<std::string> names;
    names.reserve(groups);
    for (std::uint32_t group = 0; group < groups; ++group) {
        names.push_back(fmt::format("group-{:0{}}", group, digits));
    }
    return names;
}

RunRequest request_of_group(const RunRequest& job, std::uint32_t group) {
    RunRequest request = job;
    request.groups = {};
    request.plan.seed += group;
    if (!job.groups.hosts.empty()) {
        const HostNames& own = job.groups.hosts.at(group);
        keep_own(request.roles.producer_hosts, own);
        keep_own(request.roles.consumer_hosts, own);
        if (!contains(own, request.roles.scheduler_host)) {
            request.roles.scheduler_host.clear();
        }
    }
    return request;
}

}  // namespace weir::config
