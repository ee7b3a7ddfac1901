#include "simulation/set_oracle.hpp"

namespace weir::simulation {

using core::Bytes;
using core::EventId;
using core::Instant;

void SetOracle::generated(EventId event, Bytes bytes, Instant generated_at) {
    if (!has_deadlines_) {
        return;
    }
    ProducerEvents& producer = producers_[event.producer().value];
    if (producer.events.empty()) {
        producer.first = event.sequence();
    }
    WEIR_ASSERT(event.sequence() == producer.first + producer.events.size());
    if (generated_at >= Instant{} && generated_at < end_) {
        producer.events.push({bytes, generated_at + interval_});
        const std::int64_t set = generated_at.ns / interval_.ns;
        sets_ += set != producer.newest_set ? 1 : 0;
        producer.newest_set = set;
    } else if (!producer.events.empty()) {
        producer.events.push({});
    }
}

SetOracle::Event* SetOracle::find(EventId event) {
    ProducerEvents& producer = producers_[event.producer().value];
    const std::uint64_t position = event.sequence() - producer.first;  // of those before: beyond all
    if (position >= producer.events.size()) {
        return nullptr;
    }
    Event& found = producer.events.at(position);
    return found.deadline == Instant::never() ? nullptr : &found;
}

void SetOracle::forget(EventId event) {
    Event* const found = find(event);
    if (found == nullptr) {
        return;
    }
    found->deadline = Instant::never();
    ProducerEvents& producer = producers_[event.producer().value];
    while (!producer.events.empty() && producer.events.front().deadline == Instant::never()) {
        producer.events.pop();
        ++producer.first;
    }
}

void SetOracle::left(Instant now, EventId event, Bytes bytes) {
    Event* const found = find(event);
    if (found != nullptr && (found->left -= bytes) == Bytes{}) {
        released(now, event);
    }
}

void SetOracle::released(Instant now, EventId event) {
    const Event* const found = find(event);
    if (found == nullptr) {
        return;
    }
    if (now > found->deadline) {
        late_.emplace(event.producer().value, (found->deadline - interval_).ns / interval_.ns);
    }
    forget(event);
}

}  // namespace weir::simulation
