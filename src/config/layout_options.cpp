// Options of the group "layout": which rank has which role.
#include <fmt/format.h>

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

constexpr Option layout_rows[] = {
    {.name = "producers",
     .syntax = "N",
     .help = "number of producer ranks",
     .default_text = "run: half of the ranks; simulate: 3",
     .value = {[](RunRequest& r, Text text) { r.roles.producers = count(text, 1, nodes_limit); },
               [](const RunRequest& r) { return count_text(r.plan.producers); }},
     .kept_when_shrunk = true},
    {.name = "consumers",
     .syntax = "N",
     .help = "number of consumer ranks",
     .default_text = "run: the other half; simulate: 4",
     .value = {[](RunRequest& r, Text text) { r.roles.consumers = count(text, 1, nodes_limit); },
               [](const RunRequest& r) { return count_text(r.plan.consumers); }},
     .kept_when_shrunk = true},
    {.name = "scheduler-rank",
     .syntax = "first|last|N",
     .help = "rank of the scheduler; producers, then consumers in order",
     .default_text = "first",
     .value = as::plain<&RoleRequest::scheduler_rank, parse_scheduler_rank>},
    {.name = "producer-hosts",
     .syntax = "HOSTS",
     .help = "hosts whose ranks are producers: 'eb[01-14],fn3'",
     .default_text = "by rank order",
     .value = as::read<&RoleRequest::producer_hosts, expand_hosts, compress_hosts>,
     .kept_when_shrunk = true},
    {.name = "consumer-hosts",
     .syntax = "HOSTS",
     .help = "hosts whose ranks are consumers",
     .default_text = "by rank order",
     .value = as::read<&RoleRequest::consumer_hosts, expand_hosts, compress_hosts>,
     .kept_when_shrunk = true},
    {.name = "scheduler-host",
     .syntax = "HOST",
     .help = "host whose first rank is the scheduler",
     .default_text = "any",
     .value = as::plain<&RoleRequest::scheduler_host, parse_one_host>},
    {.name = "producers-per-host",
     .syntax = "N",
     .help = "producer ranks on each of --producer-hosts",
     .default_text = "all there",
     .value = as::number<&RoleRequest::producers_per_host, 1, nodes_limit>},
    {.name = "consumers-per-host",
     .syntax = "N",
     .help = "consumer ranks on each of --consumer-hosts",
     .default_text = "all there",
     .value = as::number<&RoleRequest::consumers_per_host, 1, nodes_limit>},
    {.name = "role",
     .syntax = "scheduler|producer|consumer",
     .help = "role of this part of an mpirun line with ':' between parts",
     .default_text = "by rank",
     .value = {[](RunRequest& r, Text text) { r.roles.role = choose(text, role_choices); },
               [](const RunRequest& r) {
                   return r.roles.role ? chosen(*r.roles.role, role_choices) : std::string{};
               }},
     .in_scenario = false,
     .in_plan = false},
    {.name = "groups",
     .syntax = "N",
     .help = "groups of ranks that share nothing, each with its own scheduler",
     .default_text = "1",
     .value = as::number<&GroupRequest::count, 1, groups_limit>},
    {.name = "group-hosts",
     .syntax = "HOSTS",
     .help = "hosts of a group; repeatable, once for each group",
     .default_text = "equal parts of the ranks",
     .value = {[](RunRequest& r, Text text) { r.groups.hosts.push_back(expand_hosts(text)); },
               [](const RunRequest& r) {
                   return r.groups.hosts.empty() ? std::string{} : compress_hosts(r.groups.hosts.back());
               }},
     .repeatable = true,
     .in_scenario = false,
     .in_plan = false,
     .only_measured = true},
    {.name = "join",
     .syntax = "HOST:PORT",
     .help = "start without MPI: rank 0 listens there, the others connect",
     .default_text = "MPI starts the ranks",
     .value = {set_join,
               [](const RunRequest& r) {
                   return r.join.host.empty() ? std::string{} : r.join.host + ":" + r.join.port;
               }},
     .in_scenario = false,
     .in_plan = false,
     .only_measured = true},
    {.name = "join-token",
     .syntax = "FILE",
     .help = "file with the token that all processes of --join know",
     .default_text = "WEIR_JOIN_TOKEN",
     .value = as::plain<&JoinRequest::token_file>,
     .in_scenario = false,
     .in_plan = false,
     .only_measured = true},
    {.name = "ranks",
     .syntax = "N",
     .help = "--join without a launcher: this is rank 0 of so many",
     .value = as::number<&JoinRequest::ranks, 3, nodes_limit>,
     .in_scenario = false,
     .in_plan = false,
     .only_measured = true},
};

}  // namespace

std::span<const Option> layout_options() {
    return layout_rows;
}

}  // namespace weir::config
