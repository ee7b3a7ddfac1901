// The end of a run as the scheduler brings it about.
#include "unit/core/driven_scheduler.hpp"

namespace core_scheduler_end_test_file {

using namespace weir::core;
using namespace weir::core::scheduler_test;

TEST_CASE("Drained said twice is refused and does not end the run") {
    Driven scheduler(small_plan());
    scheduler.drained(0);
    check_refused(scheduler, producer_0, Drained{{0, {0}}});
    CHECK(scheduler->state() == Scheduler::State::running);
    CHECK(scheduler->has_drained({0}));
    CHECK_FALSE(scheduler->has_drained({1}));
}

TEST_CASE("What a drained producer offered and did not send is not granted") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 4, 400);
    scheduler.offer(1, 1, 100);
    scheduler.drained(0);
    CHECK(scheduler->waiting_events() == 1);
    check_grant(scheduler.ready(0, 0).messages.at(0), 1, 0, 0, 0);
    CHECK(scheduler.ready(0, 1).messages.empty());
}

TEST_CASE("The run is finished when all have drained and no transfer is missing") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    scheduler.offer(0, 1, 100);
    scheduler.drained(1);
    CHECK(scheduler.drained(0, 1).messages.empty());
    CHECK(scheduler->state() == Scheduler::State::completing);
    const Actions out = scheduler.done(0, 0, event_0, 100);
    CHECK(scheduler->state() == Scheduler::State::closing);
    check_finish(out);
    CHECK(scheduler->next_deadline() == Instant::never());
}

TEST_CASE("With nothing under way the last drained message finishes the run") {
    Driven scheduler(small_plan());
    scheduler.drained(1);
    check_finish(scheduler.drained(0));
    CHECK(scheduler->state() == Scheduler::State::closing);
}

TEST_CASE("A transfer that stays missing ends the run after a grace") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    scheduler.offer(0, 1, 100);
    scheduler.now = at_s(11);
    scheduler.drained(0, 1);
    scheduler.drained(1);
    const Instant end = at_s(11) + Scheduler::last_done_grace;
    CHECK(scheduler->next_deadline() == end);
    CHECK(scheduler.time(end - Duration{1}).messages.empty());
    check_finish(scheduler.time(end));
    CHECK(scheduler.time(end + Duration::seconds(1)).messages.empty());
}

TEST_CASE("Of transfers that arrive long after the last was sent, each gives the next its grace") {
    Driven scheduler(small_plan());
    scheduler.ready(0, 0);
    scheduler.ready(0, 1);
    scheduler.offer(0, 2, 200);
    scheduler.now = at_s(11);
    scheduler.drained(1);
    scheduler.drained(0, 2);
    scheduler.now = at_s(20);  // TCP sent it again
    CHECK(scheduler.done(0, 0, event_0, 100).messages.empty());
    CHECK(scheduler->next_deadline() == at_s(20) + Scheduler::last_done_grace);
    CHECK(scheduler.time(at_s(28)).messages.empty());
    check_finish(scheduler.done(0, 1, EventId::of({0}, 1), 100));
}

TEST_CASE("Transfers that are under way after the drain have the time that they need") {
    Plan plan = small_plan();
    CHECK(Scheduler::drain_grace(plan) == Duration::seconds(10));
    // Four slots of a second's data each.
    plan.rate = {8'000'000'000};
    plan.slot_size = {1'000'000'000};
    plan.slots = 4;
    plan.streams = 2;
    plan.producers = plan.consumers = 3;
    CHECK(Scheduler::drain_grace(plan) == Duration::seconds(16));
    plan.consumers = 6;  // that share it
    CHECK(Scheduler::drain_grace(plan) == Duration::seconds(32));
    plan.shaping.kind = ShapingKind::bucket;
    plan.shaping.rate = {2'000'000'000};
    CHECK(Scheduler::drain_grace(plan) == Duration::seconds(60));
}

TEST_CASE("Progress after the drain puts off the end") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 3, 300);
    scheduler.now = at_s(15) + Duration::seconds(1);
    scheduler.drained(1);
    CHECK(scheduler->next_deadline() == scheduler.now + Scheduler::drain_grace(small_plan()));
}

TEST_CASE("Transfers that are under way have the time that they need at the rate that was seen") {
    Driven scheduler(small_plan());
    scheduler.drained(1);
    scheduler.offer(0, 12, 1200);
    scheduler.ready(0, 0);
    for (std::uint64_t number = 0; number < 10; ++number) {
        scheduler.done(0, 0, EventId::of({0}, number), 100);
        scheduler.ready(0, 0);
    }
    // 1000 bytes in 15 s are 33 each second from each of two producers, and 22 to each of three consumers.
    // Planned are 125000 from each.
    const Instant planned = at_s(15) + Duration::seconds(10);
    CHECK(scheduler->next_deadline() == planned);
    CHECK(scheduler.time(planned).messages.empty());
    const Instant end = scheduler->next_deadline();
    CHECK((end - at_s(15)).in_seconds() == Approx(4 * 2 * 100 / 22.2).epsilon(0.01));
    CHECK(scheduler.time(end - Duration{1}).messages.empty());
    check_finish(scheduler.time(end));
}

TEST_CASE("A producer that never drains ends the run, when nothing has arrived after the longest grace") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 3, 300);
    scheduler.drained(1);
    const Instant end = at_s(15) + Scheduler::longest_drain_grace(small_plan());
    CHECK(scheduler.time(at_s(15) + Scheduler::drain_grace(small_plan())).messages.empty());
    CHECK(scheduler->next_deadline() == end);
    CHECK(scheduler.time(end - Duration{1}).messages.empty());
    check_finish(scheduler.time(end));
    CHECK(scheduler.ready(0, 0).messages.empty());  // no grants any more
    CHECK(scheduler.drained(0).messages.empty());
    CHECK(scheduler->state() == Scheduler::State::closing);
}

TEST_CASE("A run can be finished before its time and only once") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 3, 300);
    check_finish(scheduler.finish());
    CHECK(scheduler.finish().messages.empty());
    CHECK(scheduler.ready(0, 0).messages.empty());
    CHECK(scheduler->no_credit_time(at_s(5)) == Duration{0});  // there is one, and no event to spend it on
}

TEST_CASE("Without a policy the scheduler ends the run by what consumers report") {
    Driven scheduler(direct_plan());
    scheduler.drained(0, 2);
    const Actions asked = scheduler.drained(1, 1);
    REQUIRE(asked.messages.size() == 3);
    CHECK(asked.messages[2].to == NodeId{Role::consumer, 2});
    CHECK(std::holds_alternative<ReportProgress>(asked.messages[2].message));
    CHECK(scheduler->state() == Scheduler::State::completing);
    CHECK(scheduler.progress(0, 1).messages.empty());
    CHECK(scheduler.progress(1, 1).messages.empty());
    CHECK(scheduler.progress(2, 0).messages.empty());
    check_refused(scheduler, consumer_0, Progress{{0, {0}}});
    check_finish(scheduler.progress(0, 2));
}

TEST_CASE("Without a policy a lost event ends the run after a grace") {
    Driven scheduler(direct_plan());
    scheduler.now = at_s(10);
    scheduler.drained(0, 2);
    scheduler.drained(1, 1);
    scheduler.progress(0, 2);
    CHECK(scheduler->next_deadline() == at_s(10) + Scheduler::last_done_grace);
    check_finish(scheduler.time(at_s(10) + Scheduler::last_done_grace));
}

TEST_CASE("Without a policy the scheduler takes no part in transfers") {
    Driven scheduler(direct_plan());
    check_refused(scheduler, consumer_0, Ready{{0}});
    check_refused(scheduler, producer_0, Offer{{1, {100}}});
    check_refused(scheduler, producer_0, Decline{{0}, {0}});
    check_refused(
        scheduler, consumer_0,
        Done{.slot = {0}, .fragments = 1, .bytes = {100}, .hash = ledger_mix(event_0, {100}), .event = {}});
    CHECK(scheduler->no_credit_time(at_s(9)) == Duration{0});
}

TEST_CASE("The run is closed when every rank has reported its ledger") {
    Driven scheduler(small_plan());
    check_refused(scheduler, producer_0, LedgerPart{LedgerEntry{0}, {0, {0}, 0}});  // not asked for yet
    scheduler.finish();
    Ledger sent;
    sent.generated.add(event_0, {100});
    sent.sent.add(event_0, {100});
    Ledger lost;
    lost.generated.add(event_1, {90});
    lost.lost.add(event_1, {90});
    Ledger received;
    received.received.add(event_0, {100});
    received.duplicate.events = 2;
    scheduler.report(producer_0, sent);
    CHECK(scheduler->has_reported(producer_0));
    CHECK_FALSE(scheduler->has_reported(producer_1));
    scheduler.report(consumer_0, received);
    scheduler.report({Role::consumer, 1}, {});
    scheduler.report({Role::consumer, 2}, {});
    CHECK_FALSE(scheduler->closed());
    scheduler.report(producer_1, lost);
    CHECK(scheduler->closed());
    Ledger sum = sent;
    sum += lost;
    sum += received;
    CHECK(scheduler->reported() == sum);
    CHECK(scheduler->next_deadline() == Instant::never());
}

TEST_CASE("A ledger entry out of turn is refused") {
    Driven scheduler(small_plan());
    scheduler.finish();
    check_refused(scheduler, producer_0, LedgerPart{LedgerEntry{1}, {5, {0}, 0}});
    scheduler.message(producer_0, LedgerPart{LedgerEntry{0}, {5, {0}, 0}});
    check_refused(scheduler, producer_0, LedgerPart{LedgerEntry{0}, {5, {0}, 0}});
    check_refused(scheduler, producer_0, LedgerPart{LedgerEntry{7}, {5, {0}, 0}});
    CHECK(scheduler->reported().generated.events == 5);
    scheduler.report(consumer_0, {});
    check_refused(scheduler, consumer_0, LedgerPart{LedgerEntry{7}, {0, {0}, 0}});
    check_refused(scheduler, consumer_0, LedgerPart{LedgerEntry{0}, {0, {0}, 0}});
}

}  // namespace core_scheduler_end_test_file
