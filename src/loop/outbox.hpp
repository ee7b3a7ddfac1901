// Collects the control messages of one turn of the loop and sends all that go to one rank in one packet.
// Nothing is kept beyond the turn, so batching costs no latency; a later offer replaces an earlier
// one of the same packet, because offers are cumulative.
#pragma once

#include <cstdint>
#include <vector>

#include "core/actions.hpp"
#include "core/role_map.hpp"
#include "transport/transport.hpp"

namespace weir::loop {

class Outbox {
  public:
    Outbox(const core::RoleMap& roles, transport::Transport& transport);

    void add(const core::SendMessage& message);
    /// Sends everything collected.
    void flush();

    /// Packets sent so far, without heartbeats.
    [[nodiscard]] std::uint64_t packets() const { return packets_; }

  private:
    void send(std::size_t rank);

    const core::RoleMap& roles_;
    transport::Transport& transport_;
    std::size_t messages_per_packet_;
    std::vector<std::vector<core::ControlMessage>> by_rank_;
    std::vector<std::size_t> filled_;  ///< ranks with messages, in the order of their first
    std::vector<std::byte> packet_;
    std::uint64_t packets_ = 0;
};

}  // namespace weir::loop
