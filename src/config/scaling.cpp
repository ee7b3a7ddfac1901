// Passes: a run made smaller with the ratios between its parts intact. --scale multiplies rates, sizes and
// links;
// --time-scale times of generation, busy times and all sizes that stand for a time at the rate, so that the
// same happens in a shorter time, at the same rates. The network stays as it is: packets, delays, buffers of
// switches.
#include "config/passes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

template <typename Scale>
auto scaled(const char* by, const char* option, const Scale& scale) {
    return at_place(fmt::format("--{}: --{}", by, option), scale);
}

/// Sizes, or times in nanoseconds.
void scale_distribution(const char* by, const char* option, core::Distribution& values, const Ratio& factor) {
    scaled(by, option, [&] {
        scale_values(values, factor);
        return 0;
    });
}

/// Rounded down, so that a set is not more than its events.
core::Duration scaled_time(const char* option, core::Duration time, const Ratio& factor) {
    const auto ns = static_cast<core::WideInteger>(time.ns) * factor.numerator / factor.denominator;
    if ((ns == 0 && time.ns > 0) || ns > longest_duration.ns) {
        throw UsageError("--time-scale: makes the --{} of {} {}; write a factor nearer to 1", option,
                         files::exact(time), ns == 0 ? "less than 1 ns" : "too long");
    }
    return {static_cast<std::int64_t>(ns)};
}

/// An event that was a whole set and was rounded up is one again. `rounded_up`: the set, scaled as events
/// are.
void fit_into_set(core::Plan& plan, core::Bytes rounded_up) {
    const core::Bytes set = plan.set_bytes();
    const auto fitted = [&](std::int64_t size) {
        return size > set.count && size <= rounded_up.count ? set.count : size;
    };
    core::Distribution& events = plan.event_size;
    events.mean = static_cast<double>(fitted(static_cast<std::int64_t>(events.mean)));
    for (std::int64_t& size : events.trace) {
        size = fitted(size);
    }
}

}  // namespace

void apply_scale(RunRequest& request) {
    core::Plan& plan = request.plan;
    plan.rate = scaled("scale", "rate", [&] { return scale_down(plan.rate, request.scale); });
    scale_distribution("scale", "event-size", plan.event_size, request.scale);
    scale_distribution("scale", "result-size", plan.result_size, request.scale);
    plan.buffer = scaled("scale", "buffer", [&] { return scale_up(plan.buffer, request.scale); });
    plan.slot_size = scaled("scale", "slot-size", [&] { return scale_up(plan.slot_size, request.scale); });
    if (plan.shaping.kind == core::ShapingKind::bucket) {
        plan.shaping.rate =
            scaled("scale", "shaping", [&] { return scale_down(plan.shaping.rate, request.scale); });
        plan.shaping.burst =
            scaled("scale", "shaping", [&] { return scale_up(plan.shaping.burst, request.scale); });
    }
    scaled("scale", "pattern", [&] {
        scale_traffic(request.traffic, request.scale, Ratio{});
        return 0;
    });
    core::NetworkPlan& network = request.network;
    network.producer_link =
        scaled("scale", "producer-link", [&] { return scale_down(network.producer_link, request.scale); });
    network.consumer_link =
        scaled("scale", "consumer-link", [&] { return scale_down(network.consumer_link, request.scale); });
    core::BitRate fastest = std::max({plan.rate, network.producer_link, network.consumer_link});
    const auto scale_own = [&](const char* option, std::vector<core::OwnLinks>& own) {
        for (core::OwnLinks& some : own) {
            some.rate = scaled("scale", option, [&] { return scale_down(some.rate, request.scale); });
            fastest = std::max(fastest, some.rate);
        }
    };
    scale_own("producer-link", network.own_producer_links);
    scale_own("consumer-link", network.own_consumer_links);
    if (fastest > fastest_rate) {
        throw UsageError("--scale: makes a rate or a link {}, and at most {} is possible",
                         files::exact(fastest), files::exact(fastest_rate));
    }
}

void apply_time_scale(RunRequest& request) {
    const Ratio& factor = request.time_scale;
    core::Plan& plan = request.plan;
    if (factor == Ratio{}) {
        return;
    }
    const auto size = [&](const char* option, core::Bytes& bytes) {
        bytes = scaled("time-scale", option, [&] { return scale_up(bytes, factor); });
    };
    const core::Duration interval = plan.interval;
    const core::Bytes set = plan.set_bytes();
    plan.interval = scaled_time("interval", interval, factor);
    // What was so many intervals is as many again, whatever is rounded.
    const auto time = [&](const char* option, core::Duration& duration) {
        duration = duration.ns % interval.ns == 0 ? plan.interval * (duration.ns / interval.ns)
                                                  : scaled_time(option, duration, factor);
    };
    time("duration", plan.duration);
    time("warmup", plan.warmup);
    if (request.given("drain")) {
        time("drain", plan.drain);
    }
    scaled("time-scale", "pattern", [&] {
        scale_traffic(request.traffic, Ratio{}, factor);
        return 0;
    });
    size("buffer", plan.buffer);
    size("slot-size", plan.slot_size);
    size("shaping", plan.shaping.burst);
    scale_distribution("time-scale", "event-size", plan.event_size, factor);
    fit_into_set(plan, scale_up(set, factor));
    scale_distribution("time-scale", "result-size", plan.result_size, factor);
    scale_distribution("time-scale", "busy", plan.busy, factor);
}

}  // namespace weir::config
