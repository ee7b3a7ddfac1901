// Engine `mpi`: what the transports over MPI have in common. Data and control have communicators of their
// own.
#pragma once

#include <mpi.h>
#include <memory>
#include <utility>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/mpi/mpi_control.hpp"
#include "transport/mpi/mpi_support.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

class MpiTransport : public TransportBase {
  protected:
    /// Collective over `comm`, which is duplicated and may be freed afterwards; rank r of it plays
    /// roles.node(r). MPI must be initialised. Throws TransportError, and what TransportBase throws.
    MpiTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan)
        : TransportBase(node_of_this_rank(comm, roles), roles, std::move(plan)),
          control_comm_(duplicate(comm)),
          data_comm_(duplicate(comm)) {
        auto control = std::make_unique<MpiControl>(control_comm_, control_receives(), control_sends());
        mpi_control_ = control.get();
        use_control(std::move(control));
    }

    /// Frees what MPI holds for data, the communicator apart; all ranks are in here. False: `deadline` came
    /// first.
    virtual bool release_data(Deadline deadline) = 0;
    bool release(Deadline deadline) final {
        if (!release_data(deadline)) {
            return false;
        }
        check_mpi(MPI_Comm_free(&data_comm_), "MPI_Comm_free");
        return true;
    }

    void begin_last_barrier() final {
        check_mpi(MPI_Ibarrier(control_comm_, &last_barrier_), "MPI_Ibarrier at the end");
    }

    [[nodiscard]] bool last_barrier_done() final {
        int done = 0;
        check_mpi(MPI_Test(&last_barrier_, &done, MPI_STATUS_IGNORE), "MPI_Ibarrier at the end");
        return done != 0;
    }

    void release_control() final { check_mpi(MPI_Comm_free(&control_comm_), "MPI_Comm_free"); }

    [[nodiscard]] bool works() const final {
        int finalized = 0;
        MPI_Finalized(&finalized);
        return finalized == 0;
    }

    /// For poll_data().
    [[nodiscard]] MpiControl& control() { return *mpi_control_; }

    MPI_Comm control_comm_ = MPI_COMM_NULL;
    MPI_Comm data_comm_ = MPI_COMM_NULL;

  private:
    MpiControl* mpi_control_ = nullptr;  ///< the base class owns it
    MPI_Request last_barrier_ = MPI_REQUEST_NULL;
};

/// What the files of these names tell. Collective, see MpiTransport. Each allocates the chunk buffers of this
/// rank's role, or finds out whether those that a window will hold can be had. Throw CapacityError and
/// TransportError, in both cases on this rank only.
std::unique_ptr<TransportBase> make_mpi_send(MPI_Comm comm, const core::RoleMap& roles,
                                             const core::Plan& plan);
std::unique_ptr<TransportBase> make_mpi_put(MPI_Comm comm, const core::RoleMap& roles,
                                            const core::Plan& plan);
std::unique_ptr<TransportBase> make_mpi_get(MPI_Comm comm, const core::RoleMap& roles,
                                            const core::Plan& plan);

}  // namespace weir::transport
