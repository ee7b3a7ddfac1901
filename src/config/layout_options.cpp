// Options of the group "layout": which rank has which role.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/host_list.hpp"
#include "config/option_rows.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Role> role_choices[] = {{"scheduler", core::Role::scheduler},
                                               {"producer", core::Role::producer},
                                               {"consumer", core::Role::consumer}};

std::string parse_scheduler_rank(std::string_view text) {
    if (text != "first" && text != "last") {
        try {
            parse_count(text, 0, 3 * nodes_limit);
        } catch (const UsageError&) {
            throw UsageError("'{}' is not a rank; write first, last or a number from 0 on", text);
        }
    }
    return std::string(text);
}

std::string parse_one_host(std::string_view text) {
    const auto hosts = expand_hosts(text);
    if (hosts.size() != 1) {
        throw UsageError("'{}' are {} hosts; write one", text, hosts.size());
    }
    return hosts.front();
}

/// "fn01:7000", "[fe80::1]:7000"
void set_join(RunRequest& request, std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
        throw UsageError("'{}': write the host that rank 0 runs on and a free port, as fn01:7000", text);
    }
    std::string_view host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    constexpr std::uint64_t largest_port = 65535;
    request.join.port = fmt::format("{}", parse_count(text.substr(colon + 1), 1, largest_port));
    request.join.host = std::string(host);
}

/// "leaf1=eb[01-14],fn3"
void add_leaf(RunRequest& request, std::string_view text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view leaf = text.substr(0, equals);
    if (leaf.empty() || equals == text.size()) {
        throw UsageError("'{}': write the name of a switch and its hosts, as 'leaf1=eb[01-14]'", text);
    }
    std::vector<std::string> hosts = expand_hosts(text.substr(equals + 1));
    for (const LeafHosts& other : request.roles.leaves) {
        for (const std::string& host : hosts) {
            if (std::find(other.hosts.begin(), other.hosts.end(), host) != other.hosts.end()) {
                throw UsageError("{} is below {} and {}; name each host once", host, other.leaf, leaf);
            }
        }
    }
    request.roles.leaves.push_back({std::string(leaf), std::move(hosts)});
}

std::string leaves_text(const RunRequest& request) {
    std::string text;
    for (const LeafHosts& one : request.roles.leaves) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.leaf, compress_hosts(one.hosts));
    }
    return text;
}

constexpr Option layout_rows[] = {
    {"producers", "N", "number of producer ranks", derived("run: half of the ranks; simulate: 3"),
     own([](RunRequest& r, Text text) { r.roles.producers = count(text, 1, nodes_limit); },
         [](const RunRequest& r) { return count_text(r.plan.producers); }),
     kept_when_shrunk},
    {"consumers", "N", "number of consumer ranks", derived("run: the other half; simulate: 4"),
     own([](RunRequest& r, Text text) { r.roles.consumers = count(text, 1, nodes_limit); },
         [](const RunRequest& r) { return count_text(r.plan.consumers); }),
     kept_when_shrunk},
    {"scheduler-rank", "first|last|N", "rank of the scheduler; producers, then consumers in order",
     derived("first"), as::plain<&RoleRequest::scheduler_rank, parse_scheduler_rank>},
    {"producer-hosts", "HOSTS", "hosts whose ranks are producers: 'eb[01-14],fn3'", derived("by rank order"),
     as::read<&RoleRequest::producer_hosts, expand_hosts, compress_hosts>, kept_when_shrunk},
    {"consumer-hosts", "HOSTS", "hosts whose ranks are consumers", derived("by rank order"),
     as::read<&RoleRequest::consumer_hosts, expand_hosts, compress_hosts>, kept_when_shrunk},
    {"scheduler-host", "HOST", "host whose first rank is the scheduler", derived("any"),
     as::plain<&RoleRequest::scheduler_host, parse_one_host>},
    {"producers-per-host", "N", "producer ranks on each of --producer-hosts", derived("all there"),
     as::number<&RoleRequest::producers_per_host, 1, nodes_limit>},
    {"consumers-per-host", "N", "consumer ranks on each of --consumer-hosts", derived("all there"),
     as::number<&RoleRequest::consumers_per_host, 1, nodes_limit>},
    {"leaf-hosts", "SWITCH=HOSTS", "hosts below a leaf switch: 'leaf1=eb[01-14]'; repeatable",
     derived("as SLURM tells"), own(add_leaf, leaves_text), not_in_plan | only_measured | repeatable},
    {"role", "scheduler|producer|consumer", "role of this part of an mpirun line with ':' between parts",
     derived("by rank"),
     own([](RunRequest& r, Text text) { r.roles.role = choose(text, role_choices); },
         [](const RunRequest& r) {
             return r.roles.role ? chosen(*r.roles.role, role_choices) : std::string{};
         }),
     command_line_only},
    {"groups", "N", "groups of ranks that share nothing, each with its own scheduler", derived("1"),
     as::number<&GroupRequest::count, 1, groups_limit>},
    {"group-hosts", "HOSTS", "hosts of a group; repeatable, once for each group",
     derived("equal parts of the ranks"),
     own([](RunRequest& r, Text text) { r.groups.hosts.push_back(expand_hosts(text)); },
         [](const RunRequest& r) {
             return r.groups.hosts.empty() ? std::string{} : compress_hosts(r.groups.hosts.back());
         }),
     command_line_only | repeatable | only_measured},
    {"join", "HOST:PORT", "start without MPI: rank 0 listens there, the others connect",
     derived("MPI starts the ranks"),
     own(set_join,
         [](const RunRequest& r) {
             return r.join.host.empty() ? std::string{} : r.join.host + ":" + r.join.port;
         }),
     command_line_only | only_measured},
    {"join-token", "FILE", "file with the token that all processes of --join know",
     derived("WEIR_JOIN_TOKEN"), as::plain<&JoinRequest::token_file>, command_line_only | only_measured},
    {"ranks", "N", "--join without a launcher: this is rank 0 of so many", unset,
     as::number<&JoinRequest::ranks, 3, nodes_limit>, command_line_only | only_measured},
};

}  // namespace

constinit const std::span<const Option> layout_options = layout_rows;

}  // namespace weir::config
