#include "transport/ucx_availability.hpp"

#ifdef WEIR_HAVE_UCX
#include "transport/transport_error.hpp"
#include "transport/ucx_api.hpp"
#endif

namespace weir::transport {

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

}  // namespace weir::transport
