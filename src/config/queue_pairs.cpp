#include "config/queue_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "config/usage_error.hpp"
#include "core/engine_plan.hpp"

namespace weir::config {

namespace {

/// Of logs, counters, libraries and devices.
constexpr std::uint64_t other_files = 256;

/// A measured run may have one per pair over a transport that shares them.
bool need_queue_pairs(const RunRequest& request) {
    if (!request.simulated) {
        return request.engine.queue_pairs > 1;
    }
    return request.network.model == core::NetworkModel::packet && !request.plan.lossy() &&
           request.network.framing != core::Framing::tcp;
}

}  // namespace

void derive_queue_pairs(RunRequest& request) {
    const core::QueuePairs asked = request.queue_pairs;
    const bool insists = request.origin("queue-pairs") == Origin::command_line;
    std::string why;
    if (request.plan.transport == core::TransportKind::datagram) {
        why =
            "the datagrams of a rank leave by one socket, which is no queue pair; leave it out, or use "
            "--transport send, put or get with --engine ucx";
    } else if (request.engine.engine == core::Engine::mpi) {
        why =
            "needs --engine ucx: with mpi, the MPI library alone decides how many connections two ranks "
            "have; use that engine, or leave it out and set the library (UCX_IB_NUM_PATHS, btl_tcp_links)";
    } else if (asked.of_events) {
        why =
            "event is for simulations; a measured run has a number of them for each two ranks, for example "
            "as many as --streams";
    } else {
        request.engine.queue_pairs = asked.of_a_pair;
        check_queue_pairs(request);
        return;
    }
    if (insists) {
        throw UsageError("--queue-pairs: " + why);
    }
    if (asked != core::QueuePairs{}) {
        request.notes.push_back("queue-pairs of the scenario: left out: " + why);
    }
    request.queue_pairs = {};
}

void check_queue_pairs(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (!need_queue_pairs(request)) {
        return;
    }
    const std::uint64_t most =
        request.simulated ? request.network.fabric.nics.most_queue_pairs : core::NicPlan{}.most_queue_pairs;
    const std::uint64_t peers = std::max(plan.producers, plan.consumers);
    const std::uint64_t each = request.queue_pairs.of_a_pair;
    // For data and for control messages. What an event has of its own is used again by the next one.
    const std::uint64_t needed = peers * each + 1;
    if (most > 0 && needed > most) {
        const bool producer = plan.consumers >= plan.producers;
        throw UsageError(fmt::format(
            "--queue-pairs: {} to each of {} {}s are {} at the NIC of a {}, with one for control messages, "
            "and "
            "it holds {} ({}); use {}",
            each, peers, producer ? "consumer" : "producer", needed, producer ? "producer" : "consumer", most,
            request.simulated ? "--switch: [nic] queue-pairs" : "as a ConnectX-5",
            most > peers ? fmt::format("at most {}", (most - 1) / peers) : "fewer ranks"));
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
            throw UsageError(fmt::format(
                "--queue-pairs: {} to each peer give rank {} on {} up to {} open files, a socket each where "
                "no "
                "RDMA carries them, and {} are allowed there; use fewer, or raise the limit (ulimit -Hn)",
                request.engine.queue_pairs, rank, hosts_by_rank[static_cast<std::size_t>(rank)], needed,
                room.open_files));
        }
    }
}

}  // namespace weir::config
