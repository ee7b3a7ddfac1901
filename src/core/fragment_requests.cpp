#include "core/fragment_requests.hpp"

namespace weir::core {

FragmentRequests::FragmentRequests(const Plan& plan, ConsumerId self)
    : self_(self), limit_(plan.requests), queue_(plan.places()), waiting_(plan.places(), false) {
    WEIR_ASSERT(limit_ > 0);
}

void FragmentRequests::add(const Plan& plan, const Assign& assign, Actions& out) {
    const std::uint32_t fragments = plan.fragments_per_event();
    const std::uint32_t first = plan.order == SendOrder::barrel ? self_.value % fragments : 0;
    for (std::uint32_t step = 0; step < fragments; ++step) {
        const std::uint32_t fragment = (first + step) % fragments;
        queue_.push({plan.builds() ? ProducerId{fragment} : assign.producer,
                     Grant{self_, plan.place_of(assign.slot, fragment), plan.builds() ? assign.number : 0}});
    }
    send(out);
}

void FragmentRequests::send(Actions& out) {
    while (!queue_.empty() && sent_ < limit_) {
        const Request request = queue_.pop();
        ++sent_;
        waiting_[request.grant.place.value] = true;
        out.messages.emplace_back(node_of(request.producer), request.grant);
    }
}

void FragmentRequests::complete(PlaceId place, Actions& out) {
    WEIR_ASSERT(sent_ > 0 && is_waiting(place));
    waiting_[place.value] = false;
    --sent_;
    send(out);
}

}  // namespace weir::core
