// Collects the control messages of one turn of the loop and sends all that go to one rank in one packet.
// Nothing is kept beyond the turn, so batching costs no latency; a later offer replaces an earlier
// one of the same packet, because offers are cumulative.
#pragma once

#include <cstdint>
#include <vector>

#include "core/actions.hpp"
#include "core/role_map.hpp"
#include "job/packet.hpp"
#include "transport/transport.hpp"

namespace weir::loop {

class Outbox {
  public:
    Outbox(const core::RoleMap& roles, transport::Transport& transport)
        : roles_(roles),
          transport_(transport),
          messages_per_packet_((transport.packet_limit() - sizeof(job::PacketHead)) /
                               sizeof(core::ControlMessage)),
          by_rank_(static_cast<std::size_t>(roles.ranks())) {
        WEIR_ASSERT(messages_per_packet_ > 0);
    }

    void add(const core::SendMessage& message) {
        const auto rank = static_cast<std::size_t>(roles_.rank(message.to));
        auto& waiting = by_rank_[rank];
        if (waiting.empty()) {
            filled_.push_back(rank);
        } else if (replaces(message.message, waiting.back())) {
            waiting.back() = message.message;
            return;
        }
        waiting.push_back(message.message);
        if (waiting.size() == messages_per_packet_) {
            send(rank);
        }
    }

    /// Sends everything collected.
    void flush() {
        for (const std::size_t rank : filled_) {
            if (!by_rank_[rank].empty()) {
                send(rank);
            }
        }
        filled_.clear();
    }

    /// Packets sent so far, without heartbeats.
    [[nodiscard]] std::uint64_t packets() const { return packets_; }

  private:
    /// A later offer contains all of an earlier one; of addressed events, if it is for the same consumer.
    [[nodiscard]] static bool replaces(const core::ControlMessage& later,
                                       const core::ControlMessage& earlier) {
        const auto* const new_offer = std::get_if<core::Offer>(&later);
        const auto* const old_offer = std::get_if<core::Offer>(&earlier);
        return new_offer != nullptr && old_offer != nullptr && new_offer->to == old_offer->to;
    }

    void send(std::size_t rank) {
        auto& waiting = by_rank_[rank];
        packets_ += std::holds_alternative<core::Heartbeat>(waiting.front()) ? 0 : 1;
        job::encode_packet(job::PacketKind::control, std::span<const core::ControlMessage>(waiting), packet_);
        waiting.clear();
        transport_.send_packet({static_cast<int>(rank)}, packet_);
    }

    const core::RoleMap& roles_;
    transport::Transport& transport_;
    std::size_t messages_per_packet_;
    std::vector<std::vector<core::ControlMessage>> by_rank_;
    std::vector<std::size_t> filled_;  ///< ranks with messages, in the order of their first
    std::vector<std::byte> packet_;
    std::uint64_t packets_ = 0;
};

}  // namespace weir::loop
