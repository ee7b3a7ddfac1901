// Which transports UCX really took, out of its own log at level `info`. It is the only place where UCX writes
// a program that does not hold its handles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::host {

struct UcxLanes {
    std::vector<std::string> within;   ///< "sysv/memory"; ranks of one host
    std::vector<std::string> between;  ///< "rc_verbs/rxe0:1", "tcp/eth0"
};

/// The lanes of all connections in a log; each once. UCX writes, by version,
///   "ep_cfg[1]: tag(rc_verbs/rxe0:1)" or "ucp_context_0 inter-node cfg#1 tag(tcp/eth0)".
UcxLanes lanes_in(std::string_view log);

/// Whether a lane is RDMA.
bool is_rdma_lane(std::string_view lane);

}  // namespace weir::host
