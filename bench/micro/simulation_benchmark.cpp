// What the two innermost parts of the simulator cost: the queue of events and the network. The time of an
// iteration is the time of one operation, which each benchmark's comment defines.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "simulation/event_queue.hpp"
#include "simulation/fair_shares.hpp"

namespace {

using weir::core::BitRate;
using weir::core::Bytes;
using weir::core::Duration;
using weir::core::Instant;
using weir::core::Random;
using weir::simulation::EventQueue;
using weir::simulation::FairShares;
using weir::simulation::FlowId;
using weir::simulation::LinkId;

/// As large as the simulator's.
struct Event {
    std::uint32_t kind = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
};

/// Operation: the next event out and another one in, at a random time after it, with `size` events in the
/// queue all the time. The times are drawn before, so that only the queue is measured.
void queue_pop_and_push(benchmark::State& state) {
    const auto size = static_cast<std::size_t>(state.range(0));
    Random random(1, 0);
    std::vector<Duration> delays(std::size_t{1} << 16U);
    for (Duration& delay : delays) {
        delay = Duration{static_cast<std::int64_t>(random.below(1000000))};
    }
    EventQueue<Event> queue;
    for (std::size_t event = 0; event < size; ++event) {
        queue.push(Instant{} + delays[event % delays.size()], {});
    }
    std::size_t drawn = 0;
    for (auto _ : state) {
        const Instant now = queue.next_time();
        const Event event = queue.pop();
        queue.push(now + delays[drawn++ % delays.size()], event);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_pop_and_push)->RangeMultiplier(10)->Range(100, 100000);

/// Operation: a transfer ends, all its consequences, another one of the same producer begins, and all its
/// consequences; two settlements. Each producer has four transfers under way all the time, to consumers
/// drawn at random. Arguments: producers, consumers, Gb/s of a consumer's link; a producer's has 100 Gb/s.
/// flows: how many transfers' rates one settlement computes.
void network_end_and_begin(benchmark::State& state) {
    constexpr std::uint32_t streams = 4;
    const auto producers = static_cast<std::uint32_t>(state.range(0));
    const auto consumers = static_cast<std::uint32_t>(state.range(1));
    std::vector<BitRate> capacities(producers, BitRate{100000000000});
    capacities.resize(producers + consumers, BitRate{state.range(2) * 1000000000});
    FairShares network(std::move(capacities), producers * streams);

    Random random(1, 0);
    struct Drawn {
        LinkId down;
        Bytes bytes;
    };
    std::vector<Drawn> transfers(std::size_t{1} << 16U);
    for (Drawn& transfer : transfers) {
        transfer.down = {producers + static_cast<std::uint32_t>(random.below(consumers))};
        transfer.bytes = Bytes{static_cast<std::int64_t>(1000000000 + random.below(1000000000))};
    }
    std::size_t drawn = 0;
    std::vector<LinkId> up_of_flow(std::size_t{producers} * streams);
    const auto begin = [&](Instant now, LinkId up) {
        const Drawn& next = transfers[drawn++ % transfers.size()];
        up_of_flow[network.begin(now, up, next.down, next.bytes).value] = up;
        network.share_out(now);
    };
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
        for (std::uint32_t producer = 0; producer < producers; ++producer) {
            begin(Instant{}, LinkId{producer});
        }
    }

    for (auto _ : state) {
        const Instant now = network.next_end();
        const FlowId flow = network.next_to_end();
        network.end(now, flow);
        network.share_out(now);
        begin(now, up_of_flow[flow.value]);
    }
    state.SetItemsProcessed(state.iterations());
}
// The scenarios lhcb2021-1, lhcb2021-3 and lhcb2021-farm, and the farm with consumers that hold nothing back.
BENCHMARK(network_end_and_begin)
    ->Args({14, 72, 25})
    ->Args({18, 14, 100})
    ->Args({500, 4000, 25})
    ->Args({500, 4000, 100});

}  // namespace
