#include "transport/mpi_transport.hpp"

#include <memory>
#include <utility>

#include "transport/mpi_support.hpp"

namespace weir::transport {

MpiTransport::MpiTransport(MPI_Comm comm, core::RoleMap roles, core::Plan plan)
    : TransportBase(comm, std::move(roles), std::move(plan)), data_comm_(duplicate(comm)) {
    auto control = std::make_unique<MpiControl>(control_comm_, control_receives(), control_sends());
    mpi_control_ = control.get();
    use_control(std::move(control));
}

bool MpiTransport::release(Deadline deadline) {
    if (!release_data(deadline)) {
        return false;
    }
    check_mpi(MPI_Comm_free(&data_comm_), "MPI_Comm_free");
    return true;
}

}  // namespace weir::transport
