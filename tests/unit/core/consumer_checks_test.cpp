// The consumer: chunks that it refuses, and what becomes of their events.
#include "unit/core/driven_consumer.hpp"

namespace core_consumer_checks_test_file {

using namespace weir::core;
using namespace weir::core::consumer_test;

TEST_CASE("A chunk with which no event can begin is refused and leaves the slot free") {
    Driven consumer(small_plan());
    consumer.start();
    ArrivedChunk wrong_source = chunk(event_a, 100, 0);
    wrong_source.source = producer_1;
    ArrivedChunk from_a_consumer = chunk(event_a, 100, 0);
    from_a_consumer.source = {Role::consumer, 0};
    const ArrivedChunk of_no_producer = chunk(EventId::of({2}, 7), 100, 0);  // there are two
    ArrivedChunk too_large = chunk(event_a, 100, 0);
    too_large.chunk.event_bytes = {101};
    ArrivedChunk empty = chunk(event_a, 100, 0);
    empty.chunk.event_bytes = {0};
    for (const ArrivedChunk& wrong : {wrong_source, from_a_consumer, of_no_producer, too_large, empty}) {
        const Actions out = consumer.arrive(at_ms(1), 0, wrong);
        check_fault(out, Fault::Kind::unexpected_chunk, wrong);
        CHECK(out.open_places == Places{{0}});  // it took the receive of a chunk that is still to come
        CHECK(out.messages.empty());
        CHECK(consumer->slot_use() == SlotUse{2, 0, 0});
    }
    CHECK(consumer.whole_event(at_ms(2), 0, event_a).messages.size() == 1);
}

TEST_CASE("A first chunk with a wrong place does not take the slot") {
    Driven consumer(small_plan());
    consumer.start();
    ArrivedChunk misplaced = chunk(event_a, 100, 0);
    misplaced.chunk.offset = {8};
    check_fault(consumer.arrive(at_ms(1), 0, misplaced), Fault::Kind::unexpected_chunk, misplaced);
    CHECK(consumer->slot_use() == SlotUse{2, 0, 0});
    // The slot was granted to this event.
    for (std::uint32_t number = 0; number < 3; ++number) {
        CHECK(consumer.arrive(at_ms(2), 0, chunk(event_b, 100, number)).faults.empty());
    }
    CHECK(consumer->ledger().received.events == 1);
}

TEST_CASE("A chunk that does not belong into the event under way is refused") {
    Driven consumer(small_plan());
    consumer.start();
    consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 0));
    const ArrivedChunk foreign = chunk(event_b, 100, 1);
    ArrivedChunk other_size = chunk(event_a, 100, 1);
    other_size.chunk.event_bytes = {90};
    ArrivedChunk other_offset = chunk(event_a, 100, 1);
    other_offset.chunk.offset = {41};
    ArrivedChunk other_length = chunk(event_a, 100, 1);
    other_length.chunk.length = {39};
    ArrivedChunk behind_the_end = chunk(event_a, 100, 1);
    behind_the_end.chunk.sequence = 3;
    behind_the_end.chunk.offset = {120};
    ArrivedChunk far_behind_the_end = behind_the_end;
    far_behind_the_end.chunk.sequence = 0xffffffff;
    for (const ArrivedChunk& wrong :
         {foreign, other_size, other_offset, other_length, behind_the_end, far_behind_the_end}) {
        const Actions out = consumer.arrive(at_ms(1), 0, wrong);
        check_fault(out, Fault::Kind::unexpected_chunk, wrong);
        CHECK(out.open_places == Places{{0}});
        CHECK(out.observations.empty());
    }
    consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 1));
    CHECK(consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 2)).messages.size() == 1);
}

TEST_CASE("A small event does not take chunks of the slot behind its end") {
    Driven consumer(small_plan());
    consumer.start();
    consumer.arrive(at_ms(1), 0, chunk(event_a, 50, 0));
    ArrivedChunk behind = chunk(event_a, 50, 1);
    behind.chunk.sequence = 2;
    behind.chunk.offset = {80};
    behind.chunk.length = {10};
    check_fault(consumer.arrive(at_ms(1), 0, behind), Fault::Kind::unexpected_chunk, behind);
}

TEST_CASE("A chunk that arrives twice is named and its event counted once") {
    Driven consumer(small_plan());
    consumer.start();
    const ArrivedChunk twice = chunk(event_a, 100, 0);
    consumer.arrive(at_ms(1), 0, twice);
    const Actions out = consumer.arrive(at_ms(1), 0, twice);
    check_fault(out, Fault::Kind::duplicate_chunk, twice);
    CHECK(out.open_places == Places{{0}});
    CHECK(out.observations.empty());
    consumer.arrive(at_ms(1), 0, twice);
    CHECK(consumer->ledger().duplicate.events == 1);
    consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 1));
    consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 2));
    CHECK(consumer->ledger().received.bytes == Bytes{100});
}

TEST_CASE("A late copy of the last event does not pass for the beginning of a new one") {
    Driven consumer(small_plan());
    consumer.start();
    consumer.whole_event(at_ms(1), 0, event_a);
    const ArrivedChunk late = chunk(event_a, 100, 2);
    const Actions out = consumer.arrive(at_ms(2), 0, late);
    check_fault(out, Fault::Kind::duplicate_chunk, late);
    CHECK(out.open_places == Places{{0}});
    CHECK(consumer->slot_use() == SlotUse{2, 0, 0});
    CHECK(consumer->ledger().duplicate.events == 1);

    // While the next event arrives, it is a chunk of an event that the slot is not receiving.
    consumer.arrive(at_ms(3), 0, chunk(event_b, 100, 0));
    check_fault(consumer.arrive(at_ms(3), 0, late), Fault::Kind::unexpected_chunk, late);
}

TEST_CASE("A late copy in a slot that is being processed does not open it") {
    Driven consumer(busy_plan(Duration::milliseconds(10)));
    consumer.start();
    consumer.whole_event(at_ms(1), 0, event_a);
    const ArrivedChunk late = chunk(event_a, 100, 1);
    const Actions out = consumer.arrive(at_ms(2), 0, late);
    check_fault(out, Fault::Kind::duplicate_chunk, late);
    CHECK(out.open_places.empty());
    const ArrivedChunk foreign = chunk(event_b, 100, 1);
    const Actions other = consumer.arrive(at_ms(2), 0, foreign);
    check_fault(other, Fault::Kind::unexpected_chunk, foreign);
    CHECK(other.open_places.empty());
}

TEST_CASE("A chunk whose header does not verify is refused and its event stays incomplete") {
    Driven consumer(small_plan());
    consumer.start();
    consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 0));
    ArrivedChunk corrupt = chunk(event_a, 100, 1);
    corrupt.header_intact = false;
    const Actions out = consumer.arrive(at_ms(1), 0, corrupt);
    check_fault(out, Fault::Kind::corrupt_header, corrupt);
    CHECK(out.open_places == Places{{0}});
    CHECK(consumer->ledger().corrupt.events == 0);

    const Actions end = consumer.message(scheduler_node(), Finish{});
    REQUIRE(end.faults.size() == 1);
    CHECK(end.faults[0].kind == Fault::Kind::incomplete_event);
    CHECK(end.faults[0].sequence == 1);
}

TEST_CASE("An event with a corrupt payload is received and counted as corrupt") {
    Driven consumer(small_plan());
    consumer.start();
    consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 0));
    ArrivedChunk corrupt = chunk(event_a, 100, 1);
    corrupt.payload_intact = false;
    corrupt.payload_checked = true;
    const Actions out = consumer.arrive(at_ms(1), 0, corrupt);
    check_fault(out, Fault::Kind::corrupt_payload, corrupt);
    CHECK(out.open_places.empty());
    CHECK(consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 2)).messages.size() == 1);
    Tally one;
    one.add(event_a, {100});
    CHECK(consumer->ledger().received == one);
    CHECK(consumer->ledger().corrupt == one);
    CHECK(consumer->ledger().payload_checked == corrupt.chunk.length);

    // The next event in the same slot is not affected.
    consumer.whole_event(at_ms(2), 0, event_b);
    CHECK(consumer->ledger().corrupt == one);
}

TEST_CASE("A decline that cannot be right is refused") {
    Plan plan = small_plan();
    const Decline decline{{1}, {0}};
    Driven scheduled(plan);
    scheduled.start();
    CHECK(scheduled.message(producer_0, decline).faults.size() == 1);

    plan.policy = PolicyKind::none;
    Driven consumer(plan);
    consumer.start();
    consumer.arrive(at_ms(1), 0, chunk(event_a, 100, 0));
    CHECK(consumer.message(producer_0, decline).faults.size() == 1);  // the slot is receiving
    Decline other = decline;
    other.place = {2};
    CHECK(consumer.message(producer_0, other).faults.size() == 1);
    other = Decline{{0}, {1}};
    CHECK(consumer.message(producer_0, other).faults.size() == 1);
    other = Decline{{1}, {1}};
    CHECK(consumer.message({Role::producer, 2}, other).faults.size() == 1);
    CHECK(consumer.message(scheduler_node(), other).faults.size() == 1);
}

TEST_CASE("A consumer refuses messages that are not for consumers") {
    Driven consumer(small_plan());
    consumer.start();
    const std::array<ControlMessage, 3> wrong = {Grant{}, Offer{}, LedgerPart{}};
    for (const ControlMessage& message : wrong) {
        const Actions out = consumer.message(scheduler_node(), message);
        REQUIRE(out.faults.size() == 1);
        CHECK(out.faults[0].kind == Fault::Kind::protocol_violation);
        CHECK(out.faults[0].destination == node_of(self));
        CHECK(out.messages.empty());
    }
}

}  // namespace core_consumer_checks_test_file
