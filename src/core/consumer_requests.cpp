// The consumer's part in initiation `pull`: it is told which event a slot is for, and asks for the
// fragments.
#include "core/consumer.hpp"

namespace weir::core {

bool Consumer::on_assign(NodeId from, const ControlMessage& message, Actions& out) {
    if (!pulls() || from != scheduler_node() || message.slot >= slots_.size() ||
        (builds() ? message.events >= EventId::sequence_limit : message.node >= plan_.producers)) {
        return false;
    }
    Slot& slot = slots_[message.slot];
    if (slot.state != SlotState::free || slot.assigned) {
        return false;
    }
    slot.assigned = true;
    slot.number = message.events;
    if (!builds()) {
        slot.source = ProducerId{message.node};
    }
    const std::uint32_t first = plan_.order == SendOrder::barrel ? id_.value % fragments_ : 0;
    for (std::uint32_t step = 0; step < fragments_; ++step) {
        const std::uint32_t fragment = (first + step) % fragments_;
        to_ask_.push({{builds() ? fragment : message.node},
                      plan_.place_of({message.slot}, fragment),
                      builds() ? message.events : 0});
    }
    ask(out);
    return true;
}

/// Asks for what is to be asked for, as far as the limit lets it.
void Consumer::ask(Actions& out) {
    while (!to_ask_.empty() && asked_ < plan_.requests) {
        const Request request = to_ask_.pop();
        ++asked_;
        is_asked_[request.place.value] = true;
        out.messages.push_back({node_of(request.producer),
                                {.kind = MessageKind::grant,
                                 .node = id_.value,
                                 .slot = request.place.value,
                                 .events = request.number}});
    }
}

}  // namespace weir::core
