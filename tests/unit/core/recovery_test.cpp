// --on-failure continue: each core on its own.
#include "catch.hpp"
#include "core/policies/pairing_policies.hpp"
#include "unit/core/driven_consumer.hpp"
#include "unit/core/driven_producer.hpp"
#include "unit/core/driven_scheduler.hpp"
#include "unit/core/messages_of.hpp"

namespace core_recovery_test_file {

using namespace weir::core;

namespace {

Plan outliving(Plan plan) {
    plan.outlives_consumers = true;
    return plan;
}

ControlMessage done_in_life(Epoch epoch, EventId event, std::uint32_t slot) {
    return Done{.slot = {slot},
                .fragments = 1,
                .bytes = {100},
                .hash = ledger_mix(event, {100}),
                .event = event,
                .epoch = epoch};
}

EventId event_of_self(std::uint64_t sequence) {
    return EventId::of(test::self, sequence);
}

}  // namespace

TEST_CASE("the scheduler grants what a lost consumer had anew, and takes its credits") {
    scheduler_test::Driven scheduler(outliving(scheduler_test::small_plan()));
    scheduler.ready(0, 0);
    scheduler.ready(0, 1);
    scheduler.offer(0, 1, 100);
    CHECK(scheduler->outstanding() == 1);
    CHECK(scheduler->free_slots() == 1);

    const Actions out = scheduler.lost(0);
    const auto revoked = of_kind<Revoke>(out);
    REQUIRE(revoked.size() == 1);
    CHECK(revoked[0].to == scheduler_test::producer_0);
    CHECK(revoked[0].message.consumer == ConsumerId{0});
    CHECK(scheduler->outstanding() == 0);
    CHECK(scheduler->free_slots() == 0);
    CHECK(scheduler->waiting_events() == 1);
    CHECK_FALSE(scheduler.standings.consumers[0].present);
    CHECK(scheduler.lost(0).messages.empty());

    // The number goes on: the producer counts every grant.
    const auto again = of_kind<Grant>(scheduler.ready(1, 0));
    REQUIRE(again.size() == 1);
    CHECK(again[0].message == Grant{{1}, {0}, 1, 0});
    REQUIRE(scheduler->losses().size() == 1);
    CHECK(scheduler->losses()[0].revoked == 1);
    CHECK(scheduler->losses()[0].unprocessed == 0);
}

TEST_CASE("an event that is done before the loss is done, and its producer is informed; later it is not") {
    scheduler_test::Driven scheduler(outliving(scheduler_test::small_plan()));
    scheduler.ready(0, 0);
    scheduler.ready(0, 1);
    scheduler.offer(0, 2, 200);
    const auto taken = of_kind<Taken>(
        scheduler.message(scheduler_test::consumer_0, done_in_life(0, EventId::of({0}, 0), 0)));
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].to == scheduler_test::producer_0);
    CHECK(taken[0].message.event == EventId::of({0}, 0));

    scheduler.lost(0);
    CHECK(scheduler->losses()[0].revoked == 1);
    CHECK(scheduler->losses()[0].unprocessed == 1);
    CHECK(scheduler->done_by_lost().events == 1);
    const Actions late =
        scheduler.message(scheduler_test::consumer_0, done_in_life(0, EventId::of({0}, 1), 1));
    CHECK(late.faults.empty());
    CHECK(of_kind<Taken>(late).empty());
    CHECK(scheduler->done().events == 1);
    CHECK(scheduler->refused_messages() == 1);
    // It has sent something, so it is taken in: with a new epoch.
    const auto admitted = of_kind<Admit>(late);
    REQUIRE(admitted.size() == 1);
    CHECK(admitted[0].message.epoch == 1);
    CHECK(scheduler->losses()[0].back_at == scheduler.now);

    // Credits of the life before are refused, those of this one count.
    CHECK(scheduler.message(scheduler_test::consumer_0, Ready{.slot = {0}, .epoch = 0}).faults.empty());
    CHECK(scheduler->free_slots() == 0);
    const auto granted =
        of_kind<Grant>(scheduler.message(scheduler_test::consumer_0, Ready{.slot = {0}, .epoch = 1}));
    REQUIRE(granted.size() == 1);
    CHECK(granted[0].message == Grant{{0}, {0}, 2, 1});
}

TEST_CASE("a consumer that was started again before anybody noticed is taken out and in at once") {
    scheduler_test::Driven scheduler(outliving(scheduler_test::small_plan()));
    scheduler.ready(0, 0);
    scheduler.offer(0, 1, 100);
    const Actions out = scheduler.message(scheduler_test::consumer_0, Join{});
    CHECK(of_kind<Revoke>(out).size() == 1);
    REQUIRE(of_kind<Admit>(out).size() == 1);
    CHECK(of_kind<Admit>(out)[0].message.epoch == 1);
    CHECK(scheduler->losses().size() == 1);
    // A decline of the grant that was revoked changes nothing.
    CHECK(scheduler.decline(0, 0, 0).faults.empty());
    CHECK(scheduler->free_slots() == 0);
    CHECK(scheduler->waiting_events() == 1);
    // Heartbeats of a consumer that is there lead to nothing.
    CHECK(scheduler.message(scheduler_test::consumer_0, Heartbeat{}).messages.empty());
}

TEST_CASE("a run is closed without the ledger of a consumer that is lost, whenever it is") {
    scheduler_test::Driven scheduler(outliving(scheduler_test::small_plan()));
    scheduler.lost(2);
    scheduler.drained(0);
    const auto finish = of_kind<Finish>(scheduler.drained(1));
    CHECK(finish.size() == 4);  // two producers, two consumers
    CHECK(scheduler.message({Role::consumer, 2}, Join{}).messages.empty());
    scheduler.report(scheduler_test::producer_0, {});
    scheduler.report(scheduler_test::producer_1, {});
    scheduler.report(scheduler_test::consumer_0, {});
    CHECK_FALSE(scheduler->closed());
    scheduler.lost(1);
    CHECK(scheduler->closed());
    CHECK(scheduler->has_reported(scheduler_test::consumer_0));
    CHECK_FALSE(scheduler->has_reported({Role::consumer, 1}));
}

TEST_CASE("after the last epoch that there is a consumer stays out") {
    scheduler_test::Driven scheduler(outliving(scheduler_test::small_plan()));
    for (int life = 0; life < 65535; ++life) {
        REQUIRE(of_kind<Admit>(scheduler.message(scheduler_test::consumer_0, Join{})).size() == 1);
    }
    CHECK(scheduler.message(scheduler_test::consumer_0, Join{}).messages.empty());
}

TEST_CASE("without --on-failure continue none joins and nothing is revoked") {
    scheduler_test::Driven scheduler(scheduler_test::small_plan());
    scheduler_test::check_refused(scheduler, scheduler_test::consumer_0, Join{});
    test::Driven producer(test::small_plan());
    CHECK(producer.message(test::at_ms(0), scheduler_node(), Revoke{{0}}).faults.size() == 1);
    consumer_test::Driven consumer(consumer_test::small_plan());
    consumer.start();
    CHECK(consumer.message(scheduler_node(), Admit{1}).faults.size() == 1);
}

TEST_CASE("a producer keeps what it sent until it is done") {
    test::Driven producer(outliving(test::small_plan()));
    producer.time(test::at_ms(0));
    CHECK(producer->backlog() == Bytes{400});
    producer.deliver_one(test::at_ms(1));
    CHECK(producer->backlog() == Bytes{400});
    CHECK(producer->ledger().sent.events == 0);
    const Actions out = producer.message(test::at_ms(2), scheduler_node(), Taken{event_of_self(0), {0}});
    CHECK(out.faults.empty());
    CHECK(test::of_kind(out, Observation::Kind::gone).size() == 1);
    CHECK(producer->backlog() == Bytes{300});
    CHECK(producer->ledger().sent.events == 1);
    // Not twice, not by a consumer, and not what was never sent.
    CHECK(producer.message(test::at_ms(2), scheduler_node(), Taken{event_of_self(0), {0}}).faults.size() ==
          1);
    CHECK(producer.message(test::at_ms(2), {Role::consumer, 0}, Taken{event_of_self(1), {0}}).faults.size() ==
          1);
    CHECK(producer.message(test::at_ms(2), scheduler_node(), Taken{event_of_self(3), {0}}).faults.size() ==
          1);
}

TEST_CASE("an event may be done before its last chunk was seen to leave") {
    test::Driven producer(outliving(test::small_plan()));
    producer.time(test::at_ms(0));
    const Actions begun = producer.grant(test::at_ms(1), 0, 0);
    const std::uint32_t stream = begun.chunks.at(0).stream.value;
    producer.sent(test::at_ms(1), stream, 0);
    CHECK(producer.message(test::at_ms(2), scheduler_node(), Taken{event_of_self(0), {0}}).faults.empty());
    CHECK(producer->backlog() == Bytes{400});
    producer.sent(test::at_ms(3), stream, 1, 2);
    CHECK(producer->backlog() == Bytes{300});
    CHECK(producer->ledger().sent.events == 1);
}

TEST_CASE("a producer takes back what a lost consumer was sent, and names what is doubtful") {
    test::Driven producer(outliving(test::small_plan()));
    producer.time(test::at_ms(0));
    producer.deliver_one(test::at_ms(1));  // event 0, to consumer 0
    const Actions begun = producer.grant(test::at_ms(2), 0, 1);
    REQUIRE(begun.chunks.size() == 2);     // of three: event 1
    producer.grant(test::at_ms(2), 1, 0);  // event 2, to another consumer
    CHECK(producer->stream_use().transferring == 2);

    const Actions out = producer.message(test::at_ms(3), scheduler_node(), Revoke{{0}});
    CHECK(out.faults.empty());
    REQUIRE(out.cancelled.size() == 1);
    CHECK(out.cancelled[0] == begun.chunks[0].stream);
    CHECK(producer->stream_use().transferring == 1);
    CHECK(producer->taken_back_events() == 2);
    CHECK(producer->doubtful_events() == 1);
    REQUIRE(producer->broken_deliveries().size() == 2);
    for (const BrokenDelivery& delivery : producer->broken_deliveries()) {
        CHECK(delivery.consumer == ConsumerId{0});
        CHECK(delivery.doubtful == (delivery.event == event_of_self(0)));
    }
    CHECK(producer->backlog() == Bytes{400});

    // The oldest is sent first, from its first byte on, and in the consumer's life that the grant names.
    const Actions again = producer.message(test::at_ms(4), scheduler_node(), Grant{{2}, {0}, 3, 5});
    REQUIRE(again.chunks.size() == 2);
    CHECK(again.chunks[0].chunk.event == event_of_self(0));
    CHECK(again.chunks[0].chunk.offset == Bytes{0});
    CHECK(again.chunks[0].chunk.epoch == 5);
}

TEST_CASE("chunks that were not begun when their consumer is lost are not begun") {
    test::Driven producer(outliving(test::small_plan()));
    producer.time(test::at_ms(0));
    const Actions out = producer.messages(
        test::at_ms(1), {Grant{{0}, {0}, 0}, Grant{{1}, {0}, 1}, Revoke{{0}}, Grant{{1}, {1}, 2}});
    CHECK(out.faults.empty());
    // Two of each event that goes to consumer 1, on streams of their own.
    REQUIRE(out.chunks.size() == 4);
    for (const SendChunk& chunk : out.chunks) {
        CHECK(chunk.to == ConsumerId{1});
    }
    CHECK(out.chunks[0].stream != out.chunks[2].stream);
}

TEST_CASE("a grant for a lost consumer that was not used is void, and nothing is named") {
    for (const SendOrder order : {SendOrder::assigned, SendOrder::barrel}) {
        Plan plan = outliving(test::small_plan());
        plan.streams = 1;
        plan.order = order;
        test::Driven producer(plan);
        producer.time(test::at_ms(0));
        const Actions first = producer.grant(test::at_ms(1), 1, 0);
        producer.grant(test::at_ms(1), 0, 0);  // waits for the stream
        CHECK(producer.message(test::at_ms(2), scheduler_node(), Revoke{{0}}).cancelled.empty());
        CHECK(producer->taken_back_events() == 0);
        const std::uint32_t stream = first.chunks.at(0).stream.value;
        producer.sent(test::at_ms(3), stream, 0, 2);
        CHECK(producer.sent(test::at_ms(3), stream, 2).chunks.empty());
        CHECK(producer->stream_use().transferring == 0);
    }
}

TEST_CASE("what comes back when the time to drain is over is lost") {
    test::Driven producer(outliving(test::small_plan()));
    producer.time(test::at_ms(0));
    producer.time(test::at_ms(1000));
    producer.deliver_one(test::at_ms(1001));
    producer.time(test::at_ms(3500));
    CHECK(producer->ledger().lost.events == 7);
    CHECK_FALSE(producer->drained());
    const Actions out = producer.message(test::at_ms(3600), scheduler_node(), Revoke{{0}});
    CHECK(producer->ledger().lost.events == 8);
    CHECK(producer->doubtful_events() == 1);
    CHECK(producer->backlog() == Bytes{0});
    CHECK(of_kind<Drained>(out).size() == 1);
}

TEST_CASE("at the end of a run what is not done is lost, by name if it was sent") {
    test::Driven producer(outliving(test::small_plan()));
    producer.time(test::at_ms(0));
    producer.deliver_one(test::at_ms(1));
    producer.grant(test::at_ms(2), 1, 0);
    const Actions out = producer.finish(test::at_ms(3));
    CHECK(out.cancelled.size() == 1);
    CHECK(producer->ledger().generated == producer->ledger().lost);
    CHECK(producer->ledger().generated.events == 4);
    CHECK(producer->taken_back_events() == 2);
    CHECK(producer->doubtful_events() == 1);
}

TEST_CASE("a consumer with the order to restart drops what it has, and gives all credits of its new life") {
    consumer_test::Driven consumer(outliving(consumer_test::busy_plan(Duration::seconds(1))));
    consumer.start();
    const auto done = of_kind<Done>(consumer.whole_event(consumer_test::at_ms(5), 0, consumer_test::event_a));
    REQUIRE(done.size() == 1);
    CHECK(done[0].message.epoch == 0);
    consumer.arrive(consumer_test::at_ms(6), 1, consumer_test::chunk(consumer_test::event_b, 100, 0));
    CHECK(consumer->processing());

    const Actions out = consumer.message(scheduler_node(), Admit{3});
    CHECK(out.faults.empty());
    const auto ready = of_kind<Ready>(out);
    REQUIRE(ready.size() == 2);
    CHECK(ready[0].message.epoch == 3);
    CHECK(out.open_places.size() == 2);
    CHECK_FALSE(consumer->processing());
    CHECK(consumer->ledger() == Ledger{});
    CHECK(consumer->slot_use().free == 2);

    // Chunks of the life before are refused and counted.
    const Actions stale =
        consumer.arrive(consumer_test::at_ms(7), 1, consumer_test::chunk(consumer_test::event_b, 100, 1));
    CHECK(stale.faults.empty());
    CHECK(stale.open_places.empty());
    CHECK(consumer->stale() == Traffic{1, {40}});
    CHECK(consumer->slot_use().free == 2);
    ArrivedChunk fresh = consumer_test::chunk(consumer_test::event_b, 100, 0);
    fresh.chunk.epoch = 3;
    consumer.arrive(consumer_test::at_ms(8), 1, fresh);
    CHECK(consumer->slot_use().receiving == 1);

    // What was said to earlier lives changes nothing.
    CHECK(consumer.message(scheduler_node(), Admit{2}).messages.empty());
    CHECK(consumer.message(scheduler_node(), Finish{2}).messages.empty());
    CHECK_FALSE(consumer->finished());
    consumer.message(scheduler_node(), Finish{3});
    CHECK(consumer->finished());
}

TEST_CASE("a chunk with a damaged header is a fault, whatever life it seems to be of") {
    consumer_test::Driven consumer(outliving(consumer_test::small_plan()));
    consumer.start();
    ArrivedChunk damaged = consumer_test::chunk(consumer_test::event_b, 100, 0);
    damaged.header_intact = false;
    damaged.chunk.epoch = 7;
    const Actions out = consumer.arrive(consumer_test::at_ms(6), 1, damaged);
    REQUIRE(out.faults.size() == 1);
    CHECK(out.faults[0].kind == Fault::Kind::corrupt_header);
    CHECK(out.open_places == std::vector<PlaceId>{{1}});
    CHECK(consumer->stale() == Traffic{});
}

TEST_CASE("a chunk of an earlier life that no event has is a fault, and its size is not counted") {
    consumer_test::Driven consumer(outliving(consumer_test::small_plan()));
    consumer.start();
    consumer.message(scheduler_node(), Admit{3});
    const ArrivedChunk possible = consumer_test::chunk(consumer_test::event_b, 100, 0);
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
        ArrivedChunk other_length = possible;
        other_length.chunk.length = {bytes};
        ArrivedChunk other_size = possible;
        other_size.chunk.event_bytes = {bytes};
        for (const ArrivedChunk& chunk : {other_length, other_size}) {
            const Actions out = consumer.arrive(consumer_test::at_ms(6), 1, chunk);
            REQUIRE(out.faults.size() == 1);
            CHECK(out.faults[0].kind == Fault::Kind::unexpected_chunk);
            CHECK(out.observations.empty());
        }
    }
    CHECK(consumer->stale() == Traffic{});
    CHECK(consumer.arrive(consumer_test::at_ms(6), 1, possible).faults.empty());
    CHECK(consumer->stale() == Traffic{1, possible.chunk.length});
}

TEST_CASE("a process that begins in the place of one that died has nothing until it is taken in") {
    consumer_test::Driven consumer(outliving(consumer_test::small_plan()));
    consumer.start();
    consumer.arrive(consumer_test::at_ms(6), 1, consumer_test::chunk(consumer_test::event_b, 100, 0));
    consumer.die();
    CHECK(consumer->slot_use() == SlotUse{});
    const Actions out = consumer.begin_again();
    REQUIRE(of_kind<Join>(out).size() == 1);
    CHECK(out.open_places.empty());
    CHECK(consumer.message(scheduler_node(), Finish{0}).messages.empty());
    consumer.arrive(consumer_test::at_ms(7), 1, consumer_test::chunk(consumer_test::event_b, 100, 1));
    CHECK(consumer->stale().events == 1);
    CHECK(of_kind<Ready>(consumer.message(scheduler_node(), Admit{1})).size() == 2);
}

TEST_CASE("tokens of a consumer that is lost are gone, and the others keep their order") {
    TokenPolicy policy(1, 3, 4);
    policy.update(ProducerId{0}, {true, {1}, {0}});
    policy.update(ConsumerId{2}, {.free_slots = 1, .granted = {0}});
    policy.update(ConsumerId{0}, {.free_slots = 2, .granted = {0}});
    policy.update(ConsumerId{1}, {.free_slots = 1, .granted = {0}});
    policy.update(ConsumerId{0}, {.free_slots = 0, .granted = {0}, .present = false});
    CHECK(policy.choose()->consumer.value == 2);
    policy.update(ProducerId{0}, {true, {1}, {0}});
    CHECK(policy.choose()->consumer.value == 1);
    CHECK_FALSE(policy.consumer_available());
    policy.update(ConsumerId{0}, {.free_slots = 1, .granted = {0}});
    CHECK(policy.consumer_available());
}

TEST_CASE("round-robin leaves out who is lost, also all of them") {
    RoundRobinPolicy policy(1, 3);
    for (std::uint32_t consumer = 0; consumer < 3; ++consumer) {
        policy.update(ConsumerId{consumer}, {.free_slots = 4, .granted = {0}});
    }
    const auto next = [&] {
        policy.update(ProducerId{0}, {true, {1}, {0}});
        const auto pair = policy.choose();
        return pair ? static_cast<int>(pair->consumer.value) : -1;
    };
    CHECK(next() == 0);
    policy.update(ConsumerId{1}, {.free_slots = 0, .granted = {0}, .present = false});
    CHECK(next() == 2);
    CHECK(next() == 0);
    CHECK(next() == 2);
    policy.update(ConsumerId{0}, {.free_slots = 0, .granted = {0}, .present = false});
    policy.update(ConsumerId{2}, {.free_slots = 0, .granted = {0}, .present = false});
    CHECK_FALSE(policy.consumer_available());
    policy.update(ConsumerId{1}, {.free_slots = 1, .granted = {0}});
    CHECK(next() == 1);
}

}  // namespace core_recovery_test_file
