// The consumer of events that have several fragments, that it asks for, or that lose chunks on the way.
#include <vector>

#include "catch.hpp"
#include "core/consumer.hpp"
#include "unit/core/messages_of.hpp"

namespace core_consumer_building_test_file {

using namespace weir::core;

namespace {

constexpr ConsumerId self{1};

/// Events of three fragments of up to 100 bytes, in chunks of 40, 40 and 20 bytes; two slots.
Plan build_plan() {
    Plan plan;
    plan.pattern = Pattern::build;
    plan.producers = 3;
    plan.consumers = 2;
    plan.chunk_size = {40};
    plan.slot_size = {100};
    plan.window = 2;
    plan.slots = 2;
    plan.streams = 2;
    plan.requests = 2;
    plan.duration = Duration::seconds(2);
    return plan;
}

Plan lossy_plan(std::uint32_t reasks) {
    Plan plan = build_plan();
    plan.transport = TransportKind::datagram;
    plan.fragment_timeout = Duration::milliseconds(10);
    plan.reasks = reasks;
    return plan;
}

Instant at_ms(std::int64_t milliseconds) {
    return Instant{} + Duration::milliseconds(milliseconds);
}

EventId fragment(std::uint32_t producer, std::uint64_t number) {
    return EventId::of({producer}, number);
}

class Building {
  public:
    explicit Building(const Plan& plan)
        : plan_(plan), consumer_(plan, self, Sampler(plan.busy, Random(1, 1))) {
        consumer_.on_start(at_ms(0), start);
    }

    Actions start;

    /// Chunks `first` to `last` of a fragment of 100 bytes; what the last one led to.
    Actions chunks(Instant now, std::uint32_t slot, EventId event, std::uint32_t first, std::uint32_t last) {
        Actions out;
        for (std::uint32_t number = first; number <= last; ++number) {
            out.clear();
            const std::int64_t offset = 40 * std::int64_t{number};
            ArrivedChunk arrived{.source = node_of(event.producer()),
                                 .chunk = {.event = event,
                                           .event_bytes = {100},
                                           .offset = {offset},
                                           .length = {std::min<std::int64_t>(40, 100 - offset)},
                                           .sequence = number,
                                           .generated_at = at_ms(1)}};
            if (plan_.lossy()) {
                arrived.chunk.event_bytes = {};
                arrived.chunk.generated_at = {};
            }
            consumer_.on_chunk(now, place(slot, event), arrived, out);
        }
        return out;
    }
    Actions whole(Instant now, std::uint32_t slot, EventId event) { return chunks(now, slot, event, 0, 2); }
    Actions message(Instant now, NodeId from, const ControlMessage& message) {
        Actions out;
        consumer_.on_message(now, from, message, out);
        return out;
    }
    Actions sent(Instant now, std::uint32_t slot, EventId event) {
        return message(now, node_of(event.producer()),
                       Sent{event, {100}, place(slot, event), at_ms(1), at_ms(1)});
    }
    Actions decline(std::uint32_t slot, EventId event) {
        return message(at_ms(1), node_of(event.producer()),
                       Decline{self, place(slot, event), event.sequence()});
    }
    Actions time(Instant now) {
        Actions out;
        consumer_.on_time(now, out);
        return out;
    }
    const Consumer* operator->() const { return &consumer_; }

  private:
    [[nodiscard]] PlaceId place(std::uint32_t slot, EventId event) const {
        const std::uint32_t fragments = plan_.fragments_per_event();
        return {slot * fragments + (fragments > 1 ? event.producer().value : 0)};
    }

    Plan plan_;
    Consumer consumer_;
};

std::size_t observed(const Actions& out, Observation::Kind kind) {
    std::size_t found = 0;
    for (const Observation& observation : out.observations) {
        found += observation.kind == kind ? 1U : 0U;
    }
    return found;
}

}  // namespace

TEST_CASE("An event is done when the fragments of all producers are in") {
    Building consumer(build_plan());
    CHECK(consumer.start.open_places.size() == 6);  // a place for each fragment
    CHECK(of_kind<Ready>(consumer.start).size() == 2);
    CHECK(consumer.whole(at_ms(2), 1, fragment(2, 7)).messages.empty());
    CHECK(consumer.whole(at_ms(3), 1, fragment(0, 7)).messages.empty());
    const Actions last = consumer.whole(at_ms(4), 1, fragment(1, 7));
    const auto done = of_kind<Done>(last);
    REQUIRE(done.size() == 1);
    CHECK(done[0].message.credit == Done::Credit::given);
    CHECK(done[0].message.slot == SlotId{1});
    CHECK(done[0].message.fragments == 3);
    CHECK(done[0].message.bytes == Bytes{300});
    Tally all;
    for (std::uint32_t producer = 0; producer < 3; ++producer) {
        all.add(fragment(producer, 7), {100});
    }
    CHECK(done[0].message.hash == all.hash);
    CHECK(consumer->ledger().received == all);
    CHECK(observed(last, Observation::Kind::event_finished) == 1);
    CHECK(last.open_places.size() == 3);
    CHECK(consumer->finished_events() == 1);
}

TEST_CASE("Fragments of another event or producer do not belong into a slot") {
    Building consumer(build_plan());
    consumer.whole(at_ms(2), 0, fragment(0, 7));
    CHECK(consumer.chunks(at_ms(3), 0, fragment(1, 8), 0, 0).faults.size() == 1);
    CHECK(consumer.whole(at_ms(3), 0, fragment(1, 7)).faults.empty());
}

TEST_CASE("An event of which a fragment is declined is given up, and holds nothing to process") {
    Plan plan = build_plan();
    plan.busy = {.kind = DistributionKind::fixed, .mean = 1e9};
    Building consumer(plan);
    consumer.whole(at_ms(2), 0, fragment(0, 7));
    CHECK(consumer.decline(0, fragment(2, 7)).messages.empty());
    const Actions last = consumer.whole(at_ms(3), 0, fragment(1, 7));
    const auto done = of_kind<Done>(last);
    REQUIRE(done.size() == 1);
    CHECK(done[0].message.credit == Done::Credit::given);
    CHECK(done[0].message.fragments == 2);
    CHECK(observed(last, Observation::Kind::event_given_up) == 1);
    CHECK_FALSE(consumer->processing());
    CHECK(consumer->given_up_events() == 1);
    CHECK(consumer.decline(0, fragment(2, 8)).faults.empty());
    CHECK(consumer.decline(0, fragment(2, 8)).faults.size() == 1);  // that place is complete
}

TEST_CASE("Pull: no more fragments are asked for than allowed, each rank from another one on") {
    Plan plan = build_plan();
    plan.initiation = Initiation::pull;
    plan.order = SendOrder::barrel;
    Building consumer(plan);
    const Assign assign{{0}, {0}, 7};
    const auto asked = of_kind<Grant>(consumer.message(at_ms(1), scheduler_node(), assign));
    REQUIRE(asked.size() == 2);
    CHECK(asked[0].message.place == PlaceId{1});
    CHECK(asked[0].message.number == 7);
    CHECK(asked[1].message.place == PlaceId{2});
    const auto next = of_kind<Grant>(consumer.whole(at_ms(2), 0, fragment(1, 7)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].message.place == PlaceId{0});
    // The slot is assigned; what is not of that event does not belong.
    CHECK(consumer.message(at_ms(2), scheduler_node(), assign).faults.size() == 1);
    CHECK(consumer.chunks(at_ms(2), 0, fragment(0, 8), 0, 0).faults.size() == 1);
}

TEST_CASE("Above the high water mark no credit is given until the low one") {
    Plan plan = build_plan();
    plan.pattern = Pattern::distribute;
    plan.slots = 4;
    plan.high_water = 3;
    plan.low_water = 1;
    plan.busy = {.kind = DistributionKind::fixed, .mean = 1e7};
    Building consumer(plan);
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
        consumer.whole(at_ms(0), slot, fragment(0, slot));
    }
    CHECK(of_kind<Ready>(consumer.time(at_ms(10))).empty());
    CHECK(of_kind<Ready>(consumer.time(at_ms(20))).empty());
    CHECK(consumer->slot_use() == SlotUse{.free = 0, .receiving = 0, .queued = 2, .withheld = 2});
    CHECK(of_kind<Ready>(consumer.time(at_ms(30))).size() == 3);
    CHECK(of_kind<Ready>(consumer.time(at_ms(40))).size() == 1);
}

TEST_CASE("Over a lossy transport a fragment is whole when its producer has said what it was") {
    Plan plan = lossy_plan(0);
    plan.pattern = Pattern::distribute;
    Building consumer(plan);
    CHECK(consumer.chunks(at_ms(2), 0, fragment(2, 7), 0, 2).messages.empty());
    const Actions last = consumer.sent(at_ms(3), 0, fragment(2, 7));
    CHECK(of_kind<Done>(last).size() == 1);
    CHECK(last.observations.back().elapsed == Duration::milliseconds(2));
    // Said first, complete with the last chunk.
    consumer.sent(at_ms(4), 1, fragment(0, 0));
    CHECK(consumer.chunks(at_ms(4), 1, fragment(0, 0), 0, 1).messages.empty());
    CHECK(of_kind<Done>(consumer.chunks(at_ms(5), 1, fragment(0, 0), 2, 2)).size() == 1);
    CHECK(consumer->ledger().received.events == 2);
    CHECK(consumer->next_deadline() == Instant::never());
}

TEST_CASE("A fragment that stays incomplete is given up by name, and its late chunks are known") {
    Building consumer(lossy_plan(0));
    consumer.whole(at_ms(2), 0, fragment(0, 7));
    consumer.sent(at_ms(2), 0, fragment(0, 7));
    consumer.whole(at_ms(2), 0, fragment(1, 7));
    consumer.sent(at_ms(2), 0, fragment(1, 7));
    consumer.sent(at_ms(3), 0, fragment(2, 7));  // not a chunk of it came
    CHECK(consumer->next_deadline() == at_ms(13));
    const Actions over = consumer.time(at_ms(13));
    const auto done = of_kind<Done>(over);
    REQUIRE(done.size() == 1);
    CHECK(done[0].message.fragments == 2);
    Tally lost;
    lost.add(fragment(2, 7), {100});
    CHECK(consumer->ledger().incomplete == lost);
    REQUIRE(consumer->given_up().size() == 1);
    CHECK(consumer->given_up()[0] == fragment(2, 7));
    const Actions late = consumer.chunks(at_ms(14), 0, fragment(2, 7), 1, 1);
    CHECK(observed(late, Observation::Kind::chunk_late) == 1);
    CHECK(late.faults.empty());
    // The slot takes its next event all the same.
    consumer.whole(at_ms(15), 0, fragment(2, 8));
    CHECK(observed(consumer.chunks(at_ms(16), 0, fragment(2, 8), 1, 1), Observation::Kind::chunk_duplicate) ==
          1);
}

TEST_CASE("What is lost is asked for again as often as allowed") {
    Plan plan = lossy_plan(2);
    plan.pattern = Pattern::distribute;
    Building consumer(plan);
    consumer.chunks(at_ms(1), 0, fragment(1, 4), 0, 0);
    const Actions told = consumer.sent(at_ms(2), 0, fragment(1, 4));
    REQUIRE(told.observations.size() == 1);
    CHECK(told.observations[0].kind == Observation::Kind::transfer_noticed);
    CHECK(told.observations[0].elapsed == Duration::milliseconds(1));
    for (int again = 1; again <= 2; ++again) {
        const Actions asked = consumer.time(at_ms(12 * again));
        REQUIRE(of_kind<SendAgain>(asked).size() == 1);
        CHECK(of_kind<SendAgain>(asked)[0].message.event == fragment(1, 4));
        CHECK(consumer.time(at_ms(12 * again + 1000)).messages.empty());  // until it was sent again
        consumer.sent(at_ms(12 * again + 2), 0, fragment(1, 4));
    }
    SECTION("and becomes whole") {
        const Actions last = consumer.chunks(at_ms(27), 0, fragment(1, 4), 1, 2);
        CHECK(of_kind<Done>(last).size() == 1);
        CHECK(of_kind<Taken>(last).size() == 1);
        // The producer's word may come once more.
        CHECK(consumer.sent(at_ms(28), 0, fragment(1, 4)).faults.empty());
        CHECK(consumer->slot_use().free == 2);
    }
    SECTION("or is given up") {
        const Actions over = consumer.time(at_ms(36));
        CHECK(of_kind<Done>(over).size() == 1);
        CHECK(of_kind<Taken>(over).size() == 1);
        CHECK(consumer->ledger().incomplete.events == 1);
    }
}

TEST_CASE("A late word of a fragment that is over begins nothing, however many there are") {
    Plan plan = lossy_plan(1);
    plan.producers = 300;
    Building consumer(plan);
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        consumer.chunks(at_ms(1), 0, fragment(producer, 0), 0, 1);
        consumer.sent(at_ms(2), 0, fragment(producer, 0));
    }
    CHECK(of_kind<SendAgain>(consumer.time(at_ms(12))).size() == plan.producers);
    // The last chunks were only late, and come before what the producers answer.
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        consumer.chunks(at_ms(13), 0, fragment(producer, 0), 2, 2);
    }
    CHECK(consumer->finished_events() == 1);
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        CHECK(observed(consumer.chunks(at_ms(14), 0, fragment(producer, 0), 0, 0),
                       Observation::Kind::chunk_received) == 0);
        const Actions late = consumer.sent(at_ms(14), 0, fragment(producer, 0));
        CHECK(late.faults.empty());
        CHECK(late.messages.empty());
    }
    CHECK(consumer->slot_use().free == plan.slots);
    CHECK(consumer->next_deadline() == Instant::never());
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        consumer.whole(at_ms(15), 0, fragment(producer, 2));
        consumer.sent(at_ms(15), 0, fragment(producer, 2));
    }
    CHECK(consumer->finished_events() == 2);
    CHECK(consumer->ledger().received.events == 600);
}

TEST_CASE("A producer's late word finds a slot that others have used since, and changes nothing") {
    Plan plan = lossy_plan(0);
    plan.pattern = Pattern::distribute;
    plan.producers = 300;
    Building consumer(plan);
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        consumer.sent(at_ms(20 * producer), 0, fragment(producer, 5));
        consumer.time(at_ms(20 * producer + 10));  // given up
    }
    CHECK(consumer->ledger().incomplete.events == plan.producers);
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        const Actions late = consumer.whole(at_ms(6000), 0, fragment(producer, 5));
        CHECK(observed(late, Observation::Kind::chunk_late) == 1);
        CHECK(consumer.whole(at_ms(6000), 0, fragment(producer, 4)).messages.empty());
    }
    CHECK(consumer->slot_use().free == plan.slots);
    consumer.whole(at_ms(6001), 0, fragment(7, 6));
    CHECK(of_kind<Done>(consumer.sent(at_ms(6001), 0, fragment(7, 6))).size() == 1);
}

TEST_CASE("Chunks of one fragment that come together are observed together") {
    Plan plan = lossy_plan(0);
    plan.pattern = Pattern::distribute;
    Consumer consumer(plan, self, Sampler(plan.busy, Random(1, 1)));
    Actions out;
    consumer.on_start(at_ms(0), out);
    out.clear();
    const auto arrive = [&](std::uint32_t place, std::uint32_t producer, std::uint32_t sequence) {
        ArrivedChunk chunk{.source = {Role::producer, producer}, .chunk = {}};
        chunk.chunk.event = fragment(producer, 7);
        chunk.chunk.length = {40};
        chunk.chunk.sequence = sequence;
        consumer.on_chunk(at_ms(1), {place}, chunk, out);
    };
    arrive(0, 0, 0);
    arrive(0, 0, 1);
    arrive(1, 1, 0);  // another fragment
    arrive(0, 0, 2);
    arrive(0, 0, 1);  // came before
    REQUIRE(out.observations.size() == 4);
    CHECK(out.observations[0].kind == Observation::Kind::chunk_received);
    CHECK(out.observations[0].bytes == Bytes{80});
    CHECK(out.observations[0].chunks == 2);
    CHECK(out.observations[1].peer == NodeId{Role::producer, 1});
    CHECK(out.observations[2].chunks == 1);
    CHECK(out.observations[3].kind == Observation::Kind::chunk_duplicate);
}

TEST_CASE("A corrupt datagram is one that is missing") {
    Plan plan = lossy_plan(0);
    plan.pattern = Pattern::distribute;
    Consumer consumer(plan, self, Sampler(plan.busy, Random(1, 1)));
    Actions out;
    consumer.on_start(at_ms(0), out);
    out.clear();
    ArrivedChunk corrupt;
    corrupt.source = {Role::producer, 0};
    corrupt.payload_intact = false;
    corrupt.chunk.event = fragment(0, 0);
    consumer.on_chunk(at_ms(1), {0}, corrupt, out);
    CHECK(observed(out, Observation::Kind::chunk_corrupt) == 1);
    CHECK(out.faults.empty());
    CHECK(consumer.slot_use().receiving == 0);
}

}  // namespace core_consumer_building_test_file
