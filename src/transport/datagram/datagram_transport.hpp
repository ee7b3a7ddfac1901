// Transport `datagram`: a chunk is one UDP datagram.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "transport/transport_base.hpp"

namespace weir::transport {

/// What of it is not in the plan.
struct DatagramOptions {
    core::Bytes socket_buffer;  ///< asked of the kernel, for sending and receiving; 0: its default
    std::string network;        ///< name of an interface, or a network like 10.0.0.0/8; empty: chosen
    /// Name of the host of this rank, unique among hosts: ranks on one host use loopback. Empty: the name
    /// that the system has.
    std::string host = {};
};

/// Collective, see MpiTransport. Opens the socket and allocates a producer's chunk buffers. Throws
/// CapacityError and TransportError, in both cases on this rank only.
std::unique_ptr<TransportBase> make_datagrams(MPI_Comm comm, const core::RoleMap& roles,
                                              const core::Plan& plan, const DatagramOptions& options);

}  // namespace weir::transport
