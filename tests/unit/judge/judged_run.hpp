// A run of 2 producers and 3 consumers to be judged: good, until a test changes what its ranks counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "judge/verdict.hpp"
#include "unit/record/test_runs.hpp"

namespace weir::judge {

struct JudgedRun {
    core::Plan plan = record::test::small_plan();
    std::vector<record::RankRecord> ranks = record::test::good_ranks(plan);
    RunFacts facts;

    record::RankSummary& producer(std::size_t index) { return ranks[1 + index].summary; }
    record::RankSummary& consumer(std::size_t index) { return ranks[3 + index].summary; }

    /// Producer `index` overflowed; where its streams' time went, in tenths of the run.
    void overflow(std::size_t index, double occupancy, std::int64_t second, int transferring, int slot,
                  int grant) {
        record::RankSummary& summary = producer(index);
        summary.max_occupancy = occupancy;
        summary.max_occupancy_second = 9;
        summary.first_overflow_second = second;
        summary.overflow_seconds = second == record::no_second ? 0 : 10 - second;
        summary.time = {};
        summary.time.transferring = core::Duration::seconds(transferring);
        summary.time.waiting_for_slot = core::Duration::seconds(slot);
        summary.time.waiting_for_grant = core::Duration::seconds(grant);
        summary.time.waiting_for_data = core::Duration::seconds(10 - transferring - slot - grant);
        summary.load.backlogged = core::Duration::seconds(transferring + slot + grant);
        summary.load.sending = summary.load.all_streams = core::Duration::seconds(transferring);
    }
    /// All 8 slots of consumer `index` held events to process for so many tenths of the run, and received
    /// else.
    void block(std::size_t index, int tenths) {
        consumer(index).time.blocked = core::Duration::seconds(tenths);
        consumer(index).time.receiving = core::Duration::seconds(10 - tenths);
        consumer(index).time.waiting_for_data = core::Duration{};
        consumer(index).time.processing = core::Duration::seconds(tenths);
        consumer(index).load.queued_slots = core::Duration::seconds(8 * tenths);
        consumer(index).load.receiving_slots = core::Duration::seconds(8 * (10 - tenths));
    }
    /// For the rest of the run, slots of consumers were free and the scheduler had not read of `unread` of
    /// them.
    void free_slots(int unread) {
        for (std::size_t i = 0; i < 3; ++i) {
            consumer(i).load.free_slots = core::Duration::seconds(80) - consumer(i).load.queued_slots -
                                          consumer(i).load.receiving_slots;
            ranks[0].summary.load.free_slots += consumer(i).load.free_slots;
        }
        ranks[0].summary.load.free_slots -= core::Duration::seconds(unread);
    }
    /// What is left at the ends of its intervals grows by so much each time.
    void grow(std::size_t index, std::int64_t first, std::int64_t each) {
        record::BacklogPoints& points = producer(index).backlog_points;
        points.known = 11;
        for (std::int64_t i = 0; i < 11; ++i) {
            points.bytes.at(static_cast<std::size_t>(i)) = {first + i * each};
        }
    }
    Verdict judged() { return judge_run(plan, ranks, facts); }
};

}  // namespace weir::judge
