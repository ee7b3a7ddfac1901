#include "transport/make_transport.hpp"

#include "transport/mpi_get_transport.hpp"
#include "transport/mpi_put_transport.hpp"
#include "transport/mpi_send_transport.hpp"

namespace weir::transport {

std::unique_ptr<TransportBase> make_transport(MPI_Comm comm, const core::RoleMap& roles,
                                              const core::Plan& plan, const DatagramOptions& datagrams) {
    switch (plan.transport) {
        case core::TransportKind::send:
            return std::make_unique<MpiSendTransport>(comm, roles, plan);
        case core::TransportKind::put:
            return std::make_unique<MpiPutTransport>(comm, roles, plan);
        case core::TransportKind::get:
            return std::make_unique<MpiGetTransport>(comm, roles, plan);
        case core::TransportKind::datagram:
            return std::make_unique<DatagramTransport>(comm, roles, plan, datagrams);
    }
    return nullptr;
}

}  // namespace weir::transport
