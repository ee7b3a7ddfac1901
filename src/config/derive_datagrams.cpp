#include "config/derive_datagrams.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "core/memory_need.hpp"

namespace weir::config {

namespace {

using core::Bytes;

constexpr Bytes least_datagram{core::datagram_least_bytes};
constexpr Bytes most_datagram{core::datagram_most_bytes};
/// Fills an Ethernet frame without being fragmented: 1500 bytes less 20 of IP and 8 of UDP.
constexpr Bytes datagram_default{1472};
constexpr std::uint32_t window_default = 64;

}  // namespace

void derive_datagrams(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (!request.given("chunk-size")) {
        plan.chunk_size = datagram_default;
    }
    if (plan.chunk_size < least_datagram || plan.chunk_size > most_datagram) {
        throw UsageError(fmt::format(
            "--chunk-size: with --transport datagram a chunk is one datagram, and {} is out of "
            "range; write a value from {} (fills the smallest Ethernet frame) to {} (the most that "
            "UDP carries)",
            to_text(plan.chunk_size), to_text(least_datagram), to_text(most_datagram)));
    }
    plan.chunk_size = std::max(least_datagram, std::min(plan.chunk_size, plan.slot_size));
    if (!request.given("window")) {
        plan.window = window_default;
    }
    const std::int64_t chunks = (plan.slot_size.count - 1) / plan.chunk_size.count + 1;
    if (chunks > datagrams_per_slot_limit) {
        throw UsageError(fmt::format(
            "--chunk-size: {} cuts a slot of {} into {} datagrams, and at most {} are possible; make it at "
            "least {}, or --event-size smaller",
            to_text(plan.chunk_size), to_text(plan.slot_size), chunks, datagrams_per_slot_limit,
            to_text(Bytes{(plan.slot_size.count - 1) / datagrams_per_slot_limit + 1})));
    }
    if (plan.producers > datagram_producers_limit) {
        throw UsageError(
            fmt::format("--producers: {} are too many for --transport datagram, whose limit is {}; use "
                        "another transport",
                        plan.producers, datagram_producers_limit));
    }
}

void check_datagram_options(const RunRequest& request) {
    if (request.plan.lossy()) {
        return;
    }
    for (const char* option : {"socket-buffer", "datagram-network"}) {
        if (request.given(option) && request.origin(option) >= request.origin("transport")) {
            throw UsageError(fmt::format("--{}: needs --transport datagram", option));
        }
    }
}

}  // namespace weir::config
