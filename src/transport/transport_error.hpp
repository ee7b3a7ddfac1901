// What a transport throws. Two types, because they mean different things to a user: a network or peer that
// failed, and a plan that does not fit into this host's memory.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "transport/transport.hpp"

namespace weir::transport {

/// An operation of the underlying library failed. The run cannot go on.
class TransportError : public std::runtime_error {
  public:
    /// `operation` is the failed call, `peer` the rank it concerned (-1: none or not known).
    TransportError(const std::string& operation, Rank peer, const std::string& reason)
        : std::runtime_error(operation + (peer.value >= 0 ? " with rank " + std::to_string(peer.value) : "") +
                             ": " + reason),
          operation_(operation),
          peer_(peer) {}

    /// Control packets still go: only data for this peer does not. The transport reports it once per peer.
    [[nodiscard]] bool control_works() const { return control_works_; }
    TransportError&& that_leaves_control() && {
        control_works_ = true;
        return std::move(*this);
    }

    [[nodiscard]] const std::string& operation() const { return operation_; }
    [[nodiscard]] Rank peer() const { return peer_; }

  private:
    std::string operation_;
    Rank peer_;
    bool control_works_ = false;
};

/// Buffers could not be allocated, or the plan needs more than the transport can do. The message names the
/// sizes and the options to change.
class CapacityError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace weir::transport
