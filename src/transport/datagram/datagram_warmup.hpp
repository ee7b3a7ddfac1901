// Warm-up of the transport `datagram`: all ranks exchange their addresses over MPI, and every producer sends
// datagrams, as long as those of the run, to every consumer until that one has reported over MPI that one
// arrived. So a firewall, or a path that does not take datagrams of this length, is found before anything is
// measured, and addresses of neighbours are resolved.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/datagram/datagram_header.hpp"
#include "transport/datagram/datagram_socket.hpp"
#include "transport/warmup.hpp"

namespace weir::transport {

/// What every rank has of all others after it.
struct DatagramPeers {
    std::uint64_t run = 0;             ///< number of this run
    std::vector<DatagramHost> hosts;   ///< by rank
    std::vector<std::uint16_t> ports;  ///< by rank
    std::vector<Endpoint> consumers;   ///< producer: where each one is reached
    std::vector<std::int64_t> mtus;    ///< producer: of each consumer's interface, in bytes
};

struct DatagramSetup {
    MPI_Comm data;                              ///< not used for anything else before the end
    DatagramSocket* socket;                     ///< none on the scheduler's rank
    const std::vector<HostAddress>& addresses;  ///< of this rank
    bool by_default;                            ///< no network was asked for
    const std::string& host;                    ///< DatagramOptions::host
    DatagramPeers& peers;                       ///< filled in
    DatagramForm& form;                         ///< filled in
};

std::unique_ptr<Warmup> make_datagram_warmup(const Warmup::Parts& parts, const DatagramSetup& network);

}  // namespace weir::transport
