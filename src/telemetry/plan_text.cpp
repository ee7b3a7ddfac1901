#include "telemetry/plan_text.hpp"

#include <fmt/format.h>

#include "telemetry/formatting.hpp"

namespace weir::telemetry {

std::string load_text(const core::Plan& plan) {
    if (plan.generation == core::Generation::saturate) {
        return fmt::format("{} to {}, as fast as possible", counted(plan.producers, "producer"),
                           counted(plan.consumers, "consumer"));
    }
    if (plan.addressed()) {
        return fmt::format("{} to {}, {} of addressed events every {}", counted(plan.producers, "producer"),
                           counted(plan.consumers, "consumer"), readable(plan.traffic->total()),
                           readable(plan.interval));
    }
    return fmt::format("{} x {} to {}", counted(plan.producers, "producer"), readable(plan.rate),
                       counted(plan.consumers, "consumer"));
}

std::vector<std::string> last_set_lines(const core::Plan& plan) {
    if (plan.generation != core::Generation::sets || plan.interval.ns <= 0 || plan.duration.ns <= 0) {
        return {};
    }
    const std::int64_t sets = (plan.duration.ns - 1) / plan.interval.ns + 1;
    const core::Duration left{plan.duration.ns - (sets - 1) * plan.interval.ns};
    if (left == plan.interval) {
        return {};
    }
    std::vector<std::string> lines{fmt::format(
        "a duration of {} is not a multiple of the interval of {}: set {} of {} comes {} before the end",
        readable(plan.duration), readable(plan.interval), sets, sets, readable(left))};
    if (left + plan.drain < plan.interval) {
        lines.push_back(
            fmt::format("the drain takes up to {} and not {}, so that this set has its whole interval",
                        readable(plan.interval - left), readable(plan.drain)));
    }
    return lines;
}

}  // namespace weir::telemetry
