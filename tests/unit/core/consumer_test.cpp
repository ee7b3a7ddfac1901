// The consumer: credits, events put together from chunks, processing, and the end.
#include "unit/core/driven_consumer.hpp"

namespace core_consumer_test_file {

using namespace weir::core;
using namespace weir::core::consumer_test;

TEST_CASE("A consumer opens all its slots and gives a credit for each") {
    Driven consumer(small_plan());
    const Actions out = consumer.start();
    CHECK(out.open_places == Places{{0}, {1}});
    REQUIRE(out.messages.size() == 2);
    CHECK(out.messages[1].to == scheduler_node());
    CHECK(out.messages[1].message == ControlMessage{Ready{{1}}});
    CHECK(consumer->slot_use() == SlotUse{2, 0, 0});
    CHECK(consumer->next_deadline() == Instant::never());
}

TEST_CASE("Chunks in a row count as if they had come one by one") {
    Driven consumer(small_plan());
    consumer.start();
    ArrivedChunk two = chunk(event_a, 100, 0);
    two.count = 2;
    CHECK(consumer.arrive(at_ms(3), 1, two).faults.size() == 1);  // two chunks of the length of one
    two.chunk.length = {80};
    const Actions first = consumer.arrive(at_ms(4), 1, two);
    REQUIRE(first.observations.size() == 2);
    CHECK(first.observations[1].bytes == Bytes{80});
    ArrivedChunk again = chunk(event_a, 100, 1);
    again.count = 2;
    again.chunk.length = {60};
    check_fault(consumer.arrive(at_ms(4), 1, again), Fault::Kind::duplicate_chunk, again);
    again.chunk.sequence = 2;
    again.chunk.offset = {80};
    check_fault(consumer.arrive(at_ms(4), 1, again), Fault::Kind::unexpected_chunk, again);  // beyond the end
    const Actions last = consumer.arrive(at_ms(5), 1, chunk(event_a, 100, 2));
    CHECK(last.messages.size() == 1);
    CHECK(consumer->ledger().received.bytes == Bytes{100});
}

TEST_CASE("The first chunk that arrives has how long its transfer has been under way") {
    Driven consumer(small_plan());
    consumer.start();
    const auto noticed = [&](Instant now, std::uint32_t slot, EventId event, std::uint32_t number,
                             Instant begun_at) {
        ArrivedChunk arrived = chunk(event, 100, number);
        arrived.chunk.begun_at = begun_at;
        std::vector<Duration> times;
        for (const Observation& observation : consumer.arrive(now, slot, arrived).observations) {
            if (observation.kind == Observation::Kind::transfer_noticed) {
                times.push_back(observation.elapsed);
            }
        }
        return times;
    };
    CHECK(noticed(at_ms(9), 1, event_a, 1, at_ms(2)) == std::vector{Duration::milliseconds(7)});
    CHECK(noticed(at_ms(10), 1, event_a, 0, at_ms(2)).empty());
    // Clocks differ, and a header that is not verified may hold anything.
    CHECK(noticed(at_ms(11), 0, event_b, 0, at_ms(12)) == std::vector{Duration{}});
    const auto senseless =
        noticed(at_ms(12), 0, EventId::of({0}, 8), 0, {std::numeric_limits<std::int64_t>::min()});
    CHECK(senseless.empty());  // the slot has another event
}

TEST_CASE("Chunks make an event whole in any order") {
    Driven consumer(small_plan());
    consumer.start();
    const Actions first = consumer.arrive(at_ms(4), 1, chunk(event_a, 100, 2));
    CHECK(first.messages.empty());
    REQUIRE(first.observations.size() == 2);
    CHECK(first.observations[0].kind == Observation::Kind::transfer_noticed);
    CHECK(first.observations[1].kind == Observation::Kind::chunk_received);
    CHECK(first.observations[1].bytes == Bytes{20});
    CHECK(consumer->slot_use() == SlotUse{1, 1, 0});
    CHECK(consumer.arrive(at_ms(5), 1, chunk(event_a, 100, 0)).messages.empty());
    const Actions last = consumer.arrive(at_ms(6), 1, chunk(event_a, 100, 1));

    REQUIRE(last.messages.size() == 1);
    CHECK(last.messages[0].message == ControlMessage{Done{.slot = {1},
                                                          .fragments = 1,
                                                          .bytes = {100},
                                                          .hash = ledger_mix(event_a, {100}),
                                                          .event = event_a,
                                                          .credit = Done::Credit::given}});
    CHECK(last.open_places == Places{{1}});  // not busy: the credit travels with the done message
    REQUIRE(last.observations.size() == 2);
    CHECK(last.observations[1].kind == Observation::Kind::received);
    CHECK(last.observations[1].elapsed == Duration::milliseconds(5));
    CHECK(consumer->slot_use() == SlotUse{2, 0, 0});
    Tally one;
    one.add(event_a, {100});
    CHECK(consumer->ledger().received == one);
}

TEST_CASE("An event may be smaller than its slot") {
    Driven consumer(small_plan());
    consumer.start();
    CHECK(std::get<Done>(consumer.whole_event(at_ms(1), 0, event_a, 1).messages.at(0).message).bytes ==
          Bytes{1});
    CHECK(std::get<Done>(consumer.whole_event(at_ms(1), 0, event_b, 80).messages.at(0).message).bytes ==
          Bytes{80});
    CHECK(std::get<Done>(consumer.whole_event(at_ms(1), 0, EventId::of({1}, 4), 100).messages.at(0).message)
              .bytes == Bytes{100});
    CHECK(consumer->ledger().received.events == 3);
    CHECK(consumer->ledger().received.bytes == Bytes{181});
}

TEST_CASE("Whole events are counted by producer, corrupt ones too and duplicate ones once") {
    Driven consumer(small_plan());
    consumer.start();
    const auto counted = [&] {
        const auto all = consumer->received_from();
        return std::vector<Traffic>(all.begin(), all.end());
    };
    CHECK(counted() == std::vector<Traffic>{{0, {}}, {0, {}}});
    consumer.whole_event(at_ms(1), 0, event_a, 100);
    consumer.whole_event(at_ms(1), 0, event_b, 80);
    consumer.arrive(at_ms(2), 0, chunk(EventId::of({0}, 8), 50, 0));
    CHECK(counted() == std::vector<Traffic>{{1, {100}}, {1, {80}}});  // part of an event is none
    ArrivedChunk damaged = chunk(EventId::of({0}, 8), 50, 1);
    damaged.payload_intact = false;
    consumer.arrive(at_ms(2), 0, damaged);
    consumer.arrive(at_ms(2), 0, chunk(EventId::of({0}, 8), 50, 1));  // once more
    CHECK(counted() == std::vector<Traffic>{{2, {150}}, {1, {80}}});
    CHECK(consumer->ledger().received.events == 3);
    CHECK(consumer->ledger().received.bytes == Bytes{230});
    CHECK(consumer->ledger().duplicate.events == 1);
}

TEST_CASE("Two slots receive at the same time") {
    Driven consumer(small_plan());
    consumer.start();
    for (std::uint32_t number = 0; number < 3; ++number) {
        CHECK(consumer.arrive(at_ms(1), 0, chunk(event_a, 100, number)).faults.empty());
        CHECK(consumer.arrive(at_ms(1), 1, chunk(event_b, 100, number)).faults.empty());
    }
    CHECK(consumer->ledger().received.events == 2);
}

TEST_CASE("A busy consumer processes one event after the other in order of arrival") {
    Driven consumer(busy_plan(Duration::milliseconds(10)));
    consumer.start();
    const Actions first = consumer.whole_event(at_ms(100), 1, event_a);
    REQUIRE(first.messages.size() == 1);
    CHECK(std::get<Done>(first.messages[0].message).credit == Done::Credit::kept);
    CHECK(first.open_places.empty());
    CHECK(consumer->processing());
    CHECK(consumer->next_deadline() == at_ms(110));
    consumer.whole_event(at_ms(104), 0, event_b);
    CHECK(consumer->slot_use() == SlotUse{0, 0, 2});
    CHECK(consumer->next_deadline() == at_ms(110));
    CHECK(consumer.time(at_ms(109)).messages.empty());

    const Actions freed = consumer.time(at_ms(110));
    CHECK(freed.open_places == Places{{1}});
    REQUIRE(freed.messages.size() == 1);
    CHECK(freed.messages[0].message == ControlMessage{Ready{{1}}});
    REQUIRE(freed.observations.size() == 1);
    CHECK(freed.observations[0].kind == Observation::Kind::processed);
    CHECK(freed.observations[0].event == event_a);
    CHECK(freed.observations[0].elapsed == Duration::milliseconds(10));
    CHECK(consumer->next_deadline() == at_ms(120));
    CHECK(consumer.time(at_ms(120)).open_places == Places{{0}});
    CHECK_FALSE(consumer->processing());
}

TEST_CASE("Processing goes on back to back however late the rank looks") {
    Driven consumer(busy_plan(Duration::milliseconds(10)));
    consumer.start();
    consumer.whole_event(at_ms(100), 0, event_a);
    consumer.whole_event(at_ms(100), 1, event_b);
    CHECK(consumer.time(at_ms(117)).open_places == Places{{0}});
    CHECK(consumer->next_deadline() == at_ms(120));  // and not 127
    CHECK(consumer.time(at_ms(500)).open_places == Places{{1}});

    consumer.whole_event(at_ms(600), 0, EventId::of({0}, 8));
    consumer.whole_event(at_ms(600), 1, EventId::of({1}, 8));
    CHECK(consumer.time(at_ms(900)).open_places == Places{{0}, {1}});
}

TEST_CASE("A processing time of zero frees the slot at once") {
    Driven consumer(busy_plan(Duration{0}));
    consumer.start();
    const Actions out = consumer.whole_event(at_ms(1), 0, event_a);
    REQUIRE(out.messages.size() == 2);
    CHECK(std::holds_alternative<Done>(out.messages[0].message));
    CHECK(std::get<Done>(out.messages[0].message).credit == Done::Credit::kept);
    CHECK(std::holds_alternative<Ready>(out.messages[1].message));
    CHECK(out.open_places == Places{{0}});
    CHECK_FALSE(consumer->processing());
    CHECK(consumer->slot_use() == SlotUse{2, 0, 0});
}

TEST_CASE("Only the chosen consumers are busy") {
    Plan plan = busy_plan(Duration::milliseconds(10));
    plan.busy_consumers = {0, 2};
    using Credit = Done::Credit;
    for (const auto& [id, credit] :
         {std::pair{0U, Credit::kept}, std::pair{1U, Credit::given}, std::pair{2U, Credit::kept}}) {
        Driven consumer(plan, ConsumerId{id});
        consumer.start();
        const Actions out = consumer.whole_event(at_ms(1), 0, event_a);
        CHECK(std::get<Done>(out.messages.at(0).message).credit == credit);
    }
}

TEST_CASE("At the end an incomplete event is named with its first missing chunk") {
    Driven consumer(small_plan());
    consumer.start();
    consumer.whole_event(at_ms(1), 0, event_b);
    consumer.arrive(at_ms(1), 1, chunk(event_a, 100, 0));
    consumer.arrive(at_ms(1), 1, chunk(event_a, 100, 2));
    const Actions end = consumer.message(scheduler_node(), Finish{});
    CHECK(end.close_places);
    CHECK(consumer->finished());
    CHECK(consumer->next_deadline() == Instant::never());
    REQUIRE(end.faults.size() == 1);
    CHECK(end.faults[0].kind == Fault::Kind::incomplete_event);
    CHECK(end.faults[0].source == producer_0);
    CHECK(end.faults[0].destination == node_of(self));
    CHECK(end.faults[0].event == event_a);
    CHECK(end.faults[0].sequence == 1);
    CHECK(end.faults[0].offset == Bytes{40});
    CHECK(consumer->ledger().incomplete.events == 1);

    REQUIRE(end.messages.size() == ledger_report_messages);
    Ledger reported;
    for (const SendMessage& message : end.messages) {
        CHECK(message.to == scheduler_node());
        CHECK(add_ledger_entry(std::get<LedgerPart>(message.message), reported));
    }
    CHECK(reported == consumer->ledger());

    // Closed: what still comes is not looked at.
    CHECK(consumer.arrive(at_ms(2), 1, chunk(event_a, 100, 1)).observations.empty());
    CHECK(consumer.message(scheduler_node(), Finish{}).messages.empty());
}

TEST_CASE("An event in processing at the end counts as received") {
    Driven consumer(busy_plan(Duration::seconds(100)));
    consumer.start();
    consumer.whole_event(at_ms(1), 0, event_a);
    const Actions end = consumer.message(scheduler_node(), Finish{});
    CHECK(end.faults.empty());
    CHECK(consumer->ledger().received.events == 1);
    CHECK(consumer->next_deadline() == Instant::never());
    CHECK(consumer.time(at_ms(200000)).open_places.empty());
}

TEST_CASE("A consumer reports its progress when it is asked, and every change") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    Driven consumer(plan);
    consumer.start();
    consumer.whole_event(at_ms(1), 1, event_a);
    const Actions now = consumer.message(scheduler_node(), ReportProgress{});
    REQUIRE(now.messages.size() == 1);
    CHECK(now.messages[0].to == scheduler_node());
    CHECK(now.messages[0].message == ControlMessage{Progress{{1, {100}}}});
    const Actions change = consumer.whole_event(at_ms(2), 0, event_b);
    REQUIRE_FALSE(change.messages.empty());
    CHECK(std::get<Progress>(change.messages[0].message).received.events == 2);
}

TEST_CASE("Without a scheduler free slots go to the producers in turn") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    Driven consumer(plan);
    const Actions begin = consumer.start();
    REQUIRE(begin.messages.size() == 2);
    CHECK(begin.messages[0].to == producer_1);  // consumer 1 begins with producer 1, not all with the first
    CHECK(begin.messages[0].message == ControlMessage{Grant{{1}, {0}}});
    CHECK(begin.messages[1].to == producer_0);

    const Actions next = consumer.whole_event(at_ms(1), 0, event_b);
    REQUIRE(next.messages.size() == 1);  // no done message: the scheduler does not follow
    CHECK(next.messages[0].to == producer_1);
    CHECK(std::holds_alternative<Grant>(next.messages[0].message));
    CHECK(next.open_places == Places{{0}});
}

TEST_CASE("A slot that a drained producer declines goes to another and then to none") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    Driven consumer(plan);
    consumer.start();
    const Decline decline_0{{1}, {0}};
    const Decline decline_1{{1}, {1}};
    const Actions passed_on = consumer.message(producer_1, decline_0);
    REQUIRE(passed_on.messages.size() == 1);
    CHECK(passed_on.messages[0].to == producer_0);
    CHECK(std::get<Grant>(passed_on.messages[0].message).place == PlaceId{0});
    // Producer 1 is not asked again.
    const Actions next = consumer.whole_event(at_ms(1), 1, event_a);
    REQUIRE(next.messages.size() == 1);
    CHECK(next.messages[0].to == producer_0);

    CHECK(consumer.message(producer_0, decline_0).messages.empty());
    const Actions last = consumer.message(producer_0, decline_1);
    CHECK(last.messages.empty());
    CHECK(last.faults.empty());
}

}  // namespace core_consumer_test_file
