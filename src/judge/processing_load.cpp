#include "judge/processing_load.hpp"

#include <algorithm>
#include <cmath>

#include "core/distribution.hpp"
#include "core/traffic_plan.hpp"

namespace weir::judge {

namespace {

/// Into which so many bytes are cut.
double events_of(const core::Plan& plan, core::Bytes bytes) {
    const double events =
        static_cast<double>(bytes.count) / std::max(1.0, core::expected_mean(plan.event_size));
    // Of sizes that vary the last one is cut anywhere.
    return plan.event_size.kind == core::DistributionKind::fixed ? std::ceil(events - 1e-9) : events + 0.5;
}

bool is_busy(const core::Plan& plan, std::uint32_t consumer) {
    return plan.busy_consumers.empty() ||
           std::binary_search(plan.busy_consumers.begin(), plan.busy_consumers.end(), consumer);
}

/// Its events in each second.
double share_of(const core::Plan& plan, std::uint32_t consumer, double events_per_second) {
    if (!plan.addressed()) {
        return events_per_second / plan.consumers;
    }
    double events = 0;
    for (const core::TrafficPlan::Incoming& incoming : plan.traffic->to(core::ConsumerId{consumer})) {
        events += events_of(plan, incoming.bytes);
    }
    return events / plan.interval.in_seconds();
}

}  // namespace

bool has_own_shares(const core::Plan& plan) {
    // What is for a consumer that was lost goes elsewhere.
    return plan.addressed() || (plan.policy == core::PolicyKind::round_robin && !plan.outlives_consumers);
}

double planned_events_per_second(const core::Plan& plan) {
    if (plan.addressed()) {
        double events = 0;
        for (std::uint32_t consumer = 0; consumer < plan.traffic->consumers(); ++consumer) {
            events += share_of(plan, consumer, 0);
        }
        return events;
    }
    const double of_producer = plan.generation == core::Generation::steady
                                   ? static_cast<double>(plan.rate.bits_per_second) / 8 /
                                         std::max(1.0, core::expected_mean(plan.event_size))
                                   : events_of(plan, plan.set_bytes()) / plan.interval.in_seconds();
    return of_producer * plan.producers / plan.fragments_per_event();
}

double ProcessingLoads::highest() const {
    return each.empty() ? all : *std::max_element(each.begin(), each.end());
}

ProcessingLoads processing_loads(const core::Plan& plan, double events_per_second,
                                 std::span<const double> slowness) {
    ProcessingLoads loads;
    if (plan.busy.kind == core::DistributionKind::none || plan.consumers == 0 ||
        plan.generation == core::Generation::saturate) {
        return loads;
    }
    const double usual_s = core::expected_mean(plan.busy) * 1e-9;
    const bool own_shares = has_own_shares(plan);
    double possible = 0;  // events in each second, by all
    bool all_busy = true;
    for (std::uint32_t consumer = 0; consumer < plan.consumers; ++consumer) {
        const double event_s = usual_s * (slowness.empty() ? 1 : slowness[consumer]);
        const bool busy = is_busy(plan, consumer) && event_s > 0;
        if (own_shares) {
            loads.each.push_back(busy ? share_of(plan, consumer, events_per_second) * event_s : 0);
        }
        all_busy = all_busy && busy;
        possible += busy ? 1 / event_s : 0;
    }
    loads.all = !own_shares && all_busy ? events_per_second / possible : 0;
    return loads;
}

}  // namespace weir::judge
