#include "loop/make_transport.hpp"

#include "transport/mpi/mpi_get_transport.hpp"
#include "transport/mpi/mpi_put_transport.hpp"
#include "transport/mpi/mpi_send_transport.hpp"
#ifdef WEIR_HAVE_UCX
#include "transport/ucx/ucx_api.hpp"
#include "transport/ucx/ucx_transport.hpp"
#endif

namespace weir::transport {

namespace {

std::unique_ptr<TransportBase> make_ucx(Meeting& meeting, const core::RoleMap& roles, const core::Plan& plan,
                                        const core::EnginePlan& engine) {
#ifdef WEIR_HAVE_UCX
    return std::make_unique<UcxTransport>(meeting, roles, plan, engine);
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
            return std::make_unique<MpiSendTransport>(comm, roles, plan);
        case core::TransportKind::put:
            return std::make_unique<MpiPutTransport>(comm, roles, plan);
        case core::TransportKind::get:
            return std::make_unique<MpiGetTransport>(comm, roles, plan);
        case core::TransportKind::datagram:
            return std::make_unique<DatagramTransport>(comm, roles, plan, options.datagrams);
    }
    return nullptr;
}

}  // namespace weir::transport
