// The producer whose events are fragments, whose grants name events, and whose chunks may get lost or be held
// back.
#include <vector>

#include "catch.hpp"
#include "core/distribution.hpp"
#include "core/producer.hpp"
#include "unit/core/messages_of.hpp"

namespace core_producer_building_test_file {

using namespace weir::core;

namespace {

constexpr ProducerId self{1};

/// Sets of four fragments of 100 bytes each second, in chunks of 50 bytes.
Plan build_plan() {
    Plan plan;
    plan.pattern = Pattern::build;
    plan.producers = 2;
    plan.consumers = 3;
    plan.rate = {3200};
    plan.interval = Duration::seconds(1);
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 100};
    plan.buffer = {400};
    plan.chunk_size = {50};
    plan.slot_size = {100};
    plan.window = 2;
    plan.slots = 4;
    plan.streams = 2;
    plan.duration = Duration::seconds(1);
    plan.drain = Duration::seconds(1);
    return plan;
}

Instant at_ms(std::int64_t milliseconds) {
    return Instant{} + Duration::milliseconds(milliseconds);
}

class Sending {
  public:
    explicit Sending(const Plan& plan)
        : plan_(plan),
          producer_(plan, self,
                    EventGenerator(plan, Sampler(plan.event_size, Random(1, 1)), Instant{} - plan.warmup,
                                   Instant{plan.duration.ns})) {}

    Actions time(Instant now) {
        Actions out;
        producer_.on_time(now, out);
        return out;
    }
    Actions message(Instant now, NodeId from, const ControlMessage& message) {
        Actions out;
        producer_.on_message(now, from, message, out);
        return out;
    }
    /// As the scheduler grants event `number`.
    Actions grant(Instant now, std::uint32_t consumer, std::uint32_t slot, std::uint64_t number) {
        return message(now, scheduler_node(), grant_message(consumer, slot, number));
    }
    Actions ask(Instant now, std::uint32_t consumer, std::uint32_t slot, std::uint64_t number) {
        return message(now, {Role::consumer, consumer}, grant_message(consumer, slot, number));
    }
    /// Lets both chunks of a transfer leave; what the last one led to.
    Actions both_sent(Instant now, std::uint32_t stream) {
        Actions out;
        producer_.on_chunk_sent(now, {stream}, 0, out);
        out.clear();
        producer_.on_chunk_sent(now, {stream}, 1, out);
        return out;
    }
    Actions sent(Instant now, const SendChunk& chunk) {
        Actions out;
        producer_.on_chunk_sent(now, chunk.stream, chunk.chunk.sequence, out);
        return out;
    }
    const Producer* operator->() const { return &producer_; }

  private:
    [[nodiscard]] ControlMessage grant_message(std::uint32_t consumer, std::uint32_t slot,
                                               std::uint64_t number) const {
        return Grant{{consumer}, {slot * plan_.fragments_per_event() + self.value}, number};
    }

    Plan plan_;
    Producer producer_;
};

}  // namespace

TEST_CASE("A grant of an event takes this producer's fragment of it into its place") {
    Sending producer(build_plan());
    producer.time(at_ms(0));
    const Actions out = producer.grant(at_ms(1), 2, 3, 0);
    REQUIRE(out.chunks.size() == 2);
    CHECK(out.chunks[0].place == PlaceId{7});  // the second place of slot 3
    CHECK(out.chunks[0].chunk.event == EventId::of(self, 0));
    // Out of order, or for the place of another producer's fragment.
    CHECK(producer.grant(at_ms(1), 2, 2, 2).faults.size() == 1);
    CHECK(producer.message(at_ms(1), scheduler_node(), Grant{{2}, {4}, 1}).faults.size() == 1);
}

TEST_CASE("Consumers that pull may request events in any order") {
    Plan plan = build_plan();
    plan.initiation = Initiation::pull;
    Sending producer(plan);
    producer.time(at_ms(0));
    CHECK(producer.ask(at_ms(1), 0, 0, 2).chunks.at(0).chunk.event == EventId::of(self, 2));
    CHECK(producer.ask(at_ms(1), 1, 0, 0).chunks.at(0).chunk.event == EventId::of(self, 0));
    // Not there any more: the consumer that waits is informed.
    CHECK(producer.ask(at_ms(1), 2, 0, 2).messages.empty());  // no stream is free yet
    const Actions free = producer.both_sent(at_ms(2), 0);
    REQUIRE(of_kind<Decline>(free).size() == 1);
    CHECK(of_kind<Decline>(free)[0].to == NodeId{Role::consumer, 2});
    CHECK(of_kind<Decline>(free)[0].message.number == 2);
    CHECK(producer.ask(at_ms(2), 2, 1, 99).faults.size() == 1);  // was never offered
}

TEST_CASE("With the order barrel consumers are served in turn") {
    Plan plan = build_plan();
    plan.order = SendOrder::barrel;
    plan.streams = 1;
    Sending producer(plan);
    producer.time(at_ms(0));
    CHECK(producer.grant(at_ms(1), 0, 0, 0).chunks.at(0).to == ConsumerId{0});
    producer.grant(at_ms(1), 0, 1, 1);
    producer.grant(at_ms(1), 2, 0, 2);
    producer.grant(at_ms(1), 1, 0, 3);
    CHECK(producer.both_sent(at_ms(2), 0).chunks.at(0).to == ConsumerId{1});
    CHECK(producer.both_sent(at_ms(3), 0).chunks.at(0).to == ConsumerId{2});
    CHECK(producer.both_sent(at_ms(4), 0).chunks.at(0).to == ConsumerId{0});
}

TEST_CASE("The last offer is marked, and the others' events are made up for") {
    Plan plan = build_plan();
    plan.generation = Generation::saturate;
    Sending producer(plan);
    const auto first = of_kind<Offer>(producer.time(at_ms(0)));
    REQUIRE(first.size() == 1);
    CHECK(first[0].message.offered.events == 4);
    CHECK(first[0].message.more == Offer::More::expected);
    const auto last = of_kind<Offer>(producer.time(at_ms(1000)));
    REQUIRE(last.size() == 1);
    CHECK(last[0].message.more == Offer::More::none);
    const Complete complete{6};
    const auto rest = of_kind<Offer>(producer.message(at_ms(1001), scheduler_node(), complete));
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].message.offered.events == 6);
    CHECK(producer->ledger().generated.events == 6);
    CHECK(producer.message(at_ms(1002), scheduler_node(), complete).faults.size() == 1);
}

TEST_CASE("A fragment that was dropped at overflow is offered, and declined when its event is granted") {
    Plan plan = build_plan();
    plan.buffer = {300};
    plan.overflow = Overflow::drop;
    Sending producer(plan);
    CHECK(of_kind<Offer>(producer.time(at_ms(0)))[0].message.offered.events == 4);
    for (std::uint32_t number = 0; number < 3; ++number) {
        producer.grant(at_ms(1), 0, number, number);
    }
    producer.both_sent(at_ms(2), 0);
    producer.both_sent(at_ms(2), 1);
    const auto declined = of_kind<Decline>(producer.grant(at_ms(3), 1, 0, 3));
    REQUIRE(declined.size() == 1);
    CHECK(declined[0].to == NodeId{Role::consumer, 1});
    CHECK(declined[0].message.number == 3);
}

TEST_CASE("Over a lossy transport a consumer is informed what it should have received") {
    Plan plan = build_plan();
    plan.transport = TransportKind::datagram;
    Sending producer(plan);
    producer.time(at_ms(0));
    producer.grant(at_ms(1), 2, 3, 0);
    const Actions out = producer.both_sent(at_ms(2), 0);
    REQUIRE(of_kind<Sent>(out).size() == 1);
    CHECK(of_kind<Sent>(out)[0].to == NodeId{Role::consumer, 2});
    CHECK(of_kind<Sent>(out)[0].message.bytes == Bytes{100});
    CHECK(of_kind<Sent>(out)[0].message.place == PlaceId{7});
    CHECK(of_kind<Sent>(out)[0].message.begun_at == at_ms(1));
    CHECK(producer->backlog() == Bytes{300});
}

TEST_CASE("What may be asked for again is backlog until it is taken") {
    Plan plan = build_plan();
    plan.transport = TransportKind::datagram;
    plan.reasks = 1;
    Sending producer(plan);
    producer.time(at_ms(0));
    producer.grant(at_ms(1), 2, 3, 0);
    producer.both_sent(at_ms(2), 0);
    CHECK(producer->backlog() == Bytes{400});
    const SendAgain again{EventId::of(self, 0), {7}};
    CHECK(producer.message(at_ms(3), {Role::consumer, 2}, again).chunks.size() == 2);
    const Actions resent = producer.both_sent(at_ms(4), 0);
    CHECK(of_kind<Sent>(resent).size() == 1);
    CHECK(producer->ledger().sent.events == 1);
    const Taken taken{again.event, again.place};
    CHECK(producer.message(at_ms(5), {Role::consumer, 2}, taken).faults.empty());
    CHECK(producer->backlog() == Bytes{300});
    CHECK(producer.message(at_ms(5), {Role::consumer, 0}, SendAgain{{}, {99}}).faults.size() == 1);
}

TEST_CASE("A shaped producer holds its chunks back and returns when the next may go") {
    Plan plan = build_plan();
    plan.shaping.kind = ShapingKind::bucket;
    plan.shaping.rate = {400000};  // 50 bytes per millisecond
    plan.shaping.burst = {50};
    Sending producer(plan);
    producer.time(at_ms(0));
    CHECK(producer.grant(at_ms(1), 0, 0, 0).chunks.size() == 1);
    CHECK(producer->next_deadline() == at_ms(2));
    CHECK(producer.time(at_ms(2)).chunks.size() == 1);
    CHECK(producer.time(at_ms(2)).chunks.empty());
}

TEST_CASE("A tick is refused that is not the scheduler's, or not waited for") {
    const Tick tick{1};
    CHECK(Sending(build_plan()).message(at_ms(0), scheduler_node(), tick).faults.size() == 1);
    Plan plan = build_plan();
    plan.shaping.kind = ShapingKind::in_step;
    plan.shaping.grid = Duration::milliseconds(1);
    plan.shaping.tick = Duration::milliseconds(10);
    Sending producer(plan);
    CHECK(producer.message(at_ms(0), {Role::consumer, 0}, tick).faults.size() == 1);
    CHECK(producer.message(at_ms(0), scheduler_node(), tick).faults.empty());
}

TEST_CASE("A shaped producer with always more to send waits for its pacer") {
    Plan plan = build_plan();
    plan.pattern = Pattern::distribute;
    plan.generation = Generation::saturate;
    plan.shaping.kind = ShapingKind::bucket;
    plan.shaping.rate = {400000};
    plan.shaping.burst = {50};
    Sending producer(plan);
    producer.time(at_ms(0));
    const Grant grant{{0}, {0}};
    CHECK(producer.message(at_ms(0), scheduler_node(), grant).chunks.size() == 1);
    CHECK(producer->next_deadline() == at_ms(1));
}

TEST_CASE("Streams that a shaped producer holds back take turns") {
    Plan plan = build_plan();
    plan.chunk_size = {100};
    plan.shaping.kind = ShapingKind::bucket;
    plan.shaping.rate = {800000};  // a chunk per millisecond
    plan.shaping.burst = {100};
    Sending producer(plan);
    producer.time(at_ms(0));
    std::vector<SendChunk> chunks = producer.grant(at_ms(1), 0, 0, 0).chunks;
    for (std::uint32_t event = 1; event < 4; ++event) {
        CHECK(producer.grant(at_ms(1), 0, event, event).chunks.empty());
    }
    // Whichever stream sent takes the next event at once; the other one must not starve.
    for (std::int64_t ms = 2; ms < 4; ++ms) {
        REQUIRE(chunks.size() == 1);
        producer.sent(at_ms(ms - 1), chunks.front());
        chunks = producer.time(at_ms(ms)).chunks;
    }
    REQUIRE(chunks.size() == 1);
    CHECK(chunks.front().chunk.event == EventId::of(self, 1));
}

}  // namespace core_producer_building_test_file
