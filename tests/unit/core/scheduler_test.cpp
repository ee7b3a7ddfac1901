// The scheduler's mechanism: credits, grants, and what it refuses.
#include "unit/core/driven_scheduler.hpp"

namespace core_scheduler_test_file {

using namespace weir::core;
using namespace weir::core::scheduler_test;

TEST_CASE("A grant goes out as soon as an offer meets a credit") {
    Driven scheduler(small_plan());
    CHECK(scheduler.offer(1, 3, 300).messages.empty());
    CHECK(scheduler->waiting_events() == 3);
    const Actions first = scheduler.ready(2, 1);
    REQUIRE(first.messages.size() == 1);
    check_grant(first.messages[0], 1, 2, 1, 0);
    CHECK(scheduler->waiting_events() == 2);
    CHECK(scheduler->free_slots() == 0);
    CHECK(scheduler->outstanding() == 1);
    check_grant(scheduler.ready(2, 0).messages.at(0), 1, 2, 0, 1);
}

TEST_CASE("The oldest credit of a consumer is spent first and grants are numbered per producer") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 1);
    scheduler.ready(0, 0);
    scheduler.ready(1, 0);
    CHECK(scheduler->free_slots() == 3);
    const Actions two = scheduler.offer(0, 2, 200);
    REQUIRE(two.messages.size() == 2);
    check_grant(two.messages[0], 0, 0, 1, 0);
    check_grant(two.messages[1], 0, 0, 0, 1);
    const Actions other = scheduler.offer(1, 1, 100);
    REQUIRE(other.messages.size() == 1);
    check_grant(other.messages[0], 1, 1, 0, 0);
}

TEST_CASE("No producer ever has more transfers than streams") {
    Driven scheduler(small_plan());
    for (std::uint32_t slot = 0; slot < 6; ++slot) {
        scheduler.ready(slot / 2, slot % 2);
    }
    CHECK(scheduler.offer(0, 5, 500).messages.size() == 2);
    CHECK(scheduler->outstanding() == 2);
    CHECK(scheduler->waiting_events() == 3);
    CHECK_FALSE(scheduler->producer_available());
    CHECK(scheduler->consumer_available());
    const Actions next = scheduler.done(0, 1, EventId::of({0}, 1), 100);  // in another order than granted
    REQUIRE(next.messages.size() == 1);
    check_grant(next.messages[0], 0, 1, 0, 2);
    CHECK(scheduler->outstanding() == 2);
}

TEST_CASE("A slot is granted again only after its consumer gave it back") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 10, 1000);
    REQUIRE(scheduler.ready(0, 0).messages.size() == 1);
    CHECK(scheduler.done(0, 0, event_0, 100).messages.empty());
    CHECK(scheduler->free_slots() == 0);
    REQUIRE(scheduler.ready(0, 0).messages.size() == 1);
    // flag 1: the credit is given with the done message.
    const Actions again = scheduler.done(0, 0, EventId::of({0}, 1), 100, Done::Credit::given);
    REQUIRE(again.messages.size() == 1);
    check_grant(again.messages[0], 0, 0, 0, 2);
    CHECK(scheduler->done().events == 2);
}

TEST_CASE("The size of an event is estimated when it is granted and corrected when it is done") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    scheduler.offer(0, 3, 240);
    CHECK(scheduler.standings.producers[0].waiting == Bytes{160});
    CHECK(scheduler.standings.producers[0].granted == Bytes{80});  // the mean of what was offered
    CHECK(scheduler.standings.consumers[0].granted == Bytes{80});
    CHECK(scheduler.standings.consumers[0].occupied_slots == 2);  // granted, and one never given as credit
    scheduler.done(0, 0, event_0, 50, Done::Credit::given);
    // 50 bytes are certain; of the 190 that are left, half is assumed for the event granted next.
    CHECK(scheduler.standings.producers[0].granted == Bytes{145});
    CHECK(scheduler.standings.producers[0].waiting == Bytes{95});
    CHECK(scheduler.standings.consumers[0].granted == Bytes{145});
    scheduler.done(0, 0, EventId::of({0}, 1), 100);
    CHECK(scheduler.standings.producers[0].granted == Bytes{150});
    CHECK(scheduler.standings.producers[0].waiting == Bytes{90});
    CHECK(scheduler.standings.producers[0].eligible);
    CHECK(scheduler->done().bytes == Bytes{150});
}

TEST_CASE("A producer is no fuller while it sends, although the last event of its set is smaller") {
    Plan plan = small_plan();
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 100, .trace = {}};
    Driven scheduler(plan);
    scheduler.ready(0, 0);
    scheduler.offer(0, 3, 250);
    const ProducerStanding& producer = scheduler.standings.producers[0];
    const auto check_two_wait = [&] {
        CHECK(producer.waiting == Bytes{150});
        CHECK(producer.granted == Bytes{100});
    };
    check_two_wait();
    scheduler.done(0, 0, event_0, 100);
    check_two_wait();
    scheduler.ready(0, 0);
    scheduler.ready(1, 0);
    CHECK(producer.waiting == Bytes{0});
    CHECK(producer.granted == Bytes{250});
}

TEST_CASE("A declined grant gives the credit back and counts no bytes") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    scheduler.offer(0, 1, 100);
    CHECK(scheduler->outstanding() == 1);
    scheduler.decline(0, 0, 0);
    CHECK(scheduler->outstanding() == 0);
    CHECK(scheduler->free_slots() == 1);
    CHECK(scheduler.standings.producers[0].granted == Bytes{0});
    CHECK(scheduler.standings.consumers[0].granted == Bytes{0});
    check_grant(scheduler.offer(1, 1, 100).messages.at(0), 1, 0, 0, 0);
}

TEST_CASE("A credit that the scheduler already holds is refused") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    const Ready again{{0}};
    check_refused(scheduler, consumer_0, again);
    check_refused(scheduler, consumer_0, Ready{{2}});
    check_refused(scheduler, producer_0, Ready{{1}});
    check_refused(scheduler, {Role::consumer, 3}, Ready{{1}});
    scheduler.offer(0, 1, 100);
    check_refused(scheduler, consumer_0, again);  // granted, not done
}

TEST_CASE("An offer that takes back or comes from no producer is refused") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 5, 500);
    check_refused(scheduler, producer_0, Offer{{4, {500}}});
    check_refused(scheduler, producer_0, Offer{{6, {499}}});
    check_refused(scheduler, consumer_0, Offer{{6, {600}}});
    check_refused(scheduler, {Role::producer, 2}, Offer{{6, {600}}});
    CHECK(scheduler.offer(0, 6, 600).faults.empty());
    CHECK(scheduler->waiting_events() == 6);
}

TEST_CASE("An offer after drained is refused") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 2, 200);
    scheduler.drained(0);
    check_refused(scheduler, producer_0, Offer{{3, {300}}});
}

TEST_CASE("A done message that fits no grant is refused") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    scheduler.ready(0, 1);
    scheduler.offer(0, 1, 100);
    const Done right{
        .slot = {0}, .fragments = 1, .bytes = {100}, .hash = ledger_mix(event_0, {100}), .event = event_0};
    Done wrong = right;
    wrong.slot = {1};  // free, not granted
    check_refused(scheduler, consumer_0, wrong);
    wrong.slot = {2};
    check_refused(scheduler, consumer_0, wrong);
    wrong = right;
    wrong.event = event_1;  // granted to producer 0
    wrong.hash = ledger_mix(event_1, {100});
    check_refused(scheduler, consumer_0, wrong);
    for (const std::int64_t bytes : {0, -1, 101}) {
        wrong = right;
        wrong.bytes = {bytes};
        wrong.hash = ledger_mix(event_0, {bytes});
        check_refused(scheduler, consumer_0, wrong);
    }
    wrong = right;
    wrong.hash += 1;
    check_refused(scheduler, consumer_0, wrong);
    check_refused(scheduler, {Role::consumer, 1}, right);
    check_refused(scheduler, producer_0, right);
    CHECK(scheduler.message(consumer_0, right).faults.empty());
    check_refused(scheduler, consumer_0, right);  // twice
}

TEST_CASE("A decline of a grant that was not made is refused") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    scheduler.ready(1, 1);
    scheduler.offer(0, 1, 100);
    const Decline right{{0}, {0}};
    check_refused(scheduler, producer_1, right);
    check_refused(scheduler, consumer_0, right);
    check_refused(scheduler, producer_0, Decline{{1}, {1}});
    check_refused(scheduler, producer_0, Decline{{3}, {0}});
    check_refused(scheduler, producer_0, Decline{{0}, {2}});
    CHECK(scheduler.message(producer_0, right).faults.empty());
    check_refused(scheduler, producer_0, right);
}

TEST_CASE("Messages that a scheduler does not take are refused") {
    Driven scheduler(small_plan());
    const std::array<ControlMessage, 3> wrong = {Grant{}, ReportProgress{}, Finish{}};
    for (const ControlMessage& message : wrong) {
        check_refused(scheduler, producer_0, message);
    }
    check_refused(scheduler, scheduler_node(), LedgerPart{LedgerEntry{0}, {0, {0}, 0}});
    check_refused(scheduler, producer_0, Progress{{1, {0}}});
    check_refused(scheduler, consumer_0, Drained{{0, {0}}});
}

TEST_CASE("Time without credit counts while a producer could be served and no slot is free") {
    Driven scheduler(small_plan());
    CHECK(scheduler->no_credit_time(at_s(1)) == Duration{0});
    scheduler.now = at_s(2);
    scheduler.offer(0, 2, 200);
    CHECK(scheduler->no_credit_time(at_s(2)) == Duration{0});
    CHECK(scheduler->no_credit_time(at_s(5)) == Duration::seconds(3));
    scheduler.now = at_s(5);
    scheduler.ready(0, 0);  // one event is granted, the other waits on
    CHECK(scheduler->no_credit_time(at_s(6)) == Duration::seconds(4));
    scheduler.now = at_s(6);
    scheduler.ready(0, 1);  // nothing waits any more
    CHECK(scheduler->no_credit_time(at_s(9)) == Duration::seconds(4));
    scheduler.now = at_s(9);
    scheduler.offer(0, 3, 300);  // both streams are in use: slots are not what is missing
    CHECK(scheduler->no_credit_time(at_s(10)) == Duration::seconds(4));
    scheduler.time(at_s(10));
    CHECK(scheduler->no_credit_time(at_s(10)) == Duration::seconds(4));
    // A question about the past is no reason to count backwards.
    CHECK(scheduler->no_credit_time(at_s(0)) == Duration::seconds(4));
}

TEST_CASE("Time without credit counts in the warm-up as well") {
    Plan plan = small_plan();
    plan.warmup = Duration::seconds(3);
    Driven scheduler(plan);
    scheduler.now = at_s(-2);
    scheduler.offer(0, 1, 100);
    scheduler.time(at_s(-1));
    CHECK(scheduler->no_credit_time(at_s(1)) == Duration::seconds(3));
}

}  // namespace core_scheduler_test_file
