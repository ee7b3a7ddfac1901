#include "core/fragment_losses.hpp"

#include <algorithm>

namespace weir::core {

FragmentLosses::FragmentLosses(const Plan& plan)
    : builds_(plan.builds()),
      producers_(plan.producers),
      timeout_(plan.fragment_timeout),
      most_asked_(plan.reasks),
      overdue_(plan.places()),
      asked_(plan.places(), 0),
      over_(std::size_t{plan.slots} * plan.producers, 0) {}

Instant FragmentLosses::next_deadline() const {
    return overdue_.empty() ? Instant::never() : Instant{overdue_.key(overdue_.top())};
}

std::optional<PlaceId> FragmentLosses::ask_again(Instant now, std::span<const FragmentPlace> places,
                                                 Actions& out) {
    while (next_deadline() <= now) {
        const PlaceId place{overdue_.top()};
        if (asked_[place.value] == most_asked_) {
            return place;
        }
        // Until the producer has sent it again there is nothing to wait for.
        overdue_.erase(place.value);
        ++asked_[place.value];
        const FragmentPlace& fragment = places[place.value];
        const NodeId producer = node_of(fragment.event().producer());
        out.messages.emplace_back(producer, SendAgain{fragment.event(), place});
        out.observe({.kind = Observation::Kind::asked_again,
                     .peer = producer,
                     .event = fragment.event(),
                     .bytes = fragment.bytes(),
                     .elapsed = {}});
    }
    return std::nullopt;
}

void FragmentLosses::give_up(const FragmentPlace& fragment, Actions& out) {
    const EventId event = fragment.event();
    if (given_up_.size() < given_up_limit) {
        given_up_.push_back(event);
    }
    out.observe({.kind = Observation::Kind::given_up,
                 .peer = node_of(event.producer()),
                 .event = event,
                 .bytes = fragment.bytes(),
                 .elapsed = {}});
}

void FragmentLosses::complete(PlaceId place, EventId event, Actions& out) {
    overdue_.erase(place.value);
    std::uint64_t& over = over_[over_index(place, event)];
    over = std::max(over, event.sequence() + 1);
    if (most_asked_ > 0) {
        out.messages.emplace_back(node_of(event.producer()), Taken{event, place});
    }
}

}  // namespace weir::core
