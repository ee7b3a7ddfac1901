// Checks against the machine that a run is to use: memory, queue pairs and open files. The
// caller gathers the facts and calls these on one rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "config/run_request.hpp"
#include "core/fabric_layout.hpp"
#include "core/role_map.hpp"

namespace weir::config {

/// What a rank's process may use of its host's memory.
struct MemoryRoom {
    core::Bytes available;      ///< 0: unknown
    std::string by_limit = {};  ///< what is said of a limit behind the number; empty: it is what the host has
};

/// Refuses a run that needs more memory than a host has. Throws UsageError that names the host, the need and
/// the largest contributions.
void check_memory(const RunRequest& request, const core::RoleMap& roles,
                  std::span<const std::string> hosts_by_rank, std::span<const MemoryRoom> rooms_by_rank);

// Queue pairs of data (--queue-pairs): which engines have them, and how many hosts can hold.

/// How many there are for each two ranks. Throws UsageError if the command line asks for what datagrams or
/// the engine of a measured run do not have; a scenario may do so, and gets a note.
void derive_queue_pairs(RunRequest& request);

/// Refuses a simulation in which a network card holds fewer than its ranks need (of a host of several, on
/// average). Throws UsageError.
void check_queue_pairs(const RunRequest& request, const core::Placement& placement);

/// Which of a rank's data leave by sockets with engine ucx, and how many files its process may open.
struct SocketRoom {
    std::uint64_t open_files = 0;  ///< 0: none of its data, for RDMA may carry them, or not known
    bool within_host = false;      ///< also those to ranks of its own host
};
/// `transports`: UCX_TLS, nullptr if it is not set; `has_rdma`: the host has a device for it.
SocketRoom socket_room(const char* transports, bool has_rdma, std::uint64_t most_open_files);

/// Files that a rank of the run has open at most if its data leave by sockets.
std::uint64_t open_files_needed(const RunRequest& request, const core::RoleMap& roles,
                                std::span<const std::string> hosts_by_rank, int rank, bool within_host);

/// Refuses a run in which a rank needs more files than its process may open. Throws UsageError that names the
/// host.
void check_open_files(const RunRequest& request, const core::RoleMap& roles,
                      std::span<const std::string> hosts_by_rank, std::span<const SocketRoom> rooms_by_rank);

}  // namespace weir::config
