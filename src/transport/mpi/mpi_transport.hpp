// Engine `mpi`: what the transports over MPI have in common. Data and control have communicators of their
// own.
#pragma once

#include <mpi.h>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/mpi/mpi_control.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

class MpiTransport : public TransportBase {
  protected:
    /// Collective over `comm`, which is duplicated and may be freed afterwards; rank r of it plays
    /// roles.node(r). MPI must be initialised. Throws TransportError, and what TransportBase throws.
    MpiTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan);

    /// Frees what MPI holds for data, the communicator apart; all ranks are in here. False: `deadline` came
    /// first.
    virtual bool release_data(Deadline deadline) = 0;
    bool release(Deadline deadline) final;
    void begin_last_barrier() final;
    [[nodiscard]] bool last_barrier_done() final;
    void release_control() final;
    [[nodiscard]] bool works() const final;

    /// For poll_data().
    [[nodiscard]] MpiControl& control() { return *mpi_control_; }

    MPI_Comm control_comm_ = MPI_COMM_NULL;
    MPI_Comm data_comm_ = MPI_COMM_NULL;

  private:
    MpiControl* mpi_control_ = nullptr;  ///< the base class owns it
    MPI_Request last_barrier_ = MPI_REQUEST_NULL;
};

}  // namespace weir::transport
