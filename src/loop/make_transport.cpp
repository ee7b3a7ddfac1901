#include "loop/make_transport.hpp"

#include "transport/mpi/mpi_transport.hpp"
#ifdef WEIR_HAVE_UCX
#include "transport/ucx/ucx_api.hpp"
#include "transport/ucx/ucx_transport.hpp"
#endif

namespace weir::transport {

namespace {

std::unique_ptr<TransportBase> make_ucx(Meeting& meeting, const core::RoleMap& roles, const core::Plan& plan,
                                        const core::EnginePlan& engine) {
#ifdef WEIR_HAVE_UCX
    return make_ucx_transport(meeting, roles, plan, engine);
#else
    static_cast<void>(meeting), static_cast<void>(roles), static_cast<void>(plan), static_cast<void>(engine);
    throw TransportError("--engine ucx", Rank{}, why_no_ucx());
#endif
}

}  // namespace

std::string why_no_ucx() {
#ifdef WEIR_HAVE_UCX
    try {
        static_cast<void>(UcxApi::loaded());
        return {};
    } catch (const TransportError& error) {
        return error.what();
    }
#else
    return "this weir was built without UCX; install its headers (Debian: libucx-dev, 1.13 or later) and "
           "build "
           "it again, or use the engine mpi";
#endif
}

std::unique_ptr<TransportBase> make_transport(MPI_Comm comm, Meeting& meeting, const core::RoleMap& roles,
                                              const core::Plan& plan, const TransportOptions& options) {
    if (options.engine.engine == core::Engine::ucx) {
        return make_ucx(meeting, roles, plan, options.engine);
    }
    switch (plan.transport) {
        case core::TransportKind::send:
            return make_mpi_send(comm, roles, plan);
        case core::TransportKind::put:
            return make_mpi_put(comm, roles, plan);
        case core::TransportKind::get:
            return make_mpi_get(comm, roles, plan);
        case core::TransportKind::datagram:
            return make_datagrams(comm, roles, plan, options.datagrams);
    }
    return nullptr;
}

}  // namespace weir::transport
