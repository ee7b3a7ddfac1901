// What carries the bytes of a measured run: MPI, or UCX directly. Simulations have none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weir::core {

enum class Engine : std::uint8_t {
    mpi,  ///< control packets and chunks over MPI
    ucx,  ///< both over UCP, each in a context of its own; MPI starts the ranks
};

struct EnginePlan {
    Engine engine = Engine::mpi;
    /// Engine ucx: the 8 bits of traffic class (DSCP and ECN) that RDMA packets carry; nothing: UCX chooses.
    std::optional<std::uint32_t> control_traffic_class;
    std::optional<std::uint32_t> data_traffic_class;
    /// Engine ucx: devices as UCX names them, separated by commas; empty: UCX chooses.
    std::string control_device;
    std::string data_device;
    /// Engine ucx: connections for the data of a producer and a consumer. Chunks take them in turn.
    std::uint32_t queue_pairs = 1;
};

}  // namespace weir::core
