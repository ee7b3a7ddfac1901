// The scheduler's mechanism: credits, grants, the end of a run. A policy that only watches stands in for the
// real ones, which have tests of their own.
#include "core/scheduler.hpp"

#include <map>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "core/ledger_report.hpp"

using namespace weir::core;

namespace {

Plan small_plan() {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.rate = {1000000};
    plan.interval = Duration::seconds(1);
    plan.chunk_size = {40};
    plan.slot_size = {100};
    plan.window = 2;
    plan.slots = 2;
    plan.streams = 2;
    plan.duration = Duration::seconds(10);
    plan.drain = Duration::seconds(5);
    return plan;
}

Plan direct_plan() {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    return plan;
}

Instant at_s(std::int64_t seconds) {
    return Instant{} + Duration::seconds(seconds);
}

struct Standings {
    std::map<std::uint32_t, ProducerStanding> producers;
    std::map<std::uint32_t, ConsumerStanding> consumers;
};

/// Pairs the first producer that can send with the first consumer that has a free slot.
class FirstPolicy final : public Policy {
  public:
    explicit FirstPolicy(Standings& standings) : standings_(standings) {}

    void update(ProducerId producer, const ProducerStanding& standing) override {
        standings_.producers[producer.value] = standing;
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        standings_.consumers[consumer.value] = standing;
    }
    std::optional<Pairing> choose() override {
        for (const auto& [producer, producer_standing] : standings_.producers) {
            for (const auto& [consumer, consumer_standing] : standings_.consumers) {
                if (producer_standing.eligible && consumer_standing.free_slots > 0) {
                    return Pairing{{producer}, {consumer}};
                }
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] bool producer_available() const override {
        for (const auto& [producer, standing] : standings_.producers) {
            if (standing.eligible) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool consumer_available() const override {
        for (const auto& [consumer, standing] : standings_.consumers) {
            if (standing.free_slots > 0) {
                return true;
            }
        }
        return false;
    }

  private:
    Standings& standings_;
};

/// A scheduler whose every input returns what it led to.
class Driven {
  public:
    explicit Driven(const Plan& plan)
        : scheduler_(plan, plan.consumers_grant() ? nullptr : std::make_unique<FirstPolicy>(standings)) {}

    Instant now = at_s(1);
    Standings standings;

    Actions message(NodeId from, const ControlMessage& message) {
        Actions out;
        scheduler_.on_message(now, from, message, out);
        return out;
    }
    Actions time(Instant instant) {
        now = instant;
        Actions out;
        scheduler_.on_time(now, out);
        return out;
    }
    Actions finish() {
        Actions out;
        scheduler_.finish(out);
        return out;
    }

    Actions ready(std::uint32_t consumer, std::uint32_t slot) {
        return message({Role::consumer, consumer}, Ready{{slot}});
    }
    Actions offer(std::uint32_t producer, std::uint64_t events, std::int64_t bytes) {
        return message({Role::producer, producer}, Offer{{events, {bytes}}});
    }
    Actions done(std::uint32_t consumer, std::uint32_t slot, EventId event, std::int64_t bytes,
                 Done::Credit credit = Done::Credit::kept) {
        return message({Role::consumer, consumer}, Done{.slot = {slot},
                                                        .fragments = 1,
                                                        .bytes = {bytes},
                                                        .hash = ledger_mix(event, {bytes}),
                                                        .event = event,
                                                        .credit = credit});
    }
    Actions decline(std::uint32_t producer, std::uint32_t consumer, std::uint32_t slot) {
        return message({Role::producer, producer}, Decline{{consumer}, {slot}});
    }
    Actions drained(std::uint32_t producer, std::uint64_t sent_events = 0) {
        return message({Role::producer, producer},
                       Drained{{sent_events, {100 * static_cast<std::int64_t>(sent_events)}}});
    }
    Actions progress(std::uint32_t consumer, std::uint64_t events) {
        return message({Role::consumer, consumer},
                       Progress{{events, {100 * static_cast<std::int64_t>(events)}}});
    }
    void report(NodeId node, const Ledger& ledger) {
        Actions report;
        append_ledger_report(ledger, report);
        for (const SendMessage& entry : report.messages) {
            CHECK(message(node, entry.message).faults.empty());
        }
    }

    const Scheduler* operator->() const { return &scheduler_; }

  private:
    Scheduler scheduler_;
};

void check_grant(const SendMessage& sent, std::uint32_t producer, std::uint32_t consumer, std::uint32_t slot,
                 std::uint64_t number) {
    CHECK(sent.to == NodeId{Role::producer, producer});
    CHECK(sent.message == ControlMessage{Grant{{consumer}, {slot}, number}});
}

/// finish to both producers and all three consumers, and nothing else.
void check_finish(const Actions& out) {
    REQUIRE(out.messages.size() == 5);
    for (std::uint32_t node = 0; node < 5; ++node) {
        CHECK(out.messages[node].message == ControlMessage{Finish{}});
        CHECK(out.messages[node].to ==
              (node < 2 ? NodeId{Role::producer, node} : NodeId{Role::consumer, node - 2}));
    }
}

/// Nothing but a fault that names the sender, and the counts are as they were.
void check_refused(Driven& scheduler, NodeId from, const ControlMessage& message) {
    const auto waiting = scheduler->waiting_events();
    const auto free = scheduler->free_slots();
    const auto outstanding = scheduler->outstanding();
    const auto phase = scheduler->phase();
    const Tally done = scheduler->done();
    const Actions out = scheduler.message(from, message);
    REQUIRE(out.faults.size() == 1);
    CHECK(out.faults[0].kind == Fault::Kind::protocol_violation);
    CHECK(out.faults[0].source == from);
    CHECK(out.faults[0].destination == scheduler_node());
    CHECK(out.messages.empty());
    CHECK(scheduler->waiting_events() == waiting);
    CHECK(scheduler->free_slots() == free);
    CHECK(scheduler->outstanding() == outstanding);
    CHECK(scheduler->phase() == phase);
    CHECK(scheduler->done() == done);
}

constexpr NodeId producer_0{Role::producer, 0};
constexpr NodeId producer_1{Role::producer, 1};
constexpr NodeId consumer_0{Role::consumer, 0};
constexpr EventId event_0 = EventId::of({0}, 0);
constexpr EventId event_1 = EventId::of({1}, 0);

}  // namespace

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

TEST_CASE("Drained said twice is refused and does not end the run") {
    Driven scheduler(small_plan());
    scheduler.drained(0);
    check_refused(scheduler, producer_0, Drained{{0, {0}}});
    CHECK(scheduler->phase() == Scheduler::Phase::running);
    CHECK(scheduler->has_drained({0}));
    CHECK_FALSE(scheduler->has_drained({1}));
}

TEST_CASE("What a drained producer offered and did not send is granted to nobody") {
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
    CHECK(scheduler->phase() == Scheduler::Phase::completing);
    const Actions out = scheduler.done(0, 0, event_0, 100);
    CHECK(scheduler->phase() == Scheduler::Phase::closing);
    check_finish(out);
    CHECK(scheduler->next_deadline() == Instant::never());
}

TEST_CASE("With nothing under way the last drained message finishes the run") {
    Driven scheduler(small_plan());
    scheduler.drained(1);
    check_finish(scheduler.drained(0));
    CHECK(scheduler->phase() == Scheduler::Phase::closing);
}

TEST_CASE("A transfer that stays missing ends the run after the settle grace") {
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

TEST_CASE("Transfers that are under way after the drain have the time that they need") {
    Plan plan = small_plan();
    CHECK(Scheduler::drain_grace(plan) == Duration::seconds(2));
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

TEST_CASE("A producer that never drains ends the run after the drain grace") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 3, 300);
    scheduler.drained(1);
    const Instant end = at_s(15) + Scheduler::drain_grace(small_plan());
    CHECK(scheduler->next_deadline() == end);
    CHECK(scheduler.time(end - Duration{1}).messages.empty());
    check_finish(scheduler.time(end));
    CHECK(scheduler.ready(0, 0).messages.empty());  // no grants any more
    CHECK(scheduler.drained(0).messages.empty());
    CHECK(scheduler->phase() == Scheduler::Phase::closing);
}

TEST_CASE("A run can be finished before its time and only once") {
    Driven scheduler(small_plan());
    scheduler.offer(0, 3, 300);
    check_finish(scheduler.finish());
    CHECK(scheduler.finish().messages.empty());
    CHECK(scheduler.ready(0, 0).messages.empty());
    CHECK(scheduler->no_credit_time(at_s(5)) == Duration{0});  // there is one, and nobody to spend it
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

TEST_CASE("Without a policy the scheduler settles the run by what consumers say") {
    Driven scheduler(direct_plan());
    scheduler.drained(0, 2);
    const Actions asked = scheduler.drained(1, 1);
    REQUIRE(asked.messages.size() == 3);
    CHECK(asked.messages[2].to == NodeId{Role::consumer, 2});
    CHECK(std::holds_alternative<ReportProgress>(asked.messages[2].message));
    CHECK(scheduler->phase() == Scheduler::Phase::completing);
    CHECK(scheduler.progress(0, 1).messages.empty());
    CHECK(scheduler.progress(1, 1).messages.empty());
    CHECK(scheduler.progress(2, 0).messages.empty());
    check_refused(scheduler, consumer_0, Progress{{0, {0}}});
    check_finish(scheduler.progress(0, 2));
}

TEST_CASE("Without a policy a lost event ends the run after the settle grace") {
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
    received.duplicate_events = 2;
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
