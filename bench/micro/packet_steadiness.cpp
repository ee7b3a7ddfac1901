// How much of a simulation packet by packet could be skipped at most, because nothing in it changes: the
// share of windows of time in which no transfer begins or ends, no packet is marked or dropped, and no port
// is paused. In the other ones, rates of senders or queues change. A window in which rates still rise after
// an earlier mark counts as one that could be skipped, so that the true share is smaller.
//
//   packet_steadiness [SIMULATED-MILLISECONDS]     100 ms of each case by default
//
// Output: CSV. speedup_at_most: of a program that skips those windows at no cost.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "packet_load.hpp"

namespace {

using weir::bench::PacketLoad;
using weir::bench::PacketLoadCase;
using weir::packet::Picoseconds;

// Some round trips: a sender hears of a mark in one, and its rate rises again after 55 us at the earliest.
constexpr Picoseconds window{100'000'000};
constexpr weir::core::Bytes mib{1 << 20};

constexpr PacketLoadCase case_of(std::string_view name, bool pfc, bool ecn, std::int64_t mebibytes,
                                 bool one_at_a_time) {
    return {.name = name,
            .senders = 14,
            .receivers = 72,
            .receiver_gigabit = 25,
            .pfc = pfc,
            .ecn = ecn,
            .message = {mebibytes * mib.count},
            .one_at_a_time = one_at_a_time};
}

constexpr PacketLoadCase cases[] = {
    case_of("any-receiver 1 MiB PFC+ECN", true, true, 1, false),
    case_of("any-receiver 64 MiB PFC+ECN", true, true, 64, false),
    case_of("any-receiver 64 MiB PFC", true, false, 64, false),
    case_of("granted 1 MiB PFC+ECN", true, true, 1, true),
    case_of("granted 16 MiB PFC+ECN", true, true, 16, true),
    case_of("granted 64 MiB PFC+ECN", true, true, 64, true),
    case_of("granted 64 MiB PFC", true, false, 64, true),
};

struct Counts {
    std::uint64_t arrived = 0;
    std::uint64_t marked = 0;
    std::uint64_t dropped = 0;
    std::uint64_t paused = 0;  ///< PAUSE frames; and time, where a pause lasts
};

Counts counts_of(const PacketLoad& load, Picoseconds at) {
    Counts sum{.arrived = load.arrived()};
    for (std::uint32_t link = 0; link < load.topology().links().size(); ++link) {
        const auto& of_link = load.network().counts(link, weir::bench::data_priority);
        sum.marked += of_link.marked;
        sum.dropped += of_link.dropped;
        sum.paused += of_link.pauses + of_link.pauses_sent;
        sum.paused +=
            static_cast<std::uint64_t>(load.network().paused(link, weir::bench::data_priority, at).count);
    }
    return sum;
}

void run(const PacketLoadCase& chosen, double simulated_ms) {
    PacketLoad load(chosen);
    const auto windows = static_cast<std::int64_t>(simulated_ms * 1e9) / window.count;
    std::int64_t judged = 0, without_ends = 0, without_marks = 0, without_pauses = 0, without_any = 0;
    Counts before;
    // The first half is the start.
    for (std::int64_t number = 1; number <= windows; ++number) {
        const Picoseconds until = window * number;
        load.run_to(until);
        const Counts now = counts_of(load, until);
        if (number > windows / 2) {
            const bool ends = now.arrived != before.arrived;
            const bool marks = now.marked != before.marked || now.dropped != before.dropped;
            const bool pauses = now.paused != before.paused;
            ++judged;
            without_ends += static_cast<int>(!ends);
            without_marks += static_cast<int>(!marks);
            without_pauses += static_cast<int>(!pauses);
            without_any += static_cast<int>(!ends && !marks && !pauses);
        }
        before = now;
    }
    const auto share = [judged](std::int64_t count) {
        return judged == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(judged);
    };
    fmt::print("{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.1f}\n", chosen.name, judged, share(without_ends),
               share(without_marks), share(without_pauses), share(without_any),
               1.0 / (1.0 - std::min(share(without_any), 0.999)));
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<double> simulated_ms = weir::bench::simulated_ms_of(argc, argv, 1);
    if (!simulated_ms) {
        fmt::print(stderr, "usage: packet_steadiness [SIMULATED-MILLISECONDS]; at least 1\n");
        return 2;
    }
    fmt::print("case,windows,without_ends,without_marks,without_pauses,without_any,speedup_at_most\n");
    for (const PacketLoadCase& chosen : cases) {
        run(chosen, *simulated_ms);
    }
    return 0;
}
