#include "simulation/dependency_checker.hpp"

#include <fmt/format.h>

namespace weir::simulation {

using core::Bytes;
using core::Instant;

DependencyChecker::DependencyChecker(const core::Plan& plan) : interval_(plan.interval) {
    const core::TrafficPlan& traffic = *plan.traffic;
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        for (const core::TrafficPlan::Input& input : traffic.inputs_of({producer})) {
            const core::AddressedTransfer& waits = traffic.of({producer})[input.transfer];
            const core::TrafficPlan::Incoming& needed = traffic.to({producer})[input.incoming];
            inputs_[{producer, waits.to.value, waits.at}].push_back(
                {{needed.from.value, producer, needed.at}, needed.bytes, input.compute});
        }
    }
}

void DependencyChecker::generated(core::EventId event, core::ConsumerId to, Instant at) {
    const std::int64_t interval = core::periods_until(at, interval_);
    events_[event.value] = {{event.producer().value, to.value, at - Instant{} - interval_ * interval},
                            interval};
}

void DependencyChecker::received(Instant now, core::EventId event, Bytes bytes) {
    if (const auto found = events_.find(event.value); found != events_.end()) {
        Arrived& arrived = arrived_[found->second];
        arrived.bytes += bytes;
        arrived.last = now;
        events_.erase(found);
    }
}

DependencyChecker::MaybeObjection DependencyChecker::started(Instant now, core::EventId event) const {
    const auto found = events_.find(event.value);
    const auto waits = found == events_.end() ? inputs_.end() : inputs_.find(found->second.name);
    if (waits == inputs_.end()) {
        return std::nullopt;
    }
    for (const Input& input : waits->second) {
        const auto arrived = arrived_.find({input.name, found->second.interval});
        const Bytes bytes = arrived == arrived_.end() ? Bytes{} : arrived->second.bytes;
        if (bytes != input.bytes || now < arrived->second.last + input.compute) {
            return fmt::format(
                "producer {} begins event {} although its worker has {} of the {} bytes of an input from "
                "producer "
                "{}, or has not computed for {} ns since",
                event.producer().value, event.sequence(), bytes.count, input.bytes.count,
                std::get<0>(input.name), input.compute.ns);
        }
    }
    return std::nullopt;
}

}  // namespace weir::simulation
