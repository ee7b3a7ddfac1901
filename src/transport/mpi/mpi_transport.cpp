#include "transport/mpi/mpi_transport.hpp"

#include <memory>
#include <utility>

#include "transport/mpi/mpi_support.hpp"

namespace weir::transport {

MpiTransport::MpiTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan)
    : TransportBase(node_of_this_rank(comm, roles), roles, std::move(plan)),
      control_comm_(duplicate(comm)),
      data_comm_(duplicate(comm)) {
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

void MpiTransport::begin_last_barrier() {
    check_mpi(MPI_Ibarrier(control_comm_, &last_barrier_), "MPI_Ibarrier at the end");
}

bool MpiTransport::last_barrier_done() {
    int done = 0;
    check_mpi(MPI_Test(&last_barrier_, &done, MPI_STATUS_IGNORE), "MPI_Ibarrier at the end");
    return done != 0;
}

void MpiTransport::release_control() {
    check_mpi(MPI_Comm_free(&control_comm_), "MPI_Comm_free");
}

bool MpiTransport::works() const {
    int finalized = 0;
    MPI_Finalized(&finalized);
    return finalized == 0;
}

}  // namespace weir::transport
