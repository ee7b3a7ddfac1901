#include "transport/buffers.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "catch.hpp"
#include "core/plan.hpp"
#include "transport/transport.hpp"

using namespace weir;

namespace {

constexpr std::int64_t mebi = 1024 * 1024;

core::Plan example_plan() {
    core::Plan plan;
    plan.producers = 3;
    plan.consumers = 4;
    plan.buffer = {100 * mebi};
    plan.chunk_size = {mebi};
    plan.slot_size = {16 * mebi};
    plan.window = 4;
    plan.slots = 2;
    plan.streams = 3;
    return plan;
}

}  // namespace

TEST_CASE("a producer's ring holds its buffer, and at least its windows") {
    core::Plan plan = example_plan();
    CHECK(core::chunk_buffers_per_stream(plan) == 34);  // 100 MiB / 3 streams, rounded up to chunks
    CHECK(core::chunk_stride_bytes(plan) == mebi + 4096);
    CHECK(core::producer_memory_bytes(plan) == 3 * 34 * (mebi + 4096));
    plan.buffer = {mebi};
    CHECK(core::chunk_buffers_per_stream(plan) == 4);
    CHECK(core::producer_memory_bytes(plan) == 3 * 4 * (mebi + 4096));
}

TEST_CASE("a slot has a chunk buffer for every chunk of the largest event") {
    core::Plan plan = example_plan();
    CHECK(core::chunk_buffers_per_place(plan) == 16);
    CHECK(core::chunk_buffers_per_place(plan) == plan.chunks_per_fragment());
    CHECK(core::consumer_memory_bytes(plan) == 2 * 16 * (mebi + 4096));
    plan.slot_size = {16 * mebi + 1};
    CHECK(core::chunk_buffers_per_place(plan) == 17);
}

TEST_CASE("chunk buffers are no larger than the event and packed when small") {
    core::Plan plan = example_plan();
    plan.slot_size = {1000};
    CHECK(core::chunk_capacity_bytes(plan) == 1000);
    CHECK(core::chunk_stride_bytes(plan) == 1088);  // 64 + 1000, rounded up to 64
    CHECK(core::chunk_buffers_per_place(plan) == 1);
    plan.chunk_size = {1};
    CHECK(core::chunk_stride_bytes(plan) == 128);
    CHECK(core::chunk_buffers_per_place(plan) == 1000);
}

TEST_CASE("impossible plans need a saturated amount of memory and no overflow") {
    core::Plan plan = example_plan();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    plan.buffer = {most};
    CHECK(core::producer_memory_bytes(plan) == most);
    plan.slot_size = {most};
    plan.slots = std::numeric_limits<std::uint32_t>::max();
    CHECK(core::consumer_memory_bytes(plan) == most);
    plan.chunk_size = {most};
    CHECK(core::chunk_stride_bytes(plan) == most);
    CHECK(core::consumer_memory_bytes(plan) == most);
}

TEST_CASE("chunk buffers are aligned, apart, and together the announced memory") {
    core::Plan plan = example_plan();
    plan.buffer = {2 * mebi};
    plan.chunk_size = {GENERATE(std::int64_t{100}, std::int64_t{64 * 1024})};
    plan.slot_size = {3 * plan.chunk_size.count};
    const std::int64_t stride = core::chunk_stride_bytes(plan);
    for (const bool producer : {true, false}) {
        const auto buffers = producer ? transport::ChunkBuffers::for_producer(plan)
                                      : transport::ChunkBuffers::for_consumer(plan);
        const std::int64_t need =
            producer ? core::producer_memory_bytes(plan) : core::consumer_memory_bytes(plan);
        CHECK(static_cast<std::int64_t>(buffers.count()) * stride == need);
        CHECK(buffers.message_bytes() == static_cast<std::size_t>(64 + plan.chunk_size.count));
        CHECK(reinterpret_cast<std::uintptr_t>(buffers.at(0).data()) % 4096 == 0);
        for (std::size_t i = 0; i < buffers.count(); ++i) {
            const auto one = buffers.at(i);
            REQUIRE(one.data() - buffers.at(0).data() == static_cast<std::ptrdiff_t>(i) * stride);
            one.front() = std::byte{1};
            one.back() = std::byte{1};
        }
    }
}

TEST_CASE("memory that cannot be had is refused with its size and the options to change") {
    core::Plan plan = example_plan();
    plan.buffer = {std::int64_t{1} << 60};
    try {
        transport::ChunkBuffers::for_producer(plan);
        FAIL("an exabyte was allocated");
    } catch (const transport::CapacityError& error) {
        const std::string message = error.what();
        CHECK(message.find(std::to_string(core::producer_memory_bytes(plan))) != std::string::npos);
        CHECK(message.find("--buffer") != std::string::npos);
    }
    plan.slot_size = {std::int64_t{1} << 60};
    CHECK_THROWS_AS(transport::ChunkBuffers::for_consumer(plan), transport::CapacityError);
}

TEST_CASE("an arena moves and can be given up") {
    transport::Arena one(8192, "a test", "nothing");
    std::byte* const memory = one.data();
    transport::Arena two(std::move(one));
    CHECK(two.data() == memory);
    CHECK(two.size() == 8192);
    transport::Arena three;
    three = std::move(two);
    CHECK(three.data() == memory);
    three.abandon();
    CHECK(three.data() == nullptr);
    memory[0] = std::byte{1};  // still there
}

TEST_CASE("a ring gives its buffers in order and passes over those still under way") {
    transport::BufferRing ring(4);
    CHECK(ring.reserve() == 0);
    CHECK(ring.reserve() == 1);
    CHECK(ring.reserve() == 2);
    ring.give_back(1);
    CHECK(ring.reserve() == 3);
    CHECK(ring.reserve() == 1);  // 0 is still under way
    ring.give_back(3);
    ring.give_back(0);
    CHECK(ring.reserve() == 3);
    CHECK(ring.reserve() == 0);
}

TEST_CASE("warm-up uses every chunk buffer on both sides") {
    core::Plan plan = example_plan();
    for (const std::uint32_t producers : {1U, 3U, 14U}) {
        for (const std::uint32_t consumers : {1U, 4U, 72U}) {
            for (const std::int64_t buffer : {1, 100, 999}) {
                plan.producers = producers;
                plan.consumers = consumers;
                plan.buffer = {buffer * mebi};
                const std::int64_t messages = transport::warmup_messages_per_pair(plan);
                CHECK(messages >= 1);
                CHECK(messages * consumers >= core::chunk_buffers_per_stream(plan) * plan.streams);
                CHECK(messages * producers >= core::chunk_buffers_per_place(plan) * plan.slots);
                CHECK(((messages - 1) * consumers < core::chunk_buffers_per_stream(plan) * plan.streams ||
                       (messages - 1) * producers < core::chunk_buffers_per_place(plan) * plan.slots));
            }
        }
    }
}
