#include "simulation/set_oracle.hpp"

namespace weir::simulation {

using core::Bytes;
using core::EventId;
using core::Instant;

void SetOracle::generated(EventId event, Bytes bytes, Instant generated_at) {
    if (has_deadlines_ && generated_at >= Instant{} && generated_at < end_) {
        const SetName set{event.producer().value, generated_at.ns / interval_.ns};
        events_[event.value] = {bytes, generated_at + interval_, set};
        sets_.insert(set);
    }
}

void SetOracle::left(Instant now, EventId event, Bytes bytes) {
    const auto found = events_.find(event.value);
    if (found != events_.end() && (found->second.left -= bytes) == Bytes{}) {
        released(now, event);
    }
}

void SetOracle::released(Instant now, EventId event) {
    const auto found = events_.find(event.value);
    if (found != events_.end()) {
        if (now > found->second.deadline) {
            late_.insert(found->second.set);
        }
        events_.erase(found);
    }
}

}  // namespace weir::simulation
