// Which transport a plan asks for.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/engine_plan.hpp"
#include "transport/datagram_transport.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

/// What of it is not in the plan.
struct TransportOptions {
    DatagramOptions datagrams;
    core::EnginePlan engine;
};

/// Collective; arguments and errors are those of the transports' constructors (transport_base.hpp). Engine
/// ucx: with the transport `send` only, and only where why_no_ucx() has no reason.
[[nodiscard]] std::unique_ptr<TransportBase> make_transport(MPI_Comm comm, const core::RoleMap& roles,
                                                            const core::Plan& plan,
                                                            const TransportOptions& options = {});

}  // namespace weir::transport
