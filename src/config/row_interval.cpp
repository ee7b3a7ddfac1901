#include "config/passes.hpp"

#include "config/limits.hpp"
#include "config/passes.hpp"
#include "config/role_assignment.hpp"

namespace weir::config {

namespace {

using core::Bytes;
using core::Duration;

constexpr Duration one_second = Duration::seconds(1);

// A line with a begin of five digits, and a rate near 1 Tb/s.
constexpr Bytes producer_row{58};
constexpr Bytes consumer_row{42};
constexpr Bytes scheduler_row{46};

/// Whole parts of a second in whole 10 ms.
constexpr int lengths_ms[] = {10, 20, 40, 50, 100, 200, 250, 500};

// For a short run without --row-interval.
constexpr Duration short_run_time = Duration::seconds(20);
constexpr std::int64_t short_run_wanted = 50;
constexpr std::int64_t short_run_least = 20;
constexpr std::uint64_t short_run_ranks = 1000;
constexpr Bytes short_run_bytes{std::int64_t{64} << 20};

/// All ranks' rows of one interval.
Bytes bytes_per_interval(const core::Plan& plan) {
    return producer_row * plan.producers + consumer_row * plan.consumers + scheduler_row;
}

/// The shortest interval above the plan's with which it fits; 1 s: with none.
Duration fitting_interval(core::Plan plan) {
    for (const int milliseconds : lengths_ms) {
        const auto longer = Duration::milliseconds(milliseconds);
        if (longer > plan.row_interval) {
            plan.row_interval = longer;
            if (burst_need(plan).bytes <= burst_bytes_limit) {
                return longer;
            }
        }
    }
    return one_second;
}

/// 0: rows of seconds are enough, or the layout is not known, or short ones would be too many.
Duration interval_of_short_run(const RunRequest& request) {
    core::Plan plan = request.plan;
    const std::uint64_t ranks = std::uint64_t{1} + plan.producers + plan.consumers;
    if (plan.producers == 0 || plan.consumers == 0 || plan.duration >= short_run_time ||
        ranks * number_of_groups(request) > short_run_ranks) {
        return {};
    }
    Duration chosen;
    for (const int milliseconds : lengths_ms) {
        plan.row_interval = Duration::milliseconds(milliseconds);
        const std::int64_t points = plan.duration.ns / plan.row_interval.ns;
        // There may be fewer rows of 10 ms: shorter ones do not exist.
        const std::int64_t least = chosen.ns > 0        ? short_run_wanted
                                   : milliseconds == 10 ? 2
                                                        : short_run_least;
        if (points >= least && burst_need(plan).bytes <= short_run_bytes) {
            chosen = plan.row_interval;
        }
    }
    return chosen;
}

}  // namespace

BurstNeed burst_need(const core::Plan& plan) {
    const std::int64_t intervals = one_second.ns / plan.row_interval.ns;
    BurstNeed need;
    need.ranks = std::uint64_t{1} + plan.producers + plan.consumers;
    need.rows_per_second = need.ranks * static_cast<std::uint64_t>(intervals);
    need.time = plan.warmup + (plan.give_up_at() - core::Instant{});
    const auto seconds = static_cast<core::WideInteger>((need.time.ns + one_second.ns - 1) / one_second.ns);
    const core::WideInteger bytes = bytes_per_interval(plan).count * intervals * seconds;
    need.bytes = {static_cast<std::int64_t>(std::min<core::WideInteger>(bytes, std::int64_t{1} << 62))};
    return need;
}

void derive_row_interval(RunRequest& request) {
    const Duration interval = interval_of_short_run(request);
    if (!request.given("row-interval")) {
        request.plan.row_interval = interval;
    }
    if (!request.given("switch-rows")) {
        request.packets.row_length = interval.ns > 0 ? interval : one_second;
    }
}

void check_row_interval(const core::Plan& plan) {
    if (plan.row_interval.ns == 0) {
        return;
    }
    const BurstNeed need = burst_need(plan);
    if (need.bytes <= burst_bytes_limit) {
        return;
    }
    const Duration fitting = fitting_interval(plan);
    const std::int64_t per_second = bytes_per_interval(plan).count * (one_second.ns / plan.row_interval.ns);
    const Duration longest = Duration::seconds(burst_bytes_limit.count / per_second);
    const std::string shorter =
        longest < one_second ? std::string{}
                             : fmt::format(", or make --warmup, --duration and --drain {} or less together",
                                           files::readable(longest));
    throw UsageError(
        "--row-interval: {} makes {} rows per second of {} ranks, in {} up to {}, and at most {} are "
        "written; write {}{}",
        files::exact(plan.row_interval), need.rows_per_second, need.ranks, files::readable(need.time),
        files::readable(need.bytes), files::readable(burst_bytes_limit), to_text(fitting), shorter);
}

}  // namespace weir::config
