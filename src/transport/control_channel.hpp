// How control packets get from rank to rank; one for each engine (mpi_control.hpp, ucx_control.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/transport.hpp"

namespace weir::transport {

class ControlChannel {
  public:
    /// 80 messages of 48 bytes. Below every eager limit, headers included: Open MPI's shared memory has 4096.
    static constexpr std::size_t packet_limit = 3840;

    ControlChannel() = default;
    ControlChannel(const ControlChannel&) = delete;
    ControlChannel& operator=(const ControlChannel&) = delete;
    virtual ~ControlChannel() = default;

    /// Copies and sends. Packets between two ranks arrive in order. Throws TransportError when too many
    /// packets are under way.
    virtual void send(Rank to, std::span<const std::byte> packet) = 0;
    /// Makes progress, and appends packets that arrived. Throws TransportError.
    virtual void poll(Polled& found) = 0;
    /// Packets that have not left.
    [[nodiscard]] virtual std::size_t under_way() const = 0;
    /// Nothing may be sent afterwards; packets that came after the last poll are lost. False: the deadline
    /// passed with something under way that cannot be withdrawn.
    virtual bool close(Deadline deadline) = 0;
};

}  // namespace weir::transport
