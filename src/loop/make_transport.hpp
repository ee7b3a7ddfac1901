// Makes the transport of a plan.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "core/plan.hpp"
#include "transport/datagram/datagram_transport.hpp"
#include "transport/transport.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

/// What of it is not in the plan.
struct TransportOptions {
    DatagramOptions datagrams;
    core::EnginePlan engine;
};

/// Why `--engine ucx` is not possible here, in one sentence with what would help; empty: it is. Loads
/// the library.
[[nodiscard]] std::string why_no_ucx();

/// Collective; arguments and errors are those of the transports' constructors. `meeting` outlives the
/// transport. Engine ucx: with the transport `send` only, and only where why_no_ucx() has no reason; it does
/// not use `comm`, which may be MPI_COMM_NULL then.
[[nodiscard]] std::unique_ptr<TransportBase> make_transport(MPI_Comm comm, Meeting& meeting,
                                                            const core::RoleMap& roles,
                                                            const core::Plan& plan,
                                                            const TransportOptions& options = {});

}  // namespace weir::transport
