// The transports `send`, `put` and `get` over the engine `ucx`.
#pragma once

#include <memory>

#include "core/plan.hpp"
#include "transport/transport.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

/// `meeting` outlives the transport. Allocates and registers the chunk buffers of this rank's role. Throws
/// CapacityError and TransportError, in both cases on this rank only.
std::unique_ptr<TransportBase> make_ucx_transport(Meeting& meeting, const core::RoleMap& roles,
                                                  const core::Plan& plan, const core::EnginePlan& engine);

}  // namespace weir::transport
