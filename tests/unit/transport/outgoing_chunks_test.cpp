// What lies in a producer's chunk buffers when a chunk leaves, and which of them are in use.
#include "transport/transport_base.hpp"

#include <set>

#include "catch.hpp"
#include "transport/chunk_header.hpp"

using namespace weir;
using transport::DisturbanceKind;

namespace {

core::Plan example_plan(core::Verify verify) {
    core::Plan plan;
    plan.producers = 3;
    plan.consumers = 2;
    plan.chunk_size = {1000};
    plan.slot_size = {2500};
    plan.buffer = {8000};
    plan.window = 3;
    plan.slots = 2;
    plan.streams = 2;
    plan.verify = verify;
    return plan;
}

core::SendChunk chunk_of(std::uint32_t stream, std::uint32_t sequence) {
    return {.to = {1},
            .place = {1},
            .stream = {stream},
            .chunk = {.event = core::EventId::of(core::ProducerId{2}, 77),
                      .event_bytes = {2500},
                      .offset = {1000 * std::int64_t{sequence}},
                      .length = {sequence == 2 ? 500 : 1000},
                      .sequence = sequence,
                      .generated_at = {5}}};
}

/// A producer with payload in its buffers.
struct Rig {
    explicit Rig(core::Verify verify)
        : plan(example_plan(verify)),
          buffers(transport::ChunkBuffers::for_producer(plan)),
          chunks(plan, buffers) {
        for (std::size_t buffer = 0; buffer < buffers.count(); ++buffer) {
            transport::fill_payload(buffers.at(buffer).subspan(transport::header_bytes), buffer);
        }
    }

    transport::ChunkArrived arrived(std::size_t entry) const {
        return transport::inspect_chunk(chunks.message(entry), {1}, transport::Rank{4},
                                        transport::ChunkBounds::of(plan), plan.verify);
    }

    core::Plan plan;
    transport::ChunkBuffers buffers;
    transport::OutgoingChunks chunks;
};

}  // namespace

TEST_CASE("a chunk that leaves is found intact and as it was described, at every verify level") {
    for (const core::Verify verify :
         {core::Verify::none, core::Verify::header, core::Verify::sample, core::Verify::full}) {
        Rig rig(verify);
        const std::size_t entry = rig.chunks.begin(chunk_of(0, 2), std::nullopt);
        CHECK(rig.chunks.message(entry).size() == 564);
        const transport::ChunkArrived arrived = rig.arrived(entry);
        CHECK(arrived.header_intact);
        CHECK(arrived.payload_intact);
        CHECK(arrived.chunk == chunk_of(0, 2).chunk);
        CHECK(arrived.place == core::PlaceId{1});
        CHECK(arrived.source == transport::Rank{4});
    }
}

TEST_CASE("damage done on purpose is found at the level that promises it, and at no lower one") {
    for (const core::Verify verify :
         {core::Verify::none, core::Verify::header, core::Verify::sample, core::Verify::full}) {
        Rig rig(verify);
        const transport::ChunkArrived header =
            rig.arrived(rig.chunks.begin(chunk_of(0, 0), DisturbanceKind::corrupt_header));
        CHECK(header.header_intact == (verify == core::Verify::none));
        CHECK(header.chunk.event != chunk_of(0, 0).chunk.event);
        const transport::ChunkArrived payload =
            rig.arrived(rig.chunks.begin(chunk_of(0, 1), DisturbanceKind::corrupt_payload));
        CHECK(payload.header_intact);
        const bool checked =
            transport::is_payload_checked(verify, chunk_of(0, 1).chunk.event, chunk_of(0, 1).chunk.offset);
        CHECK(payload.payload_checked == checked);
        CHECK(payload.payload_intact != checked);
        CHECK(rig.arrived(rig.chunks.begin(chunk_of(0, 2), std::nullopt)).payload_intact);
    }
}

TEST_CASE("a sample finds damage in the chunks that it checks, and in these alone") {
    Rig rig(core::Verify::sample);
    std::size_t checked = 0;
    for (std::uint64_t number = 0; number < 1280; ++number) {
        core::SendChunk chunk = chunk_of(0, 0);
        chunk.chunk.event = core::EventId::of(core::ProducerId{2}, number);
        const std::size_t damaged = rig.chunks.begin(chunk, DisturbanceKind::corrupt_payload);
        const transport::ChunkArrived arrived = rig.arrived(damaged);
        CHECK(arrived.payload_intact != arrived.payload_checked);
        checked += arrived.payload_checked ? 1 : 0;
        CHECK(rig.chunks.end_copy(damaged));
        // The damage stays in the buffer, and the next chunk out of it is intact all the same.
        const std::size_t next = rig.chunks.begin(chunk, std::nullopt);
        CHECK(rig.arrived(next).payload_intact);
        CHECK(rig.chunks.end_copy(next));
    }
    // Ten are expected, with a deviation of 3.1.
    CHECK(checked >= 1);
    CHECK(checked <= 22);
}

TEST_CASE("no more chunks of a stream can be under way than its event has") {
    core::Plan plan = example_plan(core::Verify::header);
    plan.window = 64;
    const transport::ChunkBuffers buffers = transport::ChunkBuffers::for_producer(plan);
    transport::OutgoingChunks chunks(plan, buffers);
    CHECK(plan.chunks_per_fragment() == 3);
    CHECK(chunks.entries() == 3 * std::size_t{plan.streams});
    for (const std::uint32_t sequence : {0U, 1U, 2U}) {
        chunks.begin(chunk_of(1, sequence), std::nullopt);
    }
    CHECK(chunks.under_way() == 3);
}

TEST_CASE("every stream has its window of chunks, each in a buffer of its own") {
    Rig rig(core::Verify::header);
    CHECK(rig.chunks.entries() == 6);
    std::set<std::size_t> entries;
    std::set<std::size_t> buffers;
    for (const std::uint32_t stream : {0U, 1U}) {
        for (const std::uint32_t sequence : {0U, 1U, 2U}) {
            const std::size_t entry = rig.chunks.begin(chunk_of(stream, sequence), std::nullopt);
            entries.insert(entry);
            buffers.insert(rig.chunks.at(entry).buffer);
            CHECK(rig.chunks.find({stream}, sequence) == entry);
        }
    }
    CHECK(rig.chunks.under_way() == 6);
    CHECK(entries.size() == 6);
    CHECK(buffers.size() == 6);
    CHECK_FALSE(rig.chunks.find({0}, 3));
    CHECK_FALSE(rig.chunks.find({2}, 0));
    for (const std::size_t entry : entries) {
        CHECK(rig.chunks.end_copy(entry));
    }
    CHECK(rig.chunks.under_way() == 0);
    CHECK_FALSE(rig.chunks.find({0}, 0));
}

TEST_CASE("a doubled chunk keeps its buffer until both copies have left") {
    Rig rig(core::Verify::header);
    const std::size_t entry = rig.chunks.begin(chunk_of(1, 0), DisturbanceKind::duplicate);
    CHECK(rig.chunks.at(entry).copies == 2);
    CHECK_FALSE(rig.chunks.end_copy(entry));
    CHECK(rig.chunks.under_way() == 1);
    CHECK(rig.chunks.find({1}, 0) == entry);
    CHECK(rig.chunks.end_copy(entry));
    CHECK(rig.chunks.under_way() == 0);
}

TEST_CASE("what a stream has under way can be cancelled, and what it sends next is not") {
    Rig rig(core::Verify::header);
    const std::size_t before = rig.chunks.begin(chunk_of(0, 0), std::nullopt);
    const std::size_t other = rig.chunks.begin(chunk_of(1, 0), std::nullopt);
    rig.chunks.cancel({0});
    const std::size_t after = rig.chunks.begin(chunk_of(0, 1), std::nullopt);
    CHECK(rig.chunks.at(before).cancelled);
    CHECK_FALSE(rig.chunks.at(other).cancelled);
    CHECK_FALSE(rig.chunks.at(after).cancelled);
    CHECK(rig.chunks.end_copy(before));
    CHECK_FALSE(rig.chunks.at(rig.chunks.begin(chunk_of(0, 2), std::nullopt)).cancelled);
}
