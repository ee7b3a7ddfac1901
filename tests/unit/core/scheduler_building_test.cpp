// The scheduler of events that all producers have a fragment of, and of consumers that ask.
#include <vector>

#include "catch.hpp"
#include "core/policies/policy_table.hpp"
#include "core/scheduler.hpp"
#include "unit/core/driven_scheduler.hpp"

namespace core_scheduler_building_test_file {

using namespace weir::core;

namespace {

Plan build_plan() {
    Plan plan = scheduler_test::small_plan();
    plan.pattern = Pattern::build;
    plan.producers = 3;
    plan.consumers = 2;
    return plan;
}

class Building {
  public:
    explicit Building(const Plan& plan) : scheduler_(plan, make_policy(plan, 1)) {}

    Actions message(NodeId from, const ControlMessage& message) {
        Actions out;
        scheduler_.on_message(Instant{1}, from, message, out);
        return out;
    }
    Actions ready(std::uint32_t consumer, std::uint32_t slot) {
        return message({Role::consumer, consumer}, Ready{{slot}});
    }
    Actions offer(std::uint32_t producer, std::uint64_t events, std::uint8_t last = 0) {
        return message({Role::producer, producer},
                       Offer{{events, {100 * static_cast<std::int64_t>(events)}},
                             last == 1 ? Offer::More::none : Offer::More::expected});
    }
    Actions done(std::uint32_t consumer, std::uint32_t slot, std::uint32_t fragments,
                 Done::Credit credit = Done::Credit::kept) {
        return message({Role::consumer, consumer}, Done{.slot = {slot},
                                                        .fragments = fragments,
                                                        .bytes = {100 * static_cast<std::int64_t>(fragments)},
                                                        .hash = fragments,
                                                        .event = {},
                                                        .credit = credit});
    }
    Actions time(Instant now) {
        Actions out;
        scheduler_.on_time(now, out);
        return out;
    }
    const Scheduler* operator->() const { return &scheduler_; }

  private:
    Scheduler scheduler_;
};

}  // namespace

TEST_CASE("An event is granted to all producers when all have offered it") {
    Building scheduler(build_plan());
    scheduler.ready(0, 1);
    CHECK(scheduler.offer(0, 2).messages.empty());
    CHECK(scheduler.offer(2, 1).messages.empty());
    const Actions out = scheduler.offer(1, 5);
    REQUIRE(out.messages.size() == 3);
    for (std::uint32_t producer = 0; producer < 3; ++producer) {
        CHECK(out.messages[producer].to == NodeId{Role::producer, producer});
        CHECK(out.messages[producer].message == ControlMessage{Grant{{0}, {3 + producer}, 0}});
    }
    CHECK(scheduler.ready(1, 0).messages.empty());  // the next event waits for producer 2
    CHECK(scheduler.offer(2, 2).messages.size() == 3);
    CHECK(scheduler->outstanding() == 2);
    CHECK(scheduler->granted_events() == 2);
}

TEST_CASE("Pull: the consumer is told, once") {
    Plan plan = build_plan();
    plan.initiation = Initiation::pull;
    Building scheduler(plan);
    scheduler.ready(1, 0);
    scheduler.offer(0, 1);
    scheduler.offer(1, 1);
    const Actions out = scheduler.offer(2, 1);
    REQUIRE(out.messages.size() == 1);
    CHECK(out.messages[0].to == NodeId{Role::consumer, 1});
    CHECK(out.messages[0].message == ControlMessage{Assign{{0}, {0}}});
}

TEST_CASE("No more events are outstanding than allowed") {
    Plan plan = build_plan();
    plan.assigned_events = 1;
    Building scheduler(plan);
    scheduler.ready(0, 0);
    scheduler.ready(1, 0);
    for (std::uint32_t producer = 0; producer < 3; ++producer) {
        scheduler.offer(producer, 2);
    }
    CHECK(scheduler->outstanding() == 1);
    CHECK(scheduler.done(0, 0, 3).messages.size() == 3);
}

TEST_CASE("What a consumer says is done is checked") {
    Building scheduler(build_plan());
    scheduler.ready(0, 0);
    for (std::uint32_t producer = 0; producer < 3; ++producer) {
        scheduler.offer(producer, 1);
    }
    CHECK(scheduler.done(0, 0, 4).faults.size() == 1);
    CHECK(scheduler.done(0, 1, 3).faults.size() == 1);
    CHECK(scheduler.done(0, 0, 2, Done::Credit::given).faults.empty());
    CHECK(scheduler->done().events == 2);
    CHECK(scheduler->free_slots() == 1);
}

TEST_CASE("When all have offered their last, all are told how many events there are") {
    Building scheduler(build_plan());
    scheduler.offer(0, 4, 1);
    scheduler.offer(1, 6, 1);
    const Actions out = scheduler.offer(2, 5, 1);
    REQUIRE(out.messages.size() == 3);
    for (const SendMessage& sent : out.messages) {
        CHECK(sent.message == ControlMessage{Complete{6}});
    }
    CHECK(scheduler.offer(0, 6, 1).messages.empty());
}

TEST_CASE("In step, producers get a tick at every multiple of its period, and none late") {
    Plan plan = build_plan();
    plan.warmup = Duration::milliseconds(5);
    plan.shaping.kind = ShapingKind::in_step;
    plan.shaping.grid = Duration::microseconds(100);
    plan.shaping.tick = Duration::milliseconds(2);
    Building scheduler(plan);
    const auto ticks = [&](std::int64_t us) {
        std::vector<std::int64_t> numbers;
        for (const SendMessage& sent : scheduler.time(Instant{us * 1000}).messages) {
            numbers.push_back(std::get<Tick>(sent.message).number);
        }
        return numbers;
    };
    using Numbers = std::vector<std::int64_t>;
    CHECK(ticks(-5000) == Numbers{-3, -3, -3});
    CHECK(scheduler->next_deadline() == Instant{-4000000});
    CHECK(ticks(-4500).empty());
    CHECK(ticks(-4000) == Numbers{-2, -2, -2});
    CHECK(ticks(7000) == Numbers{3, 3, 3});  // what was missed is left out
    CHECK(scheduler->next_deadline() == Instant{8000000});
}

TEST_CASE("When all slots are in use, it is credits that events wait for") {
    Building scheduler(build_plan());
    for (std::uint32_t consumer = 0; consumer < 2; ++consumer) {
        scheduler.ready(consumer, 0);
        scheduler.ready(consumer, 1);
    }
    for (std::uint32_t producer = 0; producer < 3; ++producer) {
        scheduler.offer(producer, 5);
    }
    CHECK(scheduler->outstanding() == 4);
    CHECK(scheduler->no_credit_time(Instant{1000001}) == Duration::milliseconds(1));
}

}  // namespace core_scheduler_building_test_file
