#include "show/plan_text.hpp"

#include <fmt/format.h>

#include "files/formatting.hpp"

namespace weir::show {

std::string load_text(const core::Plan& plan) {
    if (plan.generation == core::Generation::saturate) {
        return fmt::format("{} to {}, as fast as possible", files::counted(plan.producers, "producer"),
                           files::counted(plan.consumers, "consumer"));
    }
    if (plan.addressed()) {
        return fmt::format("{} to {}, {} of addressed events every {}",
                           files::counted(plan.producers, "producer"),
                           files::counted(plan.consumers, "consumer"), files::readable(plan.traffic->total()),
                           files::readable(plan.interval));
    }
    return fmt::format("{} x {} to {}", files::counted(plan.producers, "producer"),
                       files::readable(plan.rate), files::counted(plan.consumers, "consumer"));
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
        files::readable(plan.duration), files::readable(plan.interval), sets, sets, files::readable(left))};
    if (left + plan.drain < plan.interval) {
        lines.push_back(
            fmt::format("the drain takes up to {} and not {}, so that this set has its whole interval",
                        files::readable(plan.interval - left), files::readable(plan.drain)));
    }
    return lines;
}

}  // namespace weir::show
