// Engine `mpi`: what the transports over MPI have in common. Data and control have communicators of their
// own.
#pragma once

#include <mpi.h>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/mpi_control.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

class MpiTransport : public TransportBase {
  protected:
    /// Collective, see TransportBase.
    MpiTransport(MPI_Comm comm, core::RoleMap roles, core::Plan plan);

    /// Frees what MPI holds for data, the communicator apart; all ranks are in here. False: `deadline` came
    /// first.
    virtual bool release_data(Deadline deadline) = 0;
    bool release(Deadline deadline) final;

    /// For poll_data().
    [[nodiscard]] MpiControl& control() { return *mpi_control_; }

    MPI_Comm data_comm_ = MPI_COMM_NULL;

  private:
    MpiControl* mpi_control_ = nullptr;  ///< the base class owns it
};

}  // namespace weir::transport
