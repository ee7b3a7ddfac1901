// Passes: sizes of sets, events, buffers, slots and chunks, which follow each other in this order.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "config/limits.hpp"
#include "config/passes.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "core/distribution.hpp"
#include "core/plan.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

using core::Bytes;

constexpr Bytes least_datagram{core::datagram_least_bytes};
constexpr Bytes most_datagram{core::datagram_most_bytes};
/// Fills an Ethernet frame without being fragmented: 1500 bytes less 20 of IP and 8 of UDP.
constexpr Bytes datagram_default{1472};
constexpr std::uint32_t window_default = 64;

Bytes whole(double size) {
    return {static_cast<std::int64_t>(std::ceil(size))};
}

/// Where a drawn size is cut, unless slots have a size of their own.
Bytes largest_event(const core::Distribution& values) {
    return {core::largest_size(values)};
}

/// What a producer generates in an interval.
Bytes set_of(const RunRequest& request) {
    return request.addressed && !request.plan.traffic ? largest_transfer(request) : request.plan.set_bytes();
}

std::int64_t chunks_per_slot(const core::Plan& plan) {
    return (plan.slot_size.count - 1) / plan.chunk_size.count + 1;
}

/// The smallest with which a slot has at most so many.
std::string least_chunk(const core::Plan& plan, std::int64_t most_chunks) {
    return files::exact(Bytes{(plan.slot_size.count - 1) / most_chunks + 1});
}

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

void derive_event_size(RunRequest& request) {
    core::Plan& plan = request.plan;
    const Bytes set = set_of(request);
    if (set.count <= 0) {
        throw UsageError("--rate: {} gives less than one byte per --interval of {}; raise one of them",
                         files::exact(plan.rate), files::exact(plan.interval));
    }
    const Bytes most = request.addressed ? largest_transfer(request) : set;
    if (!request.given("event-size") && plan.event_size.mean > static_cast<double>(most.count)) {
        plan.event_size.mean = static_cast<double>(most.count);
    }
    // With addresses, an event has at most what is left of its transfer.
    if (plan.generation != core::Generation::sets || request.addressed) {
        return;
    }
    // A drawn event may be cut to the set, but its mean must fit.
    const Bytes event =
        is_drawn(plan.event_size) ? whole(plan.event_size.mean) : largest_event(plan.event_size);
    if (event > set) {
        throw UsageError(
            "--event-size: {} is more than a set of {} (--rate {} x --interval {}); make it at most a set, "
            "or use --generation steady",
            files::exact(event), files::exact(set), files::exact(plan.rate), files::exact(plan.interval));
    }
}

void derive_buffer(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (request.given("buffer")) {
        return;
    }
    const Bytes set = set_of(request);
    // Without sets an event may be larger than what one interval gives.
    plan.buffer =
        plan.generation == core::Generation::sets ? set : std::max(set, largest_event(plan.event_size));
}

void derive_slot_size(RunRequest& request) {
    core::Plan& plan = request.plan;
    core::Distribution& event_size = plan.event_size;
    const Bytes largest = largest_event(event_size);
    if (!request.given("slot-size")) {
        plan.slot_size = largest;
        if (is_drawn(event_size)) {
            const Bytes most = plan.generation == core::Generation::sets
                                   ? std::min(set_of(request), plan.buffer)
                                   : plan.buffer;
            plan.slot_size = std::max(whole(event_size.mean), std::min(largest, most));
        }
        if (request.addressed) {
            plan.slot_size = std::min(plan.slot_size, largest_transfer(request));
        }
    } else if (request.addressed && plan.slot_size >= largest_transfer(request)) {
        // No event is larger than its transfer.
    } else if (is_drawn(event_size) ? whole(event_size.mean) > plan.slot_size : largest > plan.slot_size) {
        throw UsageError(
            "--event-size: {} does not fit into a slot of {} (--slot-size); make slots at least as large as "
            "events",
            files::exact(is_drawn(event_size) ? whole(event_size.mean) : largest),
            files::exact(plan.slot_size));
    }
    if (is_drawn(event_size) &&
        (event_size.maximum == 0 || Bytes{static_cast<std::int64_t>(event_size.maximum)} > plan.slot_size)) {
        event_size.maximum = static_cast<double>(plan.slot_size.count);
        request.notes.push_back(
            fmt::format("event sizes are cut at {}, the size of a slot", files::exact(plan.slot_size)));
    }
}

void check_buffer(const core::Plan& plan) {
    const Bytes largest =
        std::min(is_drawn(plan.event_size) ? whole(plan.event_size.maximum) : largest_event(plan.event_size),
                 plan.slot_size);
    if (plan.buffer < largest) {
        throw UsageError("--buffer: {} is less than an event of {} (--event-size); make it at least as large",
                         files::exact(plan.buffer), files::exact(largest));
    }
}

void derive_chunk_size(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.lossy()) {
        return;
    }
    if (!request.given("chunk-size")) {
        // The receives of a whole slot are posted at a time, and MPI searches them one by one: not too many.
        const auto part = static_cast<std::uint64_t>(plan.slot_size.count / chunks_per_slot_default);
        const Bytes rounded{static_cast<std::int64_t>(std::bit_ceil(part))};
        plan.chunk_size = std::min(std::max(plan.chunk_size, rounded), Bytes{std::int64_t{1} << 30});
    }
    if (plan.chunk_size > plan.slot_size) {
        if (request.given("chunk-size")) {
            request.notes.push_back(
                fmt::format("chunks are {}, as large as a slot", files::exact(plan.slot_size)));
        }
        plan.chunk_size = std::min(plan.slot_size, chunk_limit);
    }
    const std::int64_t chunks = chunks_per_slot(plan);
    if (chunks > chunks_per_slot_limit) {
        throw UsageError(
            "--chunk-size: {} cuts a slot of {} into {} chunks, and at most {} are possible; make it at "
            "least {}",
            files::exact(plan.chunk_size), files::exact(plan.slot_size), chunks, chunks_per_slot_limit,
            least_chunk(plan, chunks_per_slot_limit));
    }
    if (chunks * plan.slots > receives_limit) {
        throw UsageError(
            "--slots: {} slots of {} chunks are {} open receives, and at most {} are possible; use fewer "
            "slots, or a --chunk-size of at least {}",
            plan.slots, chunks, chunks * plan.slots, receives_limit,
            least_chunk(plan, receives_limit / plan.slots));
    }
}

void derive_datagrams(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (!plan.lossy()) {
        return;
    }
    if (!request.given("chunk-size")) {
        plan.chunk_size = datagram_default;
    }
    if (plan.chunk_size < least_datagram || plan.chunk_size > most_datagram) {
        throw UsageError(
            "--chunk-size: with --transport datagram a chunk is one datagram, and {} is out of range; write "
            "a value from {} (fills the smallest Ethernet frame) to {} (the most that UDP carries)",
            to_text(plan.chunk_size), to_text(least_datagram), to_text(most_datagram));
    }
    plan.chunk_size = std::max(least_datagram, std::min(plan.chunk_size, plan.slot_size));
    if (!request.given("window")) {
        plan.window = window_default;
    }
    const std::int64_t chunks = chunks_per_slot(plan);
    if (chunks > datagrams_per_slot_limit) {
        throw UsageError(
            "--chunk-size: {} cuts a slot of {} into {} datagrams, and at most {} are possible; make it at "
            "least {}, or --event-size smaller",
            files::exact(plan.chunk_size), files::exact(plan.slot_size), chunks, datagrams_per_slot_limit,
            least_chunk(plan, datagrams_per_slot_limit));
    }
    if (plan.producers > datagram_producers_limit) {
        throw UsageError(
            "--producers: {} are too many for --transport datagram, whose limit is {}; use another transport",
            plan.producers, datagram_producers_limit);
    }
}

void check_places(const core::Plan& plan) {
    const std::int64_t chunks = chunks_per_slot(plan);
    if (!plan.lossy() && chunks * plan.places() > receives_limit) {
        throw UsageError(
            "--slots: {} slots for {} fragments of {} chunks are {} open receives, and at most {} are "
            "possible; use fewer slots or larger chunks",
            plan.slots, plan.fragments_per_event(), chunks, chunks * plan.places(), receives_limit);
    }
}

// Passes: a run made smaller with the ratios between its parts intact. --scale multiplies rates, sizes and
// links;
// --time-scale times of generation, busy times and all sizes that stand for a time at the rate, so that the
// same happens in a shorter time, at the same rates. The network stays as it is: packets, delays, buffers of
// switches.

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
