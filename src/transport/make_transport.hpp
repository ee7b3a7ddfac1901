// Which transport a plan asks for.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/datagram_transport.hpp"
#include "transport/mpi_transport.hpp"

namespace weir::transport {

/// Collective; arguments and errors are those of the transports' constructors (mpi_transport.hpp).
[[nodiscard]] std::unique_ptr<MpiTransport> make_transport(MPI_Comm comm, const core::RoleMap& roles,
                                                           const core::Plan& plan,
                                                           const DatagramOptions& datagrams = {});

}  // namespace weir::transport
