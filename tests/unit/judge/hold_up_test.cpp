// Whose the time of held-up events was, from made-up sums.
#include "judge/hold_up.hpp"

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

namespace judge_hold_up_test_file {

using namespace weir::judge;
using namespace weir::record;
using namespace weir::core;

namespace {

/// Producer 0 was late; its streams had an event all the time: 2 s of 10 transferring, 6 s no slot was known,
/// 2 s one was. 3 consumers of 8 slots.
struct Run {
    Plan plan = test::small_plan();
    std::vector<RankRecord> ranks = test::good_ranks(plan);

    Run() {
        RankSummary& summary = producer();
        summary.first_overflow_second = 2;
        summary.time = {};
        summary.time.transferring = Duration::seconds(2);
        summary.time.waiting_for_slot = Duration::seconds(6);
        summary.time.waiting_for_grant = Duration::seconds(2);
        summary.load.backlogged = Duration::seconds(10);
        summary.load.sending = Duration::seconds(8);
        summary.measured.sent.bytes = {8'000'000'000};
    }
    RankSummary& scheduler() { return ranks[0].summary; }
    RankSummary& producer() { return ranks[1].summary; }
    Load& consumer(std::size_t index) { return ranks[3 + index].summary.load; }
    [[nodiscard]] HoldUp held() const { return sum_up_hold_up(plan, ranks, {}); }
};

}  // namespace

TEST_CASE("The time of held-up events has owners, and their shares add up to 1") {
    Run run;
    for (std::size_t i = 0; i < 3; ++i) {
        static_cast<LoadTimes&>(run.consumer(i)) = {.free_slots = Duration::seconds(30),
                                                    .receiving_slots = Duration::seconds(20),
                                                    .queued_slots = Duration::seconds(10),
                                                    .withheld_slots = Duration::seconds(20)};
    }
    run.scheduler().load.free_slots = Duration::seconds(60);  // of 90 that consumers call free
    CHECK(run.held().owners.withheld == 0);                   // nobody's without --high-water
    run.plan.high_water = 1;
    const HoldUp held = run.held();
    CHECK(held.held_up == 1);
    CHECK(held.first_trouble_second == 2);
    // The slots' time: 60 receiving, 30 queued, 60 withheld, 30 on the way or unread.
    CHECK(held.owners.network == Approx(0.2 + 0.6 * 60 / 180).margin(1e-9));
    CHECK(held.owners.processing == Approx(0.6 * 30 / 180).margin(1e-9));
    CHECK(held.owners.withheld == Approx(0.6 * 60 / 180).margin(1e-9));
    CHECK(held.owners.control == Approx(0.2 + 0.6 * 30 / 180).margin(1e-9));
    CHECK(held.shortfall == Approx(0.2).margin(1e-9));
}

TEST_CASE("Without sums of slots, a wait for one is the network's") {
    const HoldUp held = Run().held();
    CHECK(held.owners.network == Approx(0.8).margin(1e-9));
    CHECK(held.owners.control == Approx(0.2).margin(1e-9));
}

TEST_CASE(
    "What has left its producer and is not done belongs to the network while its consumer receives it") {
    Run run;
    // 20 s of events granted and not done: 6 s in their producers' transfers, 14 s more until their
    // consumers had them, and 6 s for messages.
    run.producer().load.transfers = Duration::seconds(6);
    run.consumer(0).receiving_slots = Duration::seconds(14);
    run.scheduler().load.outstanding = Duration::seconds(20);
    HoldUp held = run.held();
    // 2 s of 10 passed without a grant: 8 s under way, 6 s for messages. 6 s for slots that were receiving.
    CHECK(held.owners.network == Approx(0.8 + 0.2 * 8 / 14).margin(1e-9));
    CHECK(held.owners.control == Approx(0.2 * 6 / 14).margin(1e-9));
}

TEST_CASE("Heartbeats that wait with the data show whose links are full") {
    Run run;
    for (RankRecord& rank : run.ranks) {
        HeartbeatDelays& delays = rank.summary.load.heartbeats;
        for (int i = 0; i < 20; ++i) {
            delays.to_leader.add(Duration::microseconds(300));
            delays.from_leader.add(rank.summary.node.role == Role::consumer ? Duration::milliseconds(12)
                                                                            : Duration::microseconds(300));
        }
        rank.summary.measured.received.bytes = {1'000'000};
    }
    run.ranks[3].summary.time.receiving = Duration::seconds(8);
    HoldUp held = run.held();
    CHECK(held.consumers.queue.stands());
    CHECK_FALSE(held.consumers.queue.stands_at_one());
    CHECK_FALSE(held.producers.queue.stands());
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).heartbeats.to_leader = run.consumer(i).heartbeats.from_leader;
    }
    CHECK_FALSE(run.held().consumers.queue.stands());
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).heartbeats.to_leader = run.producer().load.heartbeats.to_leader;
    }
    // Far producers hide no queue before consumers' links, and have none of their own.
    for (std::size_t i = 0; i < 2; ++i) {
        HeartbeatDelays& delays = run.ranks[1 + i].summary.load.heartbeats;
        for (int number = 0; number < 80; ++number) {
            delays.to_leader.add(Duration::milliseconds(7));
            delays.from_leader.add(Duration::milliseconds(7));
        }
    }
    held = run.held();
    CHECK(held.consumers.queue.stands());
    CHECK_FALSE(held.producers.queue.stands());
    for (std::size_t i = 0; i < 2; ++i) {
        run.ranks[1 + i].summary.load.heartbeats = run.scheduler().load.heartbeats;
    }
    // One only: the others are as fast as producers.
    for (const std::size_t other : {std::size_t{1}, std::size_t{2}}) {
        run.consumer(other).heartbeats = run.producer().load.heartbeats;
    }
    held = run.held();
    CHECK_FALSE(held.consumers.queue.stands());
    CHECK(held.consumers.queue.stands_at_one());
    CHECK(held.consumers.queue.longest->summary.node == NodeId{Role::consumer, 0});
    // A long way is long in both directions.
    run.consumer(0).heartbeats.to_leader = run.consumer(0).heartbeats.from_leader;
    CHECK_FALSE(run.held().consumers.queue.stands_at_one());
    run.consumer(0).heartbeats.to_leader = run.producer().load.heartbeats.to_leader;
    // In turn: the others' links have such queues too, for a part of the time.
    run.ranks[3].summary.time.receiving = Duration::seconds(3);
    CHECK_FALSE(run.held().consumers.queue.stands_at_one());
    run.ranks[3].summary.time.receiving = Duration::seconds(8);
    CHECK(run.held().consumers.queue.stands_at_one());
    // A scheduler that stands still receives and sends late.
    run.scheduler().stalled_with_drain = run.scheduler().covered;
    CHECK_FALSE(run.held().consumers.queue.stands_at_one());
}

TEST_CASE("A full link carries as much as it was ever seen to carry") {
    Run run;
    HoldUp held = run.held();
    // 64 Gbit in 8 of 10 s.
    CHECK(held.producers.mean_bits == Approx(6.4e9).margin(1));
    CHECK(held.producers.seen_bits == Approx(8e9).margin(1));
    CHECK(held.producers.fullness == Approx(0.8).margin(1e-9));
    // Its best 10 ms, less the chunks that may have been counted in it: 4 streams x 4 chunks of 1 MB.
    run.producer().peak_10ms = {32'800'000'000};
    held = run.held();
    CHECK(held.producers.fullness == Approx(0.32).margin(1e-9));
}

TEST_CASE("What a full link carried during each transfer does not vary") {
    Run run;
    // Half of the bytes with one transfer at a time, half with two.
    Load& load = run.producer().load;
    for (const int shared : {1, 2}) {
        load.link_shares.add({4'000'000'000}, 8e9);
        load.link_rates.add({4'000'000'000}, shared == 1 ? 7e9 : 9e9);  // coarse: the steadier one counts
    }
    CHECK(run.held().link_deviation == Approx(0).margin(1e-6));
    // Another rank, each of whose transfers had another rate: it is the same within both.
    run.ranks[2].summary.first_overflow_second = 2;
    run.ranks[2].summary.load.link_shares.add({8'000'000'000}, 4e9);
    run.ranks[2].summary.load.link_rates.add({8'000'000'000}, 4e9);
    CHECK(run.held().link_deviation == Approx(0).margin(1e-6));
}

TEST_CASE("Interfaces whose speed is known for all ranks of a role show how full links were") {
    Run run;
    std::vector<BitRate> rates(run.ranks.size(), BitRate{10'000'000'000});
    HoldUp held = sum_up_hold_up(run.plan, run.ranks, rates);
    CHECK(held.producers.busy_of_interface == Approx(0.8).margin(1e-9));
    rates[1] = {};
    held = sum_up_hold_up(run.plan, run.ranks, rates);
    CHECK(held.producers.busy_of_interface == 0);
}

TEST_CASE("The slowest rank of several is named with the rate of the others") {
    Run run;
    for (std::size_t i = 0; i < 3; ++i) {
        run.ranks[3 + i].summary.time.receiving = Duration::seconds(10);
        run.ranks[3 + i].summary.measured.received.bytes = {i == 1 ? 1'000'000'000 : 5'000'000'000};
    }
    const LinkUse use = run.held().consumers;
    REQUIRE(use.slowest != nullptr);
    CHECK(use.slowest->summary.node == NodeId{Role::consumer, 1});
    CHECK(use.slowest_bits == Approx(0.8e9).margin(1));
    CHECK(use.others_bits == Approx(4e9).margin(1));
    CHECK(use.slowest_busy == Approx(1).margin(1e-9));
}

TEST_CASE("What a producer should have generated allows for whole events") {
    Plan plan = test::small_plan();
    const RankRecord rank = test::good_ranks(plan)[1];
    CHECK(due_bytes(plan, rank.summary) == Bytes{10'000'000'000 - 4'000'000});
}

TEST_CASE("The way of messages follows from what slots lose, and is at most what heartbeats take") {
    Run run;
    run.producer().measured.sent = {.events = 1000, .bytes = {8'000'000'000}};  // 8 chunks each, 4 at a time
    run.producer().load.transfers = Duration::seconds(8);
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).free_slots = Duration::seconds(30);
        run.ranks[3 + i].summary.measured.received.events = 1000;
    }
    run.scheduler().load.free_slots = Duration::seconds(84);
    Travel travel = run.held().travel;
    CHECK(travel.way == Duration::milliseconds(1));
    CHECK(travel.transfer == Duration::milliseconds(8));
    CHECK(travel.rounds == 2);
    CHECK(travel.share(travel.rounds) == Approx(0.5));
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).receiving_slots =
            Duration::seconds(20);  // 20 ms for each event: it waited behind its producer
    }
    CHECK(run.held().travel.transfer == Duration::milliseconds(20));
    for (RankRecord& rank : run.ranks) {
        rank.summary.load.heartbeats.to_leader.add(Duration::microseconds(300));
        rank.summary.load.heartbeats.from_leader.add(Duration::microseconds(300));
    }
    travel = run.held().travel;
    CHECK(travel.way >= Duration::microseconds(256));
    CHECK(travel.way <= Duration::microseconds(512));
    run.producer().measured.sent = {};
    CHECK(run.held().travel.way == Duration{});
    CHECK(run.held().travel.share(1) == 0);
}

}  // namespace judge_hold_up_test_file
