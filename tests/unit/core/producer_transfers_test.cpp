// The producer's transfers: which chunks leave when, and what their departure leads to.
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "unit/core/driven_producer.hpp"

namespace core_producer_transfers_test_file {

using namespace weir::core;
using namespace weir::core::test;

TEST_CASE("A granted event leaves as chunks with a window of them under way") {
    Driven producer(small_plan());
    producer.time(at_ms(10));
    const Actions begun = producer.grant(at_ms(30), 2, 1);
    REQUIRE(begun.chunks.size() == 2);
    CHECK(begun.chunks[0].to == ConsumerId{2});
    CHECK(begun.chunks[0].place == PlaceId{1});
    CHECK(begun.chunks[0].stream == StreamId{0});
    CHECK(begun.chunks[1].chunk ==
          ChunkDescription{EventId::of(self, 0), {100}, {40}, {40}, 1, 0, at_ms(0), at_ms(30)});
    REQUIRE(of_kind(begun, Observation::Kind::granted).size() == 1);
    CHECK(of_kind(begun, Observation::Kind::granted)[0].elapsed == Duration::milliseconds(20));
    CHECK(of_kind(begun, Observation::Kind::granted)[0].peer == NodeId{Role::consumer, 2});
    CHECK(of_kind(begun, Observation::Kind::transfer_started).size() == 1);
    CHECK(producer->stream_use() == StreamUse{1, 1, 0});

    const Actions next = producer.sent(at_ms(40), 0, 0);
    REQUIRE(next.chunks.size() == 1);
    CHECK(next.chunks[0].chunk ==
          ChunkDescription{EventId::of(self, 0), {100}, {80}, {20}, 2, 0, at_ms(0), at_ms(30)});
    CHECK(producer->backlog() == Bytes{360});

    CHECK(producer.sent(at_ms(50), 0, 1).chunks.empty());
    CHECK(producer->ledger().sent.events == 0);
    const Actions last = producer.sent(at_ms(70), 0, 2);
    const auto completed = of_kind(last, Observation::Kind::transfer_completed);
    REQUIRE(completed.size() == 1);
    CHECK(completed[0].elapsed == Duration::milliseconds(40));
    CHECK(of_kind(last, Observation::Kind::chunk_sent)[0].bytes == Bytes{20});
    CHECK(producer->backlog() == Bytes{300});
    Tally one;
    one.add(EventId::of(self, 0), {100});
    CHECK(producer->ledger().sent == one);
}

TEST_CASE("The window slides over the oldest chunk that has not left") {
    Plan plan = small_plan();
    plan.event_size.mean = 400;
    plan.slot_size = {400};
    plan.window = 3;
    Driven producer(plan);
    producer.time(at_ms(0));
    CHECK(sequences(producer.grant(at_ms(0), 0, 0)) == Sequences{0, 1, 2});
    CHECK(sequences(producer.sent(at_ms(1), 0, 2)).empty());
    CHECK(sequences(producer.sent(at_ms(1), 0, 1)).empty());
    CHECK(producer->backlog() == Bytes{320});
    CHECK(sequences(producer.sent(at_ms(1), 0, 0)) == Sequences{3, 4, 5});
    CHECK(sequences(producer.sent(at_ms(2), 0, 3)) == Sequences{6});
    CHECK(sequences(producer.sent(at_ms(2), 0, 6)).empty());
    CHECK(sequences(producer.sent(at_ms(2), 0, 4)) == Sequences{7});
    CHECK(sequences(producer.sent(at_ms(2), 0, 5)) == Sequences{8, 9});
    // The last chunk does not end a transfer whose other chunks are still under way.
    producer.sent(at_ms(3), 0, 9);
    producer.sent(at_ms(3), 0, 8);
    CHECK(producer->stream_use().transferring == 1);
    CHECK(of_kind(producer.sent(at_ms(3), 0, 7), Observation::Kind::transfer_completed).size() == 1);
    CHECK(producer->backlog() == Bytes{0});
}

TEST_CASE("Chunks that left together are observed as one and make room for as many") {
    Plan plan = small_plan();
    plan.event_size.mean = 400;
    plan.slot_size = {400};
    plan.window = 3;
    Driven producer(plan);
    producer.time(at_ms(0));
    producer.grant(at_ms(0), 0, 0);
    const Actions two = producer.sent(at_ms(1), 0, 0, 2);
    CHECK(sequences(two) == Sequences{3, 4});
    REQUIRE(two.observations.size() == 1);
    CHECK(two.observations[0].bytes == Bytes{80});
    CHECK(producer->backlog() == Bytes{320});
    CHECK(sequences(producer.sent(at_ms(2), 0, 3, 2)).empty());  // chunk 2 holds the window
    CHECK(sequences(producer.sent(at_ms(2), 0, 2)) == Sequences{5, 6, 7});
    CHECK(sequences(producer.sent(at_ms(3), 0, 5, 3)) == Sequences{8, 9});
    const Actions last = producer.sent(at_ms(4), 0, 8, 2);
    CHECK(of_kind(last, Observation::Kind::transfer_completed).size() == 1);
    CHECK(producer->ledger().sent.events == 1);
    CHECK(producer->ledger().sent.bytes == Bytes{400});
}

TEST_CASE("Chunks that passed unseen leave a producer as it is when each was seen") {
    Plan plan = small_plan();
    plan.event_size.mean = 390;  // nine chunks of 40 bytes and one of 30
    plan.slot_size = {390};
    plan.window = 3;
    for (std::uint32_t count = 1; count <= 9; ++count) {
        CAPTURE(count);
        Driven seen(plan);
        Driven unseen(plan);
        for (Driven* producer : {&seen, &unseen}) {
            producer->time(at_ms(0));
            producer->grant(at_ms(0), 0, 0);
        }
        Bytes handed_over{};
        for (std::uint32_t chunk = 0; chunk < count; ++chunk) {
            for (const SendChunk& next : seen.sent(at_ms(1), 0, chunk).chunks) {
                handed_over += next.chunk.length;
            }
        }
        const Actions out = unseen.passed(0, count);
        CHECK(out.observations.empty());
        CHECK(out.messages.empty());
        REQUIRE(out.chunks.size() == (handed_over > Bytes{} ? 1 : 0));
        if (!out.chunks.empty()) {
            CHECK(out.chunks[0].chunk.offset == Bytes{120});
            CHECK(out.chunks[0].chunk.sequence == 3);
            CHECK(out.chunks[0].chunk.length == handed_over);
        }
        CHECK(unseen->backlog() == seen->backlog());
        for (std::uint32_t chunk = count; chunk < 10; ++chunk) {
            const Actions one = seen.sent(at_ms(2), 0, chunk);
            const Actions other = unseen.sent(at_ms(2), 0, chunk);
            CHECK(sequences(one) == sequences(other));
            CHECK(one.observations.size() == other.observations.size());
        }
        CHECK(seen->ledger().sent == unseen->ledger().sent);
        CHECK(unseen->stream_use().transferring == 0);
    }
}

TEST_CASE("Chunks of several windows that have left together leave a producer as they do one by one") {
    Plan plan = small_plan();
    plan.event_size.mean = 390;
    plan.slot_size = {390};
    plan.window = 3;
    for (std::uint32_t count = 1; count <= 10; ++count) {
        CAPTURE(count);
        Driven one_by_one(plan);
        Driven together(plan);
        for (Driven* producer : {&one_by_one, &together}) {
            producer->time(at_ms(0));
            producer->grant(at_ms(0), 0, 0);
        }
        Bytes handed_over{};
        for (std::uint32_t chunk = 0; chunk < count; ++chunk) {
            for (const SendChunk& next : one_by_one.sent(at_ms(1), 0, chunk).chunks) {
                handed_over += next.chunk.length;
            }
        }
        const Actions out = together.sent(at_ms(1), 0, 0, count);
        Bytes at_once{};
        for (const SendChunk& next : out.chunks) {
            CHECK(next.chunk.offset == Bytes{120} + at_once);
            at_once += next.chunk.length;
        }
        CHECK(at_once == handed_over);
        CHECK(of_kind(out, Observation::Kind::chunk_sent).front().bytes ==
              std::min(Bytes{40} * count, Bytes{390}));
        CHECK(together->backlog() == one_by_one->backlog());
        CHECK(together->ledger().sent == one_by_one->ledger().sent);
        CHECK(together->stream_use().transferring == one_by_one->stream_use().transferring);
    }
}

TEST_CASE("The largest window leaves at once") {
    Plan plan = small_plan();
    plan.chunk_size = {1};
    plan.window = Producer::window_limit;
    Driven producer(plan);
    producer.time(at_ms(0));
    producer.grant(at_ms(0), 0, 0);
    CHECK(producer.sent(at_ms(1), 0, 0, Producer::window_limit).chunks.size() == 36);
    CHECK(producer->backlog() == Bytes{336});
}

TEST_CASE("The largest window is filled and emptied backwards") {
    Plan plan = small_plan();
    plan.chunk_size = {1};
    plan.window = Producer::window_limit;
    Driven producer(plan);
    producer.time(at_ms(0));
    REQUIRE(producer.grant(at_ms(0), 0, 0).chunks.size() == 64);
    for (std::uint32_t sequence = 63; sequence > 0; --sequence) {
        CHECK(producer.sent(at_ms(1), 0, sequence).chunks.empty());
    }
    CHECK(producer.sent(at_ms(1), 0, 0).chunks.size() == 36);
}

TEST_CASE("Each stream carries one transfer and a grant beyond them waits for the first to end") {
    Driven producer(small_plan());
    producer.time(at_ms(0));
    CHECK(producer.grant(at_ms(1), 0, 0).chunks.at(0).stream == StreamId{0});
    const Actions second = producer.grant(at_ms(1), 1, 1);
    REQUIRE(second.chunks.size() == 2);
    CHECK(second.chunks[0].stream == StreamId{1});
    CHECK(second.chunks[0].chunk.event == EventId::of(self, 1));
    CHECK(producer->stream_use() == StreamUse{2, 0, 0});
    CHECK(producer.grant(at_ms(2), 2, 0).chunks.empty());

    producer.sent(at_ms(3), 1, 0);
    producer.sent(at_ms(3), 1, 1);
    const Actions third = producer.sent(at_ms(5), 1, 2);
    REQUIRE(third.chunks.size() == 2);
    CHECK(third.chunks[0].stream == StreamId{1});
    CHECK(third.chunks[0].to == ConsumerId{2});
    CHECK(third.chunks[0].chunk.event == EventId::of(self, 2));
    const auto started = of_kind(third, Observation::Kind::transfer_started);
    REQUIRE(started.size() == 1);
    CHECK(started[0].elapsed == Duration::milliseconds(3));  // since its grant came
}

TEST_CASE("An event that comes after its grant has not waited for it") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    Driven producer(plan);
    producer.grant(at_ms(-30), 0, 0);
    const Actions early = producer.time(at_ms(0));
    const auto elapsed = [](const Actions& out, Observation::Kind kind) {
        const auto found = of_kind(out, kind);
        REQUIRE(found.size() == 1);
        return found.front().elapsed;
    };
    CHECK(elapsed(early, Observation::Kind::granted) == Duration{});
    CHECK(elapsed(early, Observation::Kind::transfer_started) == Duration{});
    // Both came before there was a stream: from the later of the two on.
    const Actions late = producer.grant(at_ms(7), 1, 0);
    CHECK(elapsed(late, Observation::Kind::granted) == Duration::milliseconds(7));
    CHECK(elapsed(late, Observation::Kind::transfer_started) == Duration{});
    producer.grant(at_ms(9), 2, 0);
    producer.sent(at_ms(20), 0, 0);
    producer.sent(at_ms(20), 0, 1);
    const Actions freed = producer.sent(at_ms(20), 0, 2);
    CHECK(elapsed(freed, Observation::Kind::granted) == Duration::milliseconds(9));
    CHECK(elapsed(freed, Observation::Kind::transfer_started) == Duration::milliseconds(11));
}

TEST_CASE("Streams without data wait for data") {
    Plan plan = small_plan();
    plan.streams = 6;
    Driven producer(plan);
    CHECK(producer->stream_use() == StreamUse{0, 0, 6});
    producer.time(at_ms(0));
    CHECK(producer->stream_use() == StreamUse{0, 4, 2});
    producer.grant(at_ms(0), 0, 0);
    CHECK(producer->stream_use() == StreamUse{1, 3, 2});
}

TEST_CASE("What was taken makes room for an event that a grant waits for") {
    Plan plan = small_plan();
    plan.generation = Generation::saturate;
    plan.policy = PolicyKind::none;
    plan.transport = TransportKind::datagram;
    plan.reasks = 1;
    plan.buffer = {100};
    Driven producer(plan);
    producer.time(at_ms(0));
    CHECK(sequences(producer.grant(at_ms(1), 2, 1)) == Sequences{0, 1});
    CHECK(sequences(producer.sent(at_ms(2), 0, 0)) == Sequences{2});
    producer.sent(at_ms(2), 0, 1);
    CHECK(producer.sent(at_ms(2), 0, 2).chunks.empty());  // kept, so that there is no room
    SECTION("as the consumer says") {
        CHECK(producer.grant(at_ms(3), 0, 0).chunks.empty());
        const Actions out = producer.message(at_ms(4), {Role::consumer, 2}, Taken{EventId::of(self, 0), {1}});
        CHECK(sequences(out) == Sequences{0, 1});
        CHECK(producer->backlog() == Bytes{100});
    }
    SECTION("as the consumer shows by giving the same slot again") {
        CHECK(sequences(producer.grant(at_ms(4), 2, 1)) == Sequences{0, 1});
        CHECK(producer->backlog() == Bytes{100});
    }
}

}  // namespace core_producer_transfers_test_file
