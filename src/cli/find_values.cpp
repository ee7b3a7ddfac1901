#include "cli/find_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/distributions.hpp"
#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::cli {

using config::GivenOption;
using config::UsageError;

struct FindValues::Quantity {
    std::string_view name;
    bool larger_is_harder;
    bool whole;
    std::string_view meaning;
    double most;
};

namespace {

constexpr double bits_per_byte_ns = 8e9;

/// Five significant digits: more than the precision, and readable.
double rounded(double value) {
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 4);
    return unit > 1 ? std::round(value / unit) * unit : std::round(value);
}

}  // namespace

const FindValues::Quantity& FindValues::quantity_of(const std::string& what) {
    static constexpr Quantity quantities[] = {
        {"rate", true, false, "largest rate per producer",
         static_cast<double>(config::fastest_rate.bits_per_second)},
        {"busy", true, false, "longest mean processing time",
         static_cast<double>(config::longest_duration.ns)},
        {"slots", false, true, "fewest slots per consumer", config::slots_limit},
        {"streams", false, true, "fewest streams per producer", config::streams_limit},
        {"consumers", false, true, "fewest consumers", config::nodes_limit},
    };
    for (const Quantity& quantity : quantities) {
        if (quantity.name == what) {
            return quantity;
        }
    }
    throw UsageError(fmt::format("--find: '{}' is not one of: rate, slots, streams, consumers, busy", what));
}

FindValues::FindValues(const std::string& what, const std::string& events, const config::RunRequest& base)
    : base_(base), quantity_(quantity_of(what)), event_sizes_(choose_event_sizes(events)) {}

EventSizes FindValues::choose_event_sizes(const std::string& events) const {
    if (quantity_.name != "rate") {
        if (!events.empty()) {
            throw UsageError(
                fmt::format("--find-events: cannot be combined with --find {}, which does not change events",
                            quantity_.name));
        }
        return EventSizes::as_asked;
    }
    if (!events.empty() && events != "scale" && events != "hold") {
        throw UsageError(fmt::format("--find-events: '{}' is not one of: scale, hold", events));
    }
    const bool sets = base_.plan.generation == core::Generation::sets;
    const bool trace = base_.plan.event_size.kind == core::DistributionKind::trace;
    if (trace && events == "scale") {
        throw UsageError(
            "--find-events: the sizes of a trace are held, because they come from a file; use hold");
    }
    if (events == "scale" || (events.empty() && sets && !trace)) {
        return EventSizes::scaled;
    }
    return sets && base_.plan.event_size.kind == core::DistributionKind::fixed ? EventSizes::whole
                                                                               : EventSizes::held;
}

std::string_view FindValues::name() const {
    return quantity_.name;
}

std::string_view FindValues::meaning() const {
    return quantity_.meaning;
}

double FindValues::start() const {
    const core::Plan& plan = base_.plan;
    if (event_sizes_ == EventSizes::whole) {
        return std::max(1.0, std::round(static_cast<double>(plan.set_bytes().count) / plan.event_size.mean));
    }
    if (quantity_.name == "rate") {
        return static_cast<double>(plan.rate.bits_per_second);
    }
    if (quantity_.name == "busy") {
        return plan.busy.mean;
    }
    return quantity_.name == "slots"     ? plan.slots
           : quantity_.name == "streams" ? plan.streams
                                         : plan.consumers;
}

SearchSpace FindValues::space() const {
    SearchSpace space{.start = start(),
                      .larger_is_harder = quantity_.larger_is_harder,
                      .whole = quantity_.whole || event_sizes_ == EventSizes::whole,
                      .least = 1,
                      .most = quantity_.most};
    if (event_sizes_ == EventSizes::whole) {
        const double bits =
            base_.plan.event_size.mean * bits_per_byte_ns / static_cast<double>(base_.plan.interval.ns);
        space.most = std::max(1.0, std::floor(quantity_.most / bits));
    }
    return space;
}

core::BitRate FindValues::rate_of(double value) const {
    if (event_sizes_ != EventSizes::whole) {
        return {std::llround(rounded(value))};
    }
    // Rounded down: a set of one byte more would have one event more.
    const double bits = value * base_.plan.event_size.mean * bits_per_byte_ns;
    return {static_cast<std::int64_t>(std::floor(bits / static_cast<double>(base_.plan.interval.ns)))};
}

std::string FindValues::busy_of(double value) const {
    config::NamedDistribution busy{base_.plan.busy, base_.busy_trace};
    const double factor = rounded(value) / busy.distribution.mean;
    busy.distribution.mean = rounded(value);
    for (double* part :
         {&busy.distribution.deviation, &busy.distribution.quantum, &busy.distribution.maximum}) {
        if (*part != 0) {
            *part = std::max(1.0, std::round(*part * factor));
        }
    }
    return config::busy_text(busy);
}

void FindValues::scale_events(core::BitRate rate, std::vector<GivenOption>& options, FindPoint& point) const {
    const config::Ratio factor{rate.bits_per_second, base_.plan.rate.bits_per_second};
    config::NamedDistribution sizes{base_.plan.event_size, base_.event_size_trace};
    config::scale_values(sizes.distribution, factor);
    point.event_size = config::event_size_text(sizes);
    options.push_back({"event-size", point.event_size});
    if (base_.given("slot-size")) {
        options.push_back({"slot-size", config::to_text(config::scale_up(base_.plan.slot_size, factor))});
    }
}

std::vector<GivenOption> FindValues::options_of(double value, FindPoint& point) const {
    std::vector<GivenOption> options;
    if (quantity_.name == "rate") {
        const core::BitRate rate = rate_of(value);
        point.text = config::to_text(rate);
        if (event_sizes_ == EventSizes::scaled) {
            scale_events(rate, options, point);
        } else {
            point.event_size = config::event_size_text({base_.plan.event_size, base_.event_size_trace});
            options.push_back({"event-size", point.event_size});
        }
    } else {
        point.text = quantity_.name == "busy" ? busy_of(value) : fmt::format("{:.0f}", value);
    }
    options.push_back({std::string(quantity_.name), point.text});
    return options;
}

std::vector<std::string> FindValues::statements() const {
    std::vector<std::string> lines;
    switch (event_sizes_) {
        case EventSizes::as_asked:
            break;
        case EventSizes::scaled:
            lines.emplace_back(
                base_.plan.generation == core::Generation::sets
                    ? "event sizes were scaled with the rate, so the number of events per set is constant "
                      "(--find-events hold keeps their size)"
                    : "event sizes were scaled with the rate, so the number of events per second is constant "
                      "(--find-events hold keeps their size)");
            break;
        case EventSizes::held:
            lines.emplace_back("event sizes were kept" +
                               std::string(base_.plan.generation == core::Generation::sets
                                               ? "; the last event of a set is cut to what is left of it"
                                               : " (--find-events scale lets them grow with the rate)"));
            break;
        case EventSizes::whole:
            lines.emplace_back(
                "event sizes were kept, and only rates with whole events per set were tried "
                "(--find-events scale lets them grow with the rate)");
            break;
    }
    if (quantity_.name == "rate" && base_.given("buffer")) {
        lines.push_back(fmt::format("--buffer was kept at {}", config::to_text(base_.plan.buffer)));
    }
    return lines;
}

}  // namespace weir::cli
