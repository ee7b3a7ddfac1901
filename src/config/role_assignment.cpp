#include "config/role_assignment.hpp"

#include "config/host_list.hpp"
#include "config/passes.hpp"
#include "config/words.hpp"

namespace weir::config {

namespace {

using core::Role;
using Roles = std::vector<Role>;
using Hosts = std::span<const std::string>;
using HostNames = std::vector<std::string>;

std::string started(std::size_t ranks) {
    return ranks == 1 ? "1 rank was started" : fmt::format("{} ranks were started", ranks);
}

std::uint32_t number_of(const Roles& roles, Role role) {
    return static_cast<std::uint32_t>(std::count(roles.begin(), roles.end(), role));
}

/// The hosts of a run, for messages; cut when there are many.
std::string hosts_text(Hosts hosts) {
    std::vector<std::string> unique;
    for (const std::string& host : hosts) {
        if (std::find(unique.begin(), unique.end(), host) == unique.end()) {
            unique.push_back(host);
        }
        constexpr std::size_t most = 64;
        if (unique.size() == most) {
            return compress_hosts(unique) + ",...";
        }
    }
    return compress_hosts(unique);
}

core::RoleMap make_map(const Roles& roles) {
    std::vector<core::NodeId> nodes;
    nodes.reserve(roles.size());
    std::uint32_t producers = 0;
    std::uint32_t consumers = 0;
    for (const Role role : roles) {
        switch (role) {
            case Role::scheduler:
                nodes.push_back(core::scheduler_node());
                break;
            case Role::producer:
                nodes.push_back({role, producers++});
                break;
            case Role::consumer:
                nodes.push_back({role, consumers++});
                break;
        }
    }
    return core::RoleMap(std::move(nodes));
}

/// Refuses roles that contradict --producers and --consumers, or that leave a part without a rank.
void check_numbers(const RoleRequest& request, const Roles& roles, std::string_view way) {
    struct Part {
        const char* name;
        std::uint32_t asked;
        Role role;
    };
    for (const Part& part : {Part{"producer", request.producers, Role::producer},
                             Part{"consumer", request.consumers, Role::consumer}}) {
        const std::uint32_t found = number_of(roles, part.role);
        if (part.asked != 0 && part.asked != found) {
            throw UsageError(
                "--{0}s: {1} asked for, but {2} give {3} of the {4} ranks to {0}s; make them agree or leave "
                "--{0}s out",
                part.name, part.asked, way, found, roles.size());
        }
        if (found == 0) {
            throw UsageError("--{0}s: {1} leave no rank for a {0} ({2}); start more or change them",
                             part.name, way, started(roles.size()));
        }
    }
}

// --- Each rank has its own --role.

Roles roles_by_option(std::span<const std::optional<Role>> told) {
    Roles roles;
    roles.reserve(told.size());
    for (std::size_t rank = 0; rank < told.size(); ++rank) {
        if (!told[rank]) {
            throw UsageError(
                "--role: rank {} was given none, others were; give one to every part of the command line",
                rank);
        }
        roles.push_back(*told[rank]);
    }
    const std::uint32_t schedulers = number_of(roles, Role::scheduler);
    if (schedulers != 1) {
        throw UsageError(
            "--role: {} of {} ranks are schedulers; exactly one must be (mpirun -np 1 weir run --role "
            "scheduler : ...)",
            schedulers, roles.size());
    }
    return roles;
}

// --- The scheduler's rank.

/// The rank asked for, or nothing where nothing was.
std::optional<std::size_t> asked_scheduler(const RoleRequest& request, Hosts hosts) {
    const std::string& rank = request.scheduler_rank;
    const bool last = rank == "last";
    if (!request.scheduler_host.empty()) {
        std::optional<std::size_t> found;
        for (std::size_t r = 0; r < hosts.size(); ++r) {
            if (same_host(hosts[r], request.scheduler_host) && (last || !found)) {
                found = r;
            }
        }
        if (!found) {
            throw UsageError("--scheduler-host: no rank runs on {}; ranks run on {}", request.scheduler_host,
                             hosts_text(hosts));
        }
        return found;
    }
    if (rank.empty()) {
        return std::nullopt;
    }
    if (rank == "first" || last) {
        return last ? hosts.size() - 1 : 0;
    }
    const std::size_t number = std::stoull(rank);
    if (number >= hosts.size()) {
        throw UsageError(
            "--scheduler-rank: there is no rank {} ({}); write first, last or a number from 0 to {}", rank,
            started(hosts.size()), hosts.size() - 1);
    }
    return number;
}

// --- By rank order.

Roles ordered_roles(const RoleRequest& request, Hosts hosts) {
    const std::size_t ranks = hosts.size();
    constexpr std::size_t fewest = 3;
    std::size_t producers = request.producers;
    std::size_t consumers = request.consumers;
    const bool both = producers != 0 && consumers != 0;
    const std::size_t need = both ? producers + consumers + 1 : producers + consumers + 2;
    if (both ? need != ranks : ranks < std::max(need, fewest)) {
        const auto part = [](const char* name, std::size_t asked) {
            return asked == 0 ? fmt::format("1 {}", name) : fmt::format("--{}s {}", name, asked);
        };
        throw UsageError(
            "{} + {} + 1 scheduler need {}{} ranks, but {}; start as many, or change the numbers",
            part("producer", producers), part("consumer", consumers), both ? "" : "at least ",
            std::max(need, fewest), started(ranks));
    }
    if (producers == 0 && consumers == 0) {
        producers = default_split(static_cast<std::uint32_t>(ranks)).producers;
    } else if (producers == 0) {
        producers = ranks - 1 - consumers;
    }
    const std::size_t scheduler = asked_scheduler(request, hosts).value_or(0);
    Roles roles;
    roles.reserve(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (rank == scheduler) {
            roles.push_back(Role::scheduler);
        } else if (producers > 0) {
            roles.push_back(Role::producer);
            --producers;
        } else {
            roles.push_back(Role::consumer);
        }
    }
    return roles;
}

// --- By host lists.

std::string short_name(std::string_view host) {
    std::string name(host.substr(0, host.find('.')));
    std::transform(name.begin(), name.end(), name.begin(), lower);
    return name;
}

// Finds a host of the run in a list. By short name first: lists have thousands of entries.
class HostFinder {
  public:
    explicit HostFinder(const std::vector<std::string>& list) : list_(list), met_(list.size(), false) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            by_short_name_[short_name(list[i])].push_back(i);
        }
    }

    bool contains(const std::string& host) {
        bool found = false;
        if (const auto entry = by_short_name_.find(short_name(host)); entry != by_short_name_.end()) {
            for (const std::size_t i : entry->second) {
                if (same_host(list_[i], host)) {
                    met_[i] = true;
                    found = true;
                }
            }
        }
        return found;
    }

    /// Refuses hosts of the list on which no rank runs.
    void check_all_met(const char* option, Hosts hosts) const {
        std::vector<std::string> missing;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            if (!met_[i]) {
                missing.push_back(list_[i]);
            }
        }
        if (!missing.empty()) {
            throw UsageError("--{}: no rank runs on {}; ranks run on {}", option, compress_hosts(missing),
                             hosts_text(hosts));
        }
    }

  private:
    const std::vector<std::string>& list_;
    std::vector<bool> met_;
    std::unordered_map<std::string, std::vector<std::size_t>> by_short_name_;
};

struct HostOfRun {
    std::vector<std::size_t> ranks;
    bool produces = false;
    bool consumes = false;
};

/// Decides for the ranks of one host, the scheduler's left out.
void assign_on_host(const RoleRequest& request, const std::string& name, const HostOfRun& host,
                    Roles& roles) {
    const std::size_t present = host.ranks.size();
    std::size_t producers = 0;  // the first of them; the others are consumers
    const auto refuse_number = [&](const char* option, std::size_t asked) {
        throw UsageError("--{}: {} needs {} ranks, but {} were started there (the scheduler aside)", option,
                         name, asked, present);
    };
    if (host.produces && host.consumes) {
        if (request.producers_per_host == 0 && request.consumers_per_host == 0) {
            throw UsageError(
                "--producer-hosts: {} is in --consumer-hosts too; say with --producers-per-host how many of "
                "its ranks are producers",
                name);
        }
        const std::size_t asked = request.producers_per_host + request.consumers_per_host;
        const bool both = request.producers_per_host != 0 && request.consumers_per_host != 0;
        if (both ? asked != present : asked >= present) {
            refuse_number(request.producers_per_host != 0 ? "producers-per-host" : "consumers-per-host",
                          both ? asked : asked + 1);
        }
        producers = request.producers_per_host != 0 ? request.producers_per_host : present - asked;
    } else if (host.produces) {
        producers = present;
        if (request.producers_per_host != 0 && request.producers_per_host != present) {
            refuse_number("producers-per-host", request.producers_per_host);
        }
    } else if (request.consumers_per_host != 0 && request.consumers_per_host != present) {
        refuse_number("consumers-per-host", request.consumers_per_host);
    }
    for (const std::size_t rank : host.ranks) {
        roles[rank] = producers > 0 ? Role::producer : Role::consumer;
        producers -= producers > 0 ? 1 : 0;
    }
}

struct HostsOfRun {
    std::vector<std::string> order;  ///< in which ranks name them
    std::map<std::string, HostOfRun, std::less<>> by_name;
    std::optional<std::size_t> unlisted;  ///< rank on a host in neither list; the first, or the last one
};

HostsOfRun hosts_of_run(const RoleRequest& request, Hosts hosts) {
    HostFinder producers(request.producer_hosts);
    HostFinder consumers(request.consumer_hosts);
    HostsOfRun found;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        auto [entry, is_new] = found.by_name.try_emplace(hosts[rank]);
        if (is_new) {
            found.order.push_back(hosts[rank]);
            entry->second.produces = producers.contains(hosts[rank]);
            entry->second.consumes = consumers.contains(hosts[rank]);
        }
        const bool in_none = !entry->second.produces && !entry->second.consumes;
        if (in_none && (!found.unlisted || request.scheduler_rank == "last")) {
            found.unlisted = rank;
        }
        entry->second.ranks.push_back(rank);
    }
    producers.check_all_met("producer-hosts", hosts);
    consumers.check_all_met("consumer-hosts", hosts);
    return found;
}

Roles listed_roles(const RoleRequest& request, Hosts hosts) {
    const bool both = !request.producer_hosts.empty() && !request.consumer_hosts.empty();
    HostsOfRun of_run = hosts_of_run(request, hosts);

    // With both lists given, a host in neither can only be there for the scheduler.
    std::size_t scheduler = 0;
    if (const auto asked = asked_scheduler(request, hosts)) {
        scheduler = *asked;
    } else if (both && of_run.unlisted) {
        scheduler = *of_run.unlisted;
    }
    Roles roles(hosts.size(), Role::consumer);
    roles[scheduler] = Role::scheduler;
    for (const std::string& name : of_run.order) {
        HostOfRun& host = of_run.by_name.find(name)->second;
        std::erase(host.ranks, scheduler);
        if (!host.produces && !host.consumes && !host.ranks.empty()) {
            if (both) {
                throw UsageError(
                    "--producer-hosts: {} runs {} of the ranks and is neither there nor in --consumer-hosts; "
                    "add it to one, or start none there",
                    name, host.ranks.size());
            }
            host.produces = request.producer_hosts.empty();
        }
        const bool listed = host.produces || host.consumes;
        if (!host.ranks.empty() ||
            (listed && (request.producers_per_host != 0 || request.consumers_per_host != 0))) {
            assign_on_host(request, name, host, roles);
        }
    }
    return roles;
}

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

Split default_split(std::uint32_t ranks) {
    const std::uint32_t producers = std::max(1U, (ranks - 1) / 2);
    return {producers, ranks - 1 - producers};
}

core::RoleMap assign_roles(const RoleRequest& request, std::span<const std::string> hosts_by_rank,
                           std::span<const std::optional<core::Role>> roles_by_rank) {
    const bool told =
        std::any_of(roles_by_rank.begin(), roles_by_rank.end(), [](const auto& r) { return r.has_value(); });
    Roles roles;
    if (told) {
        roles = roles_by_option(roles_by_rank);
        check_numbers(request, roles, "the --role options");
    } else if (!request.producer_hosts.empty() || !request.consumer_hosts.empty()) {
        roles = listed_roles(request, hosts_by_rank);
        check_numbers(request, roles, "the host lists");
    } else {
        roles = ordered_roles(request, hosts_by_rank);
    }
    return make_map(roles);
}

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

std::string leaf_of_host(const RoleRequest& request, std::string_view host) {
    for (const LeafHosts& one : request.leaves) {
        if (std::any_of(one.hosts.begin(), one.hosts.end(),
                        [&](const std::string& below) { return same_host(below, host); })) {
            return one.leaf;
        }
    }
    return {};
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
