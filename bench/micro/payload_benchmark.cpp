// What `--verify full` costs each side, and `header` beside it: a producer that writes header and payload of
// a chunk, a consumer that inspects one. Out of 64 MiB, so that data come out of memory. Bytes per second are
// those of the payload, per second of CPU time.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "core/plan.hpp"
#include "transport/buffers.hpp"
#include "transport/chunk_header.hpp"
#include "transport/transport_base.hpp"

namespace {

using namespace weir;

core::Plan plan_of(std::int64_t chunk_bytes, core::Verify verify) {
    core::Plan plan;
    plan.producers = 1;
    plan.consumers = 1;
    plan.streams = 1;
    plan.slots = 1;
    plan.window = 1;
    plan.buffer = {std::int64_t{64} << 20};
    plan.chunk_size = plan.slot_size = {chunk_bytes};
    plan.verify = verify;
    return plan;
}

/// A producer whose every event is one chunk.
struct Rig {
    Rig(std::int64_t chunk_bytes, core::Verify verify)
        : plan(plan_of(chunk_bytes, verify)),
          buffers(transport::ChunkBuffers::for_producer(plan)),
          chunks(plan, buffers) {
        for (std::size_t buffer = 0; buffer < buffers.count(); ++buffer) {
            transport::fill_payload(buffers.at(buffer).subspan(transport::header_bytes), buffer);
            send();
        }
    }
    void send() {
        const core::SendChunk chunk{.to = {0},
                                    .place = {0},
                                    .stream = {0},
                                    .chunk = {.event = core::EventId::of(core::ProducerId{0}, next++),
                                              .event_bytes = plan.slot_size,
                                              .offset = {0},
                                              .length = plan.slot_size,
                                              .sequence = 0,
                                              .generated_at = {5}}};
        chunks.end_copy(chunks.begin(chunk, std::nullopt));
    }
    bool arrives(std::size_t buffer) const {
        const transport::ChunkArrived arrived =
            transport::inspect_chunk(buffers.at(buffer).first(transport::header_bytes +
                                                              static_cast<std::size_t>(plan.slot_size.count)),
                                     {0}, transport::Rank{1}, transport::ChunkBounds::of(plan), plan.verify);
        return arrived.header_intact && arrived.payload_intact;
    }

    core::Plan plan;
    transport::ChunkBuffers buffers;
    transport::OutgoingChunks chunks;
    std::uint64_t next = 0;
};

void count_bytes(benchmark::State& state) {
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

void producer(benchmark::State& state, core::Verify verify) {
    Rig rig(state.range(0), verify);
    for (auto _ : state) {
        rig.send();
    }
    count_bytes(state);
}

void consumer(benchmark::State& state, core::Verify verify) {
    const Rig rig(state.range(0), verify);
    std::size_t buffer = 0;
    for (auto _ : state) {
        if (!rig.arrives(buffer)) {
            std::abort();
        }
        buffer = buffer + 1 < rig.buffers.count() ? buffer + 1 : 0;
    }
    count_bytes(state);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->Arg(64)->Arg(1000)->Arg(65536)->Arg(1 << 20);
}

BENCHMARK_CAPTURE(producer, full, core::Verify::full)->Apply(sizes);
BENCHMARK_CAPTURE(producer, header, core::Verify::header)->Apply(sizes);
BENCHMARK_CAPTURE(consumer, full, core::Verify::full)->Apply(sizes);
BENCHMARK_CAPTURE(consumer, header, core::Verify::header)->Apply(sizes);

}  // namespace
