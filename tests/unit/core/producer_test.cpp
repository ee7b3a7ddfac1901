// The producer: what it sends for every input, seen from outside only.
#include <array>
#include <vector>

#include "catch.hpp"
#include "core/actions.hpp"
#include "core/plan.hpp"
#include "unit/core/driven_producer.hpp"

namespace core_producer_test_file {

using namespace weir::core;
using namespace weir::core::test;

TEST_CASE("A producer offers what it has generated as a sum since the start") {
    Driven producer(small_plan());
    CHECK(producer->next_deadline() == at_ms(0));

    const Actions first = producer.time(at_ms(0));
    REQUIRE(first.messages.size() == 1);
    CHECK(first.messages[0].to == scheduler_node());
    CHECK(first.messages[0].message == ControlMessage{Offer{{4, {400}}}});
    const auto generated = of_kind(first, Observation::Kind::generated);
    REQUIRE(generated.size() == 4);
    CHECK(generated[3].event == EventId::of(self, 3));
    CHECK(generated[3].bytes == Bytes{100});
    CHECK(producer->backlog() == Bytes{400});
    CHECK(producer->stream_use() == StreamUse{0, 2, 0});
    CHECK(producer->next_deadline() == at_ms(1000));

    CHECK(producer.time(at_ms(500)).messages.empty());  // nothing new: the offer is not repeated

    const Actions second = producer.time(at_ms(1000));
    REQUIRE(second.messages.size() == 1);
    CHECK(std::get<Offer>(second.messages[0].message).offered == Traffic{8, {800}});
}

TEST_CASE("Sets that became due between two turns are generated at once with one offer") {
    Driven producer(small_plan());
    const Actions out = producer.time(at_ms(1600));
    CHECK(of_kind<Offer>(out).size() == 1);
    const auto generated = of_kind(out, Observation::Kind::generated);
    REQUIRE(generated.size() == 8);
    CHECK(generated[0].elapsed == Duration::milliseconds(1600));
    CHECK(generated[7].elapsed == Duration::milliseconds(600));
}

TEST_CASE("With overflow count an event beyond the buffer stays queued") {
    Driven producer(small_plan());
    producer.time(at_ms(1000));
    CHECK(producer->backlog() == Bytes{800});
    CHECK(producer->ledger().lost.events == 0);
    CHECK(producer->lost_ranges().empty());
}

TEST_CASE("With overflow drop an event beyond the buffer is lost by name and never offered") {
    Plan plan = small_plan();
    plan.overflow = Overflow::drop;
    plan.duration = Duration::seconds(3);
    Driven producer(plan);
    producer.time(at_ms(0));
    producer.deliver_one(at_ms(100));
    const Actions out = producer.time(at_ms(1000));
    CHECK(of_kind<Offer>(out).at(0).message.offered.events == 5);
    CHECK(of_kind(out, Observation::Kind::dropped).size() == 3);
    REQUIRE(producer->lost_ranges().size() == 1);  // one range for neighbours
    CHECK(producer->lost_ranges()[0].first == 5);
    CHECK(producer->lost_ranges()[0].last == 7);
    CHECK(producer->lost_ranges()[0].reason == LostRange::Reason::overflow);

    producer.deliver_one(at_ms(1100));
    producer.deliver_one(at_ms(1200));
    producer.time(at_ms(2000));
    REQUIRE(producer->lost_ranges().size() == 2);
    CHECK(producer->lost_ranges()[1].first == 10);
    CHECK(producer->lost_ranges()[1].last == 11);
    CHECK(producer->ledger().lost.events == 5);
    CHECK(producer->ledger().lost.bytes == Bytes{500});
    CHECK(producer->backlog() == Bytes{400});
}

TEST_CASE("Neighbours that were lost for different reasons are named apart") {
    Plan plan = small_plan();
    plan.overflow = Overflow::drop;
    plan.duration = Duration::seconds(3);
    Driven producer(plan);
    producer.time(at_ms(1000));  // events 4 to 7 find the buffer full
    for (int event = 0; event < 4; ++event) {
        producer.deliver_one(at_ms(1100));
    }
    producer.time(at_ms(2000));
    producer.time(at_ms(4000));
    REQUIRE(producer->lost_ranges().size() == 2);
    CHECK(producer->lost_ranges()[0].last == 7);
    CHECK(producer->lost_ranges()[0].reason == LostRange::Reason::overflow);
    CHECK(producer->lost_ranges()[1].first == 8);
    CHECK(producer->lost_ranges()[1].reason == LostRange::Reason::undelivered);
}

TEST_CASE("Losses beyond the list of names are still counted") {
    Plan plan = small_plan();
    plan.overflow = Overflow::drop;
    plan.rate = {1600};
    plan.buffer = {100};
    plan.chunk_size = {100};
    plan.duration = Duration::seconds(300);
    Driven producer(plan);
    for (std::int64_t second = 0; second < 300; ++second) {
        producer.time(at_ms(second * 1000));  // two events: one fits, one is lost
        producer.deliver_one(at_ms(second * 1000 + 1));
    }
    CHECK(producer->lost_ranges().size() == Producer::lost_ranges_limit);
    CHECK(producer->lost_ranges().back().last == 511);
    CHECK(producer->ledger().lost.events == 300);
    CHECK(producer->ledger().sent.events == 300);
}

TEST_CASE("The last set counts as overflow when a next one would not have fitted") {
    Plan plan = small_plan();
    plan.duration = Duration::seconds(1);
    {
        Driven late(plan);
        late.time(at_ms(0));
        late.time(at_ms(999));
        CHECK_FALSE(late->overflowed_at_close());
        late.time(at_ms(1000));
        CHECK(late->overflowed_at_close());
    }
    Driven in_time(plan);
    in_time.time(at_ms(0));
    for (int event = 0; event < 4; ++event) {
        in_time.deliver_one(at_ms(900));
    }
    in_time.time(at_ms(1000));
    CHECK_FALSE(in_time->overflowed_at_close());
    CHECK(in_time->drained());

    // A buffer of more than one set may hold what is left beside the next one.
    plan.buffer = {500};
    for (const int left : {1, 2}) {
        Driven larger(plan);
        larger.time(at_ms(0));
        for (int event = left; event < 4; ++event) {
            larger.deliver_one(at_ms(900));
        }
        larger.time(at_ms(1000));
        CHECK(larger->overflowed_at_close() == (left == 2));
    }
    plan.buffer = {400};

    // Steady generation has no set to be late with.
    plan.generation = Generation::steady;
    Driven steady(plan);
    steady.time(at_ms(1000));
    CHECK(steady->backlog() > Bytes{0});
    CHECK_FALSE(steady->overflowed_at_close());
}

TEST_CASE("A duration that ends inside an interval is closed at the end of that interval") {
    Plan plan = small_plan();
    plan.duration = Duration::milliseconds(500);
    Driven producer(plan);
    producer.time(at_ms(0));
    for (int event = 0; event < 4; ++event) {
        producer.deliver_one(at_ms(100));
    }
    CHECK(producer->next_deadline() == at_ms(1000));
    CHECK(producer.time(at_ms(500)).messages.empty());
    CHECK(of_kind<Drained>(producer.time(at_ms(1000))).size() == 1);
}

TEST_CASE("A staggered producer's last set has a whole interval, and its account is closed then") {
    Plan plan = small_plan();
    plan.set_phase = SetPhase::spread;  // producer 1 of 2: at 500 ms and 1500 ms
    plan.drain = {};
    for (const bool in_time : {true, false}) {
        Driven producer(plan);
        CHECK(producer->next_deadline() == at_ms(500));
        CHECK(of_kind(producer.time(at_ms(499)), Observation::Kind::generated).empty());
        CHECK(of_kind(producer.time(at_ms(500)), Observation::Kind::generated).size() == 4);
        for (int event = 0; event < 4; ++event) {
            producer.deliver_one(at_ms(1400));
        }
        CHECK(of_kind(producer.time(at_ms(1500)), Observation::Kind::generated).size() == 4);
        for (int event = in_time ? 0 : 1; event < 4; ++event) {
            producer.deliver_one(at_ms(2400));
        }
        CHECK_FALSE(producer->drained());
        CHECK(producer->next_deadline() == at_ms(2500));
        producer.time(at_ms(2500));
        CHECK(producer->overflowed_at_close() == !in_time);
        CHECK(producer->drained() == in_time);
        CHECK(of_kind(producer.time(at_ms(2999)), Observation::Kind::left_over).empty());
        CHECK(of_kind(producer.time(at_ms(3000)), Observation::Kind::left_over).size() == (in_time ? 0 : 1));
    }
}

TEST_CASE("What a late producer generates at the end counts against its buffer") {
    Plan plan = small_plan();
    SECTION("sets: all that were due, and one more") {
        Driven producer(plan);
        producer.time(at_ms(2000));  // it did not run before: two sets come now
        CHECK(producer->backlog() == Bytes{800});
        CHECK(producer->overflowed_at_close());
    }
    SECTION("steady") {
        plan.generation = Generation::steady;
        Driven producer(plan);
        producer.time(at_ms(2000));
        CHECK(producer->backlog() > plan.buffer);
        CHECK(producer->overflowed_at_close());
    }
}

TEST_CASE(
    "An overflow by what is generated after the end counts, though it is gone when the account is closed") {
    Plan plan = small_plan();
    plan.duration = Duration::milliseconds(1200);
    plan.buffer = {700};
    Driven producer(plan);
    producer.time(at_ms(1300));  // both sets, the second 300 ms late and 100 ms after the end of generation
    for (int event = 0; event < 8; ++event) {
        producer.deliver_one(at_ms(1900));
    }
    producer.time(at_ms(2000));
    CHECK(producer->overflowed_at_close());
}

TEST_CASE("Nothing is given up before its deadline, however short the drain") {
    Plan plan = small_plan();
    plan.drain = Duration{};
    SECTION("sets: until the set after the last would be generated") {
        plan.duration = Duration::milliseconds(1200);
        Driven producer(plan);
        producer.time(at_ms(1000));
        CHECK(of_kind(producer.time(at_ms(1999)), Observation::Kind::left_over).empty());
        CHECK(of_kind(producer.time(at_ms(2000)), Observation::Kind::left_over).size() == 8);
    }
    SECTION("steady: an interval longer than generation") {
        plan.generation = Generation::steady;
        Driven producer(plan);
        producer.time(at_ms(2999));
        CHECK(of_kind(producer.time(at_ms(2999)), Observation::Kind::left_over).empty());
        CHECK_FALSE(of_kind(producer.time(at_ms(3000)), Observation::Kind::left_over).empty());
    }
    SECTION("a longer drain is kept") {
        plan.drain = Duration::seconds(5);
        CHECK(plan.give_up_at() == at_ms(7000));
    }
}

TEST_CASE("An event is gone when its last chunk has left, counted from its generation") {
    Driven producer(small_plan());
    producer.time(at_ms(5));
    producer.grant(at_ms(10), 0, 0);
    producer.sent(at_ms(20), 0, 0);
    CHECK(of_kind(producer.sent(at_ms(30), 0, 1), Observation::Kind::gone).empty());
    const auto gone = of_kind(producer.sent(at_ms(40), 0, 2), Observation::Kind::gone);
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].event == EventId::of(self, 0));
    CHECK(gone[0].elapsed == Duration::milliseconds(40));  // it was due at 0
}

TEST_CASE("Where consumers request again, an event is gone when it is taken and not when it is sent") {
    Plan plan = small_plan();
    plan.transport = TransportKind::datagram;
    plan.reasks = 1;
    Driven producer(plan);
    producer.time(at_ms(0));
    producer.grant(at_ms(10), 0, 0);
    for (std::uint32_t chunk = 0; chunk < 3; ++chunk) {
        CHECK(of_kind(producer.sent(at_ms(20), 0, chunk), Observation::Kind::gone).empty());
    }
    const auto gone =
        of_kind(producer.message(at_ms(700), {Role::consumer, 0}, Taken{EventId::of(self, 0), {0}}),
                Observation::Kind::gone);
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].elapsed == Duration::milliseconds(700));
}

TEST_CASE("Drained is said once and not before the end of the duration") {
    Driven producer(small_plan());
    producer.time(at_ms(1000));
    for (int event = 0; event < 8; ++event) {
        producer.deliver_one(at_ms(1100));
    }
    CHECK_FALSE(producer->drained());
    CHECK(producer.time(at_ms(1999)).messages.empty());
    const Actions out = producer.time(at_ms(2000));
    REQUIRE(out.messages.size() == 1);
    CHECK(out.messages[0].to == scheduler_node());
    CHECK(out.messages[0].message == ControlMessage{Drained{{8, {800}}}});
    CHECK(producer->drained());
    CHECK(producer->next_deadline() == Instant::never());
    CHECK(producer.time(at_ms(2500)).messages.empty());
    CHECK(producer.time(at_ms(4000)).messages.empty());

    // A grant that was under way is handed back, and that is no second end.
    const Actions late = producer.grant(at_ms(4000), 2, 1);
    REQUIRE(late.messages.size() == 1);
    CHECK(late.messages[0].to == scheduler_node());
    CHECK(late.messages[0].message == ControlMessage{Decline{{2}, {1}}});
}

TEST_CASE("At the end of the drain waiting events are lost and transfers under way go on") {
    Driven producer(small_plan());
    producer.time(at_ms(1000));
    producer.grant(at_ms(2900), 0, 0);
    CHECK(producer->next_deadline() == at_ms(2000));
    producer.time(at_ms(2000));
    CHECK(producer->next_deadline() == at_ms(3000));
    const Actions end = producer.time(at_ms(3000));
    CHECK(of_kind(end, Observation::Kind::left_over).size() == 7);
    CHECK(end.messages.empty());
    REQUIRE(producer->lost_ranges().size() == 1);
    CHECK(producer->lost_ranges()[0].first == 1);
    CHECK(producer->lost_ranges()[0].last == 7);
    CHECK(producer->lost_ranges()[0].reason == LostRange::Reason::undelivered);
    CHECK(producer->backlog() == Bytes{100});

    CHECK(of_kind<Decline>(producer.grant(at_ms(3100), 1, 0)).size() == 1);
    producer.sent(at_ms(3200), 0, 0);
    producer.sent(at_ms(3200), 0, 1);
    const Actions last = producer.sent(at_ms(3200), 0, 2);
    REQUIRE(of_kind<Drained>(last).size() == 1);
    CHECK(of_kind<Drained>(last)[0].message.sent.events == 1);
    CHECK(producer->ledger().generated == producer->ledger().sent + producer->ledger().lost);
}

TEST_CASE("Grants that are left when the last event goes are declined") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    plan.duration = Duration::seconds(1);
    Driven producer(plan);
    producer.time(at_ms(0));
    std::vector<SendMessage> declined;
    for (std::uint32_t grant = 0; grant < 5; ++grant) {
        const Actions out = producer.grant(at_ms(10), grant % 3, grant / 3);
        CHECK(out.messages.empty());  // generation is not over: the fifth may still be used
    }
    for (std::uint32_t event = 0; event < 4; ++event) {
        for (std::uint32_t sequence = 0; sequence < 3; ++sequence) {
            producer.sent(at_ms(20), event % 2, sequence);
        }
    }
    const Actions end = producer.time(at_ms(1000));
    REQUIRE(end.messages.size() == 2);
    CHECK(end.messages[0].to == NodeId{Role::consumer, 1});  // policy none: to the consumer that gave it
    CHECK(end.messages[0].message == ControlMessage{Decline{{1}, {1}}});
    CHECK(end.messages[1].to == scheduler_node());
    CHECK(std::holds_alternative<Drained>(end.messages[1].message));
}

TEST_CASE("Without a scheduler grants come from consumers and nothing is offered") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    plan.warmup = Duration::seconds(1);
    Driven producer(plan);
    // Free slots are handed out before there is an event for them.
    CHECK(producer.grant(at_ms(-1500), 2, 1).chunks.empty());
    const Actions out = producer.time(at_ms(-1000));
    CHECK(out.messages.empty());
    REQUIRE(out.chunks.size() == 2);
    CHECK(out.chunks[0].to == ConsumerId{2});
    CHECK(out.chunks[0].place == PlaceId{1});
    CHECK(out.chunks[0].chunk.generated_at == at_ms(-1000));
}

TEST_CASE("A run that ends early reports all that has not left as lost") {
    Driven producer(small_plan());
    producer.time(at_ms(0));
    producer.deliver_one(at_ms(100));
    producer.grant(at_ms(200), 0, 0);
    producer.sent(at_ms(200), 0, 0);
    const Actions end = producer.finish(at_ms(300));
    CHECK(producer->finished());
    CHECK(producer->next_deadline() == Instant::never());
    CHECK(producer->ledger().generated.events == 4);
    CHECK(producer->ledger().sent.events == 1);
    CHECK(producer->ledger().lost.events == 3);
    CHECK(producer->ledger().generated == producer->ledger().sent + producer->ledger().lost);
    REQUIRE(end.messages.size() == ledger_report_messages);
    CHECK(std::holds_alternative<LedgerPart>(end.messages[0].message));
    CHECK(std::get<LedgerPart>(end.messages[1].message).tally.events == 1);

    // What comes late changes nothing any more.
    CHECK(producer.sent(at_ms(400), 0, 1).chunks.empty());
    CHECK(producer.grant(at_ms(400), 1, 0).faults.empty());
    CHECK(producer.time(at_ms(1000)).observations.empty());
    CHECK(producer.finish(at_ms(1000)).messages.empty());
    CHECK(producer->ledger().generated.events == 4);
    CHECK(producer->ledger().sent.events == 1);
}

TEST_CASE("A producer that has reported its ledger does not drain afterwards") {
    Driven producer(small_plan());
    producer.time(at_ms(1000));
    producer.time(at_ms(2000));
    producer.finish(at_ms(2100));
    CHECK_FALSE(producer->drained());
    CHECK(producer.grant(at_ms(2200), 0, 0).messages.empty());
    CHECK_FALSE(producer->drained());
}

TEST_CASE("A grant that is out of order or names no slot is refused") {
    Driven producer(small_plan());
    producer.time(at_ms(0));
    constexpr NodeId scheduler = scheduler_node();
    struct Case {
        NodeId from;
        ControlMessage message;
    };
    const std::array cases = {
        Case{scheduler, Grant{{0}, {0}, 1}},
        Case{scheduler, Grant{{3}, {0}, 0}},
        Case{scheduler, Grant{{0}, {2}, 0}},
        Case{{Role::consumer, 0}, Grant{{0}, {0}, 0}},
    };
    for (const Case& wrong : cases) {
        const Actions out = producer.message(at_ms(1), wrong.from, wrong.message);
        REQUIRE(out.faults.size() == 1);
        CHECK(out.faults[0].kind == Fault::Kind::protocol_violation);
        CHECK(out.faults[0].source == wrong.from);
        CHECK(out.faults[0].destination == node_of(self));
        CHECK(out.chunks.empty());
        CHECK(out.messages.empty());
    }
    // None of them counted: the first grant is still expected.
    CHECK(producer.grant(at_ms(2), 0, 0).chunks.size() == 2);
    const Actions repeated = producer.message(at_ms(2), scheduler, Grant{{0}, {0}, 0});
    CHECK(repeated.faults.size() == 1);
}

TEST_CASE("Without a scheduler only the owner of a slot can grant it") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    Driven producer(plan);
    const Grant grant{{1}, {0}};
    CHECK(producer.message(at_ms(-1), scheduler_node(), grant).faults.size() == 1);
    CHECK(producer.message(at_ms(-1), {Role::consumer, 0}, grant).faults.size() == 1);
    // There are 3 x 2 slots: a seventh grant cannot be right.
    for (int slot = 0; slot < 6; ++slot) {
        CHECK(producer.message(at_ms(-1), {Role::consumer, 1}, grant).faults.empty());
    }
    CHECK(producer.message(at_ms(-1), {Role::consumer, 1}, grant).faults.size() == 1);
}

TEST_CASE("A producer refuses messages that are not for producers") {
    Driven producer(small_plan());
    const std::array<ControlMessage, 3> wrong = {Ready{}, ReportProgress{}, Done{}};
    for (const ControlMessage& message : wrong) {
        const Actions out = producer.message(at_ms(0), scheduler_node(), message);
        REQUIRE(out.faults.size() == 1);
        CHECK(out.faults[0].kind == Fault::Kind::protocol_violation);
        CHECK(out.messages.empty());
    }
}

TEST_CASE("A saturated producer generates the next event as soon as one has left") {
    Plan plan = small_plan();
    plan.generation = Generation::saturate;
    Driven producer(plan);
    CHECK(of_kind<Offer>(producer.time(at_ms(0))).at(0).message.offered.events == 4);
    producer.grant(at_ms(1), 0, 0);
    producer.sent(at_ms(2), 0, 0);
    producer.sent(at_ms(2), 0, 1);
    // Its buffer is full: until something has left there is nothing to do but to wait, however long.
    CHECK(producer->next_deadline() == Instant{plan.duration.ns});
    const Actions out = producer.sent(at_ms(3), 0, 2);
    REQUIRE(of_kind<Offer>(out).size() == 1);
    CHECK(of_kind<Offer>(out)[0].message.offered.events == 5);
    CHECK(producer->backlog() == Bytes{400});
}

TEST_CASE("A saturated producer stops at as many events as can wait") {
    Plan plan = small_plan();
    plan.generation = Generation::saturate;
    plan.event_size.mean = 1;
    plan.buffer = Bytes{1} * (std::int64_t{1} << 40);
    Driven producer(plan);
    const Actions out = producer.time(at_ms(0));
    CHECK(out.observations.size() == waiting_events_limit);
    CHECK(producer->backlog() == Bytes{1} * static_cast<std::int64_t>(waiting_events_limit));
    CHECK(producer->next_deadline() == Instant{plan.duration.ns});
}

}  // namespace core_producer_test_file
