#include "config/derive_engine.hpp"

#include <fmt/format.h>

#include "config/queue_pairs.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

void choose_engine(RunRequest& request) {
    core::EnginePlan& engine = request.engine;
    if (!request.join.host.empty()) {
        if (request.origin("engine") != Origin::preset && engine.engine == core::Engine::mpi) {
            throw UsageError("--join: starts without MPI, so it needs the engine ucx; leave --engine out");
        }
        engine.engine = core::Engine::ucx;
    }
    for (const char* option : {"join-token", "ranks"}) {
        if (request.join.host.empty() && request.given(option)) {
            throw UsageError(fmt::format("--{}: belongs to --join HOST:PORT, which is missing", option));
        }
    }
    if (engine.engine == core::Engine::ucx && request.plan.transport == core::TransportKind::datagram) {
        throw UsageError("--engine: ucx carries --transport send, put and get; leave it out with datagram");
    }
}

}  // namespace

void derive_engine(RunRequest& request) {
    choose_engine(request);
    derive_queue_pairs(request);
    if (request.engine.engine == core::Engine::ucx) {
        return;
    }
    for (const char* option :
         {"control-traffic-class", "data-traffic-class", "control-device", "data-device"}) {
        if (request.given(option) && request.origin(option) >= request.origin("engine")) {
            throw UsageError(fmt::format("--{}: needs --engine ucx; MPI has one for all", option));
        }
    }
    request.engine = {};
}

}  // namespace weir::config
