// Which transport a plan asks for.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/datagram_transport.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

/// Collective; arguments and errors are those of the transports' constructors (transport_base.hpp).
[[nodiscard]] std::unique_ptr<TransportBase> make_transport(MPI_Comm comm, const core::RoleMap& roles,
                                                            const core::Plan& plan,
                                                            const DatagramOptions& datagrams = {});

}  // namespace weir::transport
