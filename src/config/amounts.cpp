#include "config/amounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "config/groups.hpp"
#include "config/passes.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "core/distribution.hpp"
#include "core/plan_limits.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

using core::WideInteger;

/// For amounts that a core::Bytes may not hold.
std::string large_text(WideInteger bytes) {
    return files::bytes_text(static_cast<double>(bytes));
}

void check_bytes(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    const WideInteger bytes = core::bytes_of_run(plan) * number_of_groups(request);
    if (bytes <= core::bytes_limit.count) {
        return;
    }
    const bool from_file = request.traffic.form != TrafficDescription::Form::none;
    throw UsageError(
        "--duration: in {} and a --warmup of {}, {} are generated (producers: {}), and at most {} can be "
        "counted; make the duration shorter, or {}",
        files::exact(plan.duration), files::exact(plan.warmup), large_text(bytes),
        std::uint64_t{plan.producers} * number_of_groups(request), large_text(core::bytes_limit.count),
        from_file ? "the transfers of " + request.traffic.file + " smaller" : "--rate lower");
}

void check_events(const core::Plan& plan) {
    const double at_once = core::events_at_once(plan);
    const auto most = static_cast<double>(core::waiting_events_limit);
    if (at_once > most) {
        const double event = core::expected_mean(plan.event_size);
        throw UsageError(
            "--event-size: a producer generates {} events of {} at one instant, and at most {} can "
            "wait; make events at least {}, or --interval shorter",
            files::number(at_once), files::bytes_text(event), core::waiting_events_limit,
            files::exact(core::Bytes{static_cast<std::int64_t>(std::ceil(event * at_once / most))}));
    }
    const double event = std::max(1.0, core::expected_mean(plan.event_size));
    const double events = static_cast<double>(core::bytes_of_run(plan)) / plan.producers / event;
    if (events > static_cast<double>(core::EventId::sequence_limit)) {
        throw UsageError(
            "--event-size: a producer generates {} events in the run, and at most {} can be told apart; "
            "make events larger, or --duration shorter",
            files::number(events), core::EventId::sequence_limit);
    }
}

}  // namespace

void check_traffic_sum(std::string_view what, std::span<const core::TrafficPlan::Entry> transfers) {
    WideInteger bytes = 0;
    for (const core::TrafficPlan::Entry& entry : transfers) {
        bytes += entry.transfer.bytes.count;
    }
    if (bytes > core::bytes_limit.count) {
        throw UsageError(UsageError::Reach::this_host,
                         "{}: the {} transfers of an interval are {} in all, and at most {} can be counted; "
                         "make them smaller",
                         what, transfers.size(), large_text(bytes), large_text(core::bytes_limit.count));
    }
}

void check_amounts(RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (plan.generation == core::Generation::saturate) {
        return;
    }
    check_bytes(request);
    check_events(plan);
    const double event = std::max(1.0, core::expected_mean(plan.event_size));
    const double buffered = static_cast<double>(plan.buffer.count) / event;
    if (buffered > static_cast<double>(core::waiting_events_limit)) {
        request.notes.push_back(
            fmt::format("a buffer of {} has room for {} events of {}, but at most {} can wait: "
                        "when there are more, they are lost",
                        files::exact(plan.buffer), files::number(buffered), files::bytes_text(event),
                        core::waiting_events_limit));
    }
}

}  // namespace weir::config
