// A small plan and small runs for tests of records, verdicts and what is shown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "record/pairs.hpp"
#include "record/rank_summary.hpp"

namespace weir::record::test {

inline core::Plan small_plan() {
    core::Plan plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.rate = {8'000'000'000};
    plan.interval = core::Duration::seconds(1);
    plan.buffer = {1'000'000'000};
    plan.policy = core::PolicyKind::balanced;
    plan.chunk_size = {1'000'000};
    plan.slot_size = {4'000'000};
    plan.window = 4;
    plan.slots = 8;
    plan.streams = 4;
    plan.duration = core::Duration::seconds(10);
    plan.warmup = core::Duration::seconds(3);
    plan.drain = core::Duration::seconds(5);
    return plan;
}

/// The record of a rank that ran for the whole plan and moved `bytes_per_second`, without trouble. Its ledger
/// holds as many events of 1 MB as seconds passed.
inline RankRecord rank_record(const core::Plan& plan, int rank, core::NodeId node,
                              std::int64_t bytes_per_second, std::string host) {
    RankRecord record;
    record.rank = rank;
    record.host = std::move(host);
    record.pid = 1000 + rank;
    record.cpus = "0-3";
    RankSummary& summary = record.summary;
    summary.node = node;
    summary.ledger_known = true;
    summary.covered = plan.duration;
    summary.whole_seconds = plan.duration.ns / 1'000'000'000;
    summary.rows = summary.whole_seconds;
    summary.last_second = summary.whole_seconds - 1;
    const core::Bytes bytes{bytes_per_second * summary.whole_seconds};
    summary.in_time = {bytes, plan.duration};
    summary.slowest = {bytes_per_second * 8 - 8000};
    summary.slowest_second = 4;
    summary.slowest_window = summary.slowest;
    summary.slowest_window_second = 4;
    summary.fastest = {bytes_per_second * 8 + 8000};
    summary.fastest_second = 5;
    const core::Traffic traffic{10, bytes};
    if (node.role == core::Role::producer) {
        summary.measured.generated = summary.measured.sent = traffic;
        summary.run = summary.measured;
        summary.max_occupancy = 0.5 + 0.01 * node.index;
        summary.max_occupancy_second = 7;
        summary.time.transferring = core::Duration::seconds(6);
        summary.time.waiting_for_data = core::Duration::seconds(4);
    } else if (node.role == core::Role::consumer) {
        summary.measured.received = traffic;
        summary.run = summary.measured;
        summary.time.receiving = core::Duration::seconds(8);
        summary.time.waiting_for_data = core::Duration::seconds(2);
    } else {
        summary.time.waiting_for_data = core::Duration::seconds(10);
    }
    return record;
}

/// Scheduler on rank 0, then two producers and three consumers; sustained, and the ledgers agree.
inline std::vector<RankRecord> good_ranks(const core::Plan& plan) {
    std::vector<RankRecord> ranks;
    ranks.push_back(rank_record(plan, 0, core::scheduler_node(), 0, "eb00"));
    ranks.push_back(rank_record(plan, 1, {core::Role::producer, 0}, 1'000'000'000, "eb01"));
    ranks.push_back(rank_record(plan, 2, {core::Role::producer, 1}, 1'000'000'000, "eb02"));
    for (std::uint32_t i = 0; i < 3; ++i) {
        ranks.push_back(rank_record(plan, 3 + static_cast<int>(i), {core::Role::consumer, i}, 666'666'666,
                                    "eb1" + std::to_string(i)));
    }
    for (std::uint64_t sequence = 0; sequence < 60; ++sequence) {
        const core::ProducerId producer{static_cast<std::uint32_t>(sequence % 2)};
        const core::EventId event = core::EventId::of(producer, sequence);
        const core::Bytes size{1'000'000};
        ranks[1 + producer.value].summary.ledger.generated.add(event, size);
        ranks[1 + producer.value].summary.ledger.sent.add(event, size);
        ranks[3 + sequence % 3].summary.ledger.received.add(event, size);
        ranks[0].summary.ledger.received.add(event, size);
    }
    return ranks;
}

/// What each consumer of good_ranks received: ten events of either producer.
inline std::vector<ProducerTraffic> good_traffic() {
    const core::Traffic each{10, {10'000'000}};
    return {{.producer = 0, .traffic = each}, {.producer = 1, .traffic = each}};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace weir::record::test
