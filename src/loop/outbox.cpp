#include "loop/outbox.hpp"

#include "job/packet.hpp"

namespace weir::loop {

namespace {

/// A later offer contains all of an earlier one; of addressed events, if it is for the same consumer.
bool replaces(const core::ControlMessage& later, const core::ControlMessage& earlier) {
    const auto* const new_offer = std::get_if<core::Offer>(&later);
    const auto* const old_offer = std::get_if<core::Offer>(&earlier);
    return new_offer != nullptr && old_offer != nullptr && new_offer->to == old_offer->to;
}

}  // namespace

Outbox::Outbox(const core::RoleMap& roles, transport::Transport& transport)
    : roles_(roles),
      transport_(transport),
      messages_per_packet_((transport.packet_limit() - sizeof(job::PacketHead)) /
                           sizeof(core::ControlMessage)),
      by_rank_(static_cast<std::size_t>(roles.ranks())) {
    WEIR_ASSERT(messages_per_packet_ > 0);
}

void Outbox::add(const core::SendMessage& message) {
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

void Outbox::send(std::size_t rank) {
    auto& waiting = by_rank_[rank];
    packets_ += std::holds_alternative<core::Heartbeat>(waiting.front()) ? 0 : 1;
    job::encode_packet(job::PacketKind::control, std::span<const core::ControlMessage>(waiting), packet_);
    waiting.clear();
    transport_.send_packet({static_cast<int>(rank)}, packet_);
}

void Outbox::flush() {
    for (const std::size_t rank : filled_) {
        if (!by_rank_[rank].empty()) {
            send(rank);
        }
    }
    filled_.clear();
}

}  // namespace weir::loop
