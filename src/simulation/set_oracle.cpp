#include "simulation/set_oracle.hpp"

namespace weir::simulation {

using core::Bytes;
using core::EventId;
using core::Instant;

bool SetOracle::counts(Instant generated_at) const {
    return has_deadlines_ && generated_at >= Instant{} && generated_at < end_;
}

SetOracle::SetName SetOracle::set_of(EventId event, Instant generated_at) const {
    return {event.producer().value, generated_at.ns / interval_.ns};
}

void SetOracle::generated(EventId event, Bytes bytes, Instant generated_at) {
    if (counts(generated_at)) {
        events_[event.value] = {bytes, generated_at};
        sets_.insert(set_of(event, generated_at));
    }
}

void SetOracle::left(Instant now, EventId event, Bytes bytes) {
    const auto found = events_.find(event.value);
    if (found == events_.end()) {
        return;
    }
    found->second.left -= bytes;
    if (found->second.left == Bytes{}) {
        released(now, event);
    }
}

void SetOracle::released(Instant now, EventId event) {
    const auto found = events_.find(event.value);
    if (found == events_.end()) {
        return;
    }
    if (now > found->second.generated_at + interval_) {
        late_.insert(set_of(event, found->second.generated_at));
    }
    events_.erase(found);
}

void SetOracle::dropped(EventId event) {
    events_.erase(event.value);
}

void SetOracle::left_over(EventId event) {
    const auto found = events_.find(event.value);
    if (found != events_.end()) {
        late_.insert(set_of(event, found->second.generated_at));
        events_.erase(found);
    }
}

}  // namespace weir::simulation
