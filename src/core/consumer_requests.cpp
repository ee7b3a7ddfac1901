// The consumer's part in initiation `pull`: it is told which event a slot is for, and asks for the
// fragments.
#include "core/consumer.hpp"

namespace weir::core {

bool Consumer::on(Instant /*now*/, NodeId from, const Assign& assign, Actions& out) {
    if (!plan_.pulls() || from != scheduler_node() || assign.slot.value >= slots_.size() ||
        (plan_.builds() ? assign.number >= EventId::sequence_limit
                        : assign.producer.value >= plan_.producers)) {
        return false;
    }
    Slot& slot = slots_[assign.slot.value];
    if (slot.state != SlotState::free || slot.assigned) {
        return false;
    }
    slot.assigned = true;
    slot.number = assign.number;
    if (!plan_.builds()) {
        slot.source = assign.producer;
    }
    const std::uint32_t first = plan_.order == SendOrder::barrel ? id_.value % fragments_ : 0;
    for (std::uint32_t step = 0; step < fragments_; ++step) {
        const std::uint32_t fragment = (first + step) % fragments_;
        to_ask_.push({plan_.builds() ? ProducerId{fragment} : assign.producer,
                      Grant{id_, plan_.place_of(assign.slot, fragment), plan_.builds() ? assign.number : 0}});
    }
    ask(out);
    return true;
}

/// Asks for what is to be asked for, as far as the limit lets it.
void Consumer::ask(Actions& out) {
    while (!to_ask_.empty() && asked_ < plan_.requests) {
        const Request request = to_ask_.pop();
        ++asked_;
        is_asked_[request.grant.place.value] = true;
        out.messages.push_back({node_of(request.producer), request.grant});
    }
}

}  // namespace weir::core
