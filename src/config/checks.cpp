#include "config/checks.hpp"

#include <initializer_list>
#include <system_error>

namespace weir::config {

namespace {

struct RanksOfHost {
    std::int64_t producers = 0;
    std::int64_t consumers = 0;
    MemoryRoom room;
};

/// What remains for everything that is not chunk buffers: MPI itself, its registrations and connections.
constexpr core::Bytes spare_per_rank{std::int64_t{32} << 20};

core::Bytes whole_bytes(double bytes) {
    return {static_cast<std::int64_t>(std::min(bytes, 9e18))};
}

void check_host(const RunRequest& request, const std::string& host, const RanksOfHost& load) {
    if (load.room.available.count <= 0) {
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
    if (need <= static_cast<double>(load.room.available.count)) {
        return;
    }
    if (connections > producers && connections > consumers) {
        throw UsageError(
            "--queue-pairs: {} to each peer of {} producers and {} consumers need about {} on {}, of {} with "
            "their buffers, and it has {} available{}; use fewer, or more hosts",
            each, load.producers, load.consumers, files::readable(whole_bytes(connections)), host,
            files::readable(whole_bytes(need)), files::readable(load.room.available), load.room.by_limit);
    }
    const bool by_producers = producers > consumers;
    throw UsageError(
        "--{}: {} producers of {} and {} consumers of {} ({} slots of {}) need {} on {}, which has {} "
        "available{}; use {}, a smaller --scale, or more hosts",
        by_producers ? "buffer" : "slots", load.producers, files::readable(core::Bytes{producer}),
        load.consumers, files::readable(core::Bytes{consumer}), plan.slots, files::readable(plan.slot_size),
        files::readable(whole_bytes(need)), host, files::readable(load.room.available), load.room.by_limit,
        by_producers ? "a smaller buffer" : "fewer or smaller slots");
}

/// Of logs, counters, libraries and devices.
constexpr std::uint64_t other_files = 256;

/// Why data have no such queue pairs; empty: they do.
std::string why_not(const RunRequest& request) {
    if (request.plan.transport == core::TransportKind::datagram) {
        return fmt::format(
            "the datagrams of a rank leave by one socket, which is no queue pair; leave it out, or use "
            "--transport send, put or get{}",
            request.simulated ? "" : " with --engine ucx");
    }
    if (request.simulated) {
        return {};
    }
    if (request.engine.engine == core::Engine::mpi) {
        return "needs --engine ucx: with mpi, the MPI library alone decides how many connections two ranks "
               "have; use that engine, or leave it out and set the library (UCX_IB_NUM_PATHS, btl_tcp_links)";
    }
    return request.queue_pairs.of_events ? "event is for simulations; a measured run has a number of them "
                                           "for each two ranks, for example as many as --streams"
                                         : "";
}

/// Between two ranks of different hosts, by host.
std::vector<std::uint64_t> pairs_by_host(const core::Plan& plan, const core::Placement& placement) {
    std::vector<std::uint64_t> pairs;
    for (const core::Placement::Host& host : placement.hosts()) {
        const auto producers = static_cast<std::uint64_t>(
            std::count_if(host.ranks.begin(), host.ranks.end(),
                          [&](std::uint32_t rank) { return rank >= 1 && rank <= plan.producers; }));
        const auto consumers = static_cast<std::uint64_t>(std::count_if(
            host.ranks.begin(), host.ranks.end(), [&](std::uint32_t rank) { return rank > plan.producers; }));
        pairs.push_back(plan.addressed() ? 0
                                         : producers * (plan.consumers - consumers) +
                                               consumers * (plan.producers - producers));
    }
    for (std::uint32_t consumer = 0; plan.addressed() && consumer < plan.consumers; ++consumer) {
        const std::uint32_t to = placement.host_of(1 + plan.producers + consumer);
        for (const core::TrafficPlan::Sender& sender : plan.traffic->senders_to({consumer})) {
            const std::uint32_t from = placement.host_of(1 + sender.producer.value);
            pairs[from] += from != to ? 1 : 0;
            pairs[to] += from != to ? 1 : 0;
        }
    }
    return pairs;
}

/// Of a host: each rank has one to the scheduler, wherever that is not on its own host.
std::uint64_t control_pairs(const core::Placement& placement, std::uint32_t index) {
    const std::size_t here = placement.hosts()[index].ranks.size();
    std::size_t all = 0;
    for (const core::Placement::Host& host : placement.hosts()) {
        all += host.ranks.size();
    }
    return placement.host_of(0) == index ? all - here : here;
}

}  // namespace

void check_memory(const RunRequest& request, const core::RoleMap& roles,
                  std::span<const std::string> hosts_by_rank, std::span<const MemoryRoom> rooms_by_rank) {
    std::map<std::string, RanksOfHost> loads;
    for (int rank = 0; rank < roles.ranks(); ++rank) {
        const auto index = static_cast<std::size_t>(rank);
        RanksOfHost& load = loads[hosts_by_rank[index]];
        load.room = rooms_by_rank[index];
        load.producers += roles.node(rank).role == core::Role::producer ? 1 : 0;
        load.consumers += roles.node(rank).role == core::Role::consumer ? 1 : 0;
    }
    for (const auto& [host, load] : loads) {
        check_host(request, host, load);
    }
}

void derive_queue_pairs(RunRequest& request) {
    const std::string why = why_not(request);
    if (why.empty()) {
        request.engine.queue_pairs = request.simulated ? 1 : request.queue_pairs.of_a_pair;
        return;
    }
    if (request.origin("queue-pairs") == Origin::command_line) {
        throw UsageError("--queue-pairs: " + why);
    }
    if (request.queue_pairs != core::QueuePairs{}) {
        request.notes.push_back("queue-pairs of the scenario: left out: " + why);
    }
    request.queue_pairs = {};
}

void check_queue_pairs(const RunRequest& request, const core::Placement& placement) {
    const core::Plan& plan = request.plan;
    const std::uint64_t most = request.network.fabric.nics.most_queue_pairs;
    if (most == 0 || !core::has_queue_pairs(plan, request.network)) {
        return;
    }
    const std::uint64_t each = request.queue_pairs.of_a_pair;
    const std::vector<std::uint64_t> pairs = pairs_by_host(plan, placement);
    for (std::uint32_t index = 0; index < pairs.size(); ++index) {
        const core::Placement::Host& host = placement.hosts()[index];
        const std::uint64_t of_nic = (pairs[index] + host.nics - 1) / host.nics;
        const std::uint64_t control = control_pairs(placement, index);
        // What an event has of its own is used again by the next one.
        const std::uint64_t needed = of_nic * each + control;
        if (needed > most) {
            throw UsageError(
                "--queue-pairs: {} for each two ranks are {} at a NIC of {}, with {} for control messages, "
                "and it holds {} (--switch: [nic] queue-pairs); use {}",
                each, needed, placement.name(index), control, most,
                most >= of_nic + control && of_nic > 0 ? fmt::format("at most {}", (most - control) / of_nic)
                                                       : "fewer ranks");
        }
    }
}

SocketRoom socket_room(const char* transports, bool has_rdma, std::uint64_t most_open_files) {
    const std::string_view list = transports == nullptr ? "all" : transports;
    const bool all_but = list.starts_with('^');
    // Whole names as UCX has them (rc, rc_mlx5): cuda_copy is no ud.
    const auto names_it = [list](std::string_view name) {
        for (std::string_view left = list.substr(list.starts_with('^') ? 1 : 0); !left.empty();) {
            const std::string_view one = left.substr(0, left.find(','));
            if (one == name || (one.starts_with(name) && one[name.size()] == '_')) {
                return true;
            }
            left.remove_prefix(std::min(left.size(), one.size() + 1));
        }
        return false;
    };
    const auto uses_one_of = [&](std::initializer_list<std::string_view> some) {
        return std::any_of(some.begin(), some.end(),
                           [&](std::string_view name) { return names_it(name) != all_but; });
    };
    const bool rdma = all_but ? !names_it("ib") && uses_one_of({"rc", "ud", "dc"})
                              : uses_one_of({"all", "ib", "rc", "ud", "dc"});
    if (has_rdma && rdma) {
        return {};
    }
    const bool memory = all_but ? !names_it("sm") && !names_it("shm")
                                : uses_one_of({"all", "sm", "shm", "mm", "posix", "sysv", "xpmem"});
    return {.open_files = most_open_files, .within_host = !memory};
}

std::uint64_t open_files_needed(const RunRequest& request, const core::RoleMap& roles,
                                std::span<const std::string> hosts_by_rank, int rank, bool within_host) {
    const core::Role role = roles.node(rank).role;
    std::uint64_t peers = 0;
    for (int other = 0; other < roles.ranks() && role != core::Role::scheduler; ++other) {
        const core::Role theirs = roles.node(other).role;
        const bool has_data = theirs != role && theirs != core::Role::scheduler;
        const bool elsewhere =
            hosts_by_rank[static_cast<std::size_t>(rank)] != hosts_by_rank[static_cast<std::size_t>(other)];
        peers += has_data && (elsewhere || within_host) ? 1 : 0;
    }
    // Control packets take a socket to each rank at most, MPI too.
    return other_files + 2 * static_cast<std::uint64_t>(roles.ranks()) + peers * request.engine.queue_pairs;
}

void check_open_files(const RunRequest& request, const core::RoleMap& roles,
                      std::span<const std::string> hosts_by_rank, std::span<const SocketRoom> rooms_by_rank) {
    for (int rank = 0; rank < roles.ranks() && request.engine.queue_pairs > 1; ++rank) {
        const SocketRoom room = rooms_by_rank[static_cast<std::size_t>(rank)];
        const std::uint64_t needed = open_files_needed(request, roles, hosts_by_rank, rank, room.within_host);
        if (room.open_files > 0 && needed > room.open_files) {
            throw UsageError(
                "--queue-pairs: {} to each peer give rank {} on {} up to {} open files, a socket each where "
                "no RDMA carries them, and {} are allowed there; use fewer, or raise the limit (ulimit -Hn)",
                request.engine.queue_pairs, rank, hosts_by_rank[static_cast<std::size_t>(rank)], needed,
                room.open_files);
        }
    }
}

}  // namespace weir::config
