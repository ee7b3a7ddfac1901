// What a twin assumes of links and processing, from runs that are made up.
#include "twin/assumptions.hpp"

#include "catch.hpp"

namespace weir::twin {

namespace {

using core::Role;

constexpr double gigabit = 1e9;

ShownRank rank_of(Role role, std::uint32_t index, double rate, double moving_s) {
    ShownRank rank;
    rank.node = {role, index};
    rank.measured_s = 4;
    rank.moving_s = moving_s;
    rank.bits_per_second = rate * moving_s / rank.measured_s;
    rank.interface_bits_per_second = 10 * gigabit;
    for (int second = 0; second < 4; ++second) {
        rank.seconds.push_back({.begin_s = static_cast<double>(second),
                                .covered_s = 1,
                                .bits = rate * moving_s / 4,
                                .moving_s = moving_s / 4,
                                .measured = true});
    }
    return rank;
}

/// Two producers and three consumers, all with links of 2 Gb/s that are used for a half of 4 s.
ShownRun even_run() {
    ShownRun run;
    run.producers = 2;
    run.consumers = 3;
    run.interval_s = 1;
    run.duration_s = 4;
    run.ranks.push_back(rank_of(Role::scheduler, 0, 0, 0));
    for (std::uint32_t i = 0; i < run.producers; ++i) {
        run.ranks.push_back(rank_of(Role::producer, i, 3 * gigabit, 2));
    }
    for (std::uint32_t i = 0; i < run.consumers; ++i) {
        run.ranks.push_back(rank_of(Role::consumer, i, 2 * gigabit, 2));
    }
    return run;
}

ShownRank& consumer(ShownRun& run, std::size_t index) {
    return run.ranks[1 + run.producers + index];
}

}  // namespace

TEST_CASE("A link that is a limit has the speed that it carried, another one that of its interface") {
    const Assumptions assumed = assumed_of(even_run(), {.producer_links = false, .consumer_links = true});
    CHECK(assumed.consumer_links == std::vector(3, 2 * gigabit));
    CHECK(assumed.producer_links == std::vector(2, 9.8 * gigabit));
}

TEST_CASE("Of a rank that moved nothing no speed is known but that of its interface") {
    ShownRun run = even_run();
    consumer(run, 2) = rank_of(Role::consumer, 2, 0, 0);
    const Assumptions assumed = assumed_of(run, {});
    CHECK(assumed.consumer_links == std::vector{2 * gigabit, 2 * gigabit, 9.8 * gigabit});
}

TEST_CASE("Only ranks that differ may be slower than their interfaces") {
    ShownRun run = even_run();
    CHECK_FALSE(has_exceptions(run));
    consumer(run, 1) = rank_of(Role::consumer, 1, gigabit, 4);
    CHECK(has_exceptions(run));
    const Assumptions assumed = assumed_of(run, {.exceptions = true});
    CHECK(assumed.consumer_links == std::vector{9.8 * gigabit, gigabit, 9.8 * gigabit});
}

TEST_CASE("A link that is slow for some seconds, one after the other, has changed") {
    ShownRun run = even_run();
    CHECK_FALSE(links_change(run, Role::consumer));
    consumer(run, 0).seconds[2].bits /= 10;
    consumer(run, 0).seconds[3].bits /= 10;
    REQUIRE(links_change(run, Role::consumer));
    CHECK_FALSE(links_change(run, Role::producer));
    const Assumptions assumed =
        assumed_of(run, {.producer_links = false, .consumer_links = true, .change = true});
    REQUIRE(assumed.slowed_links.size() == 1);
    const SlowedLink& link = assumed.slowed_links.front();
    CHECK(link.node == core::NodeId{Role::consumer, 0});
    CHECK(link.begin_s == 2);
    CHECK(link.end_s == 4);
    CHECK(link.least == Approx(0.2 * gigabit));
    CHECK(link.factor == Approx(0.2 / 9.8));  // of what its interface says, less headers

    SECTION("of what it carried before, if interfaces are not known") {
        for (ShownRank& rank : run.ranks) {
            rank.interface_bits_per_second = 0;
        }
        CHECK(assumed_of(run, {.producer_links = false, .consumer_links = true, .change = true})
                  .slowed_links.front()
                  .factor == Approx(0.1));
    }

    SECTION("but not if it is slow from the beginning, or again and again") {
        consumer(run, 0).seconds[0].bits /= 10;
        CHECK_FALSE(links_change(run, Role::consumer));
    }
}

TEST_CASE("A consumer is slower than the others only beyond chance") {
    ShownRun run = even_run();
    run.processing = {.count = 300, .p50_us = 700, .p99_us = 5000, .mean_us = 1000};
    for (std::size_t i = 0; i < run.consumers; ++i) {
        consumer(run, i).processed_events = 100;
        consumer(run, i).processing_s = 0.1;
    }
    consumer(run, 2).processing_s = 0.13;  // of exponential times that is chance
    CHECK(assumed_of(run, {}).slow_consumers.empty());
    consumer(run, 2).processing_s = 0.3;
    const Assumptions assumed = assumed_of(run, {});
    REQUIRE(assumed.slow_consumers.size() == 1);
    CHECK(assumed.slow_consumers.front().consumer == 2);
    CHECK(assumed.slow_consumers.front().factor == Approx(3));
}

TEST_CASE("Messages take no longer than heartbeats on the shortest way") {
    ShownRun run = even_run();
    for (ShownRank& rank : run.ranks) {
        rank.free_slot_s = rank.node.role == Role::consumer ? 4 : 0;
        rank.bytes = rank.node.role == Role::consumer ? 1e8 : 0;
        rank.events = 100;
    }
    CHECK(assumed_of(run, {}).latency_s > 0.003);
    consumer(run, 0).way_s = 0.001;
    consumer(run, 1).way_s = 0.1;
    CHECK(assumed_of(run, {}).latency_s == Approx(0.002));
}

}  // namespace weir::twin
