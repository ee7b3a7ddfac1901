#include "judge/slot_growth.hpp"

#include <algorithm>

#include "core/distribution.hpp"
#include "record/backlog_points.hpp"

namespace weir::judge {

namespace {

/// Of the measured rows of one consumer.
struct Processing {
    double bytes_per_second = 0;  ///< while it processes; 0: it did not
    double busy = 0;              ///< share of the time
};

Processing processing_of(const record::RankSummary& consumer) {
    const double seconds = consumer.time.processing.in_seconds();
    const double covered = consumer.covered.in_seconds();
    if (seconds <= 0 || covered <= 0) {
        return {};
    }
    return {static_cast<double>(consumer.measured.processed.bytes.count) / seconds,
            std::min(1.0, seconds / covered)};
}

bool is_consumer(const record::RankRecord& rank) {
    return rank.summary.node.role == core::Role::consumer;
}

/// What waits in slots at the end of the generation.
double last_bytes(const record::RankSummary& consumer) {
    const record::BacklogPoints& points = consumer.backlog_points;
    return points.known > 0 ? static_cast<double>(points.bytes.at(points.known - 1).count) : 0;
}

double slots_bytes(const core::Plan& plan) {
    return plan.slots * record::slot_bytes_mean(plan);
}

/// `room`: bytes that slots can still take at `from`.
void put_overload(core::Instant from, double room, double bytes_per_second, SlotGrowth& found) {
    found.overload = true;
    found.bytes_per_second = bytes_per_second;
    found.full_after_s = static_cast<double>(from.ns) * 1e-9 + std::max(0.0, room) / bytes_per_second;
}

struct Generated {
    double events_per_second = 0;  ///< that are processed: fragments of one event together are one
    double bytes_per_second = 0;
    bool exact = false;  ///< not by chance
};

/// By all producers. What a set is cut into is counted, and is the same in all sets if sizes do not vary.
Generated generated_of(const core::Plan& plan, std::span<const record::RankRecord> ranks) {
    const double mean = core::expected_mean(plan.event_size);
    if (plan.generation == core::Generation::steady) {
        const double bytes = static_cast<double>(plan.rate.bits_per_second) / 8 * plan.producers;
        return {mean > 0 ? bytes / mean / plan.fragments_per_event() : 0, bytes, true};
    }
    const double seconds = core::Duration{plan.next_set_at().ns}.in_seconds();
    Generated found{.exact = plan.event_size.kind == core::DistributionKind::fixed};
    for (const record::RankRecord& rank : ranks) {
        const core::Traffic& generated = rank.summary.measured.generated;
        found.events_per_second +=
            static_cast<double>(generated.events) / plan.fragments_per_event() / seconds;
        found.bytes_per_second += static_cast<double>(generated.bytes.count) / seconds;
    }
    return found;
}

void look_at_plan(const core::Plan& plan, std::span<const record::RankRecord> ranks, SlotGrowth& found) {
    // Of what is planned and possible; a run of few sets may have drawn more events than others.
    constexpr double least_load = 1.0005;
    constexpr double least_drawn_load = 1.02;
    const bool all_busy = plan.busy_consumers.empty() || plan.busy_consumers.size() >= plan.consumers;
    if (plan.addressed() || !all_busy || plan.consumers == 0 ||
        plan.generation == core::Generation::saturate) {
        return;
    }
    const Generated generated = generated_of(plan, ranks);
    const double load = generated.events_per_second * core::expected_mean(plan.busy) * 1e-9 / plan.consumers;
    if (load > (generated.exact ? least_load : least_drawn_load)) {
        double room = 0;
        for (const record::RankRecord& rank : ranks) {
            room += is_consumer(rank) ? slots_bytes(plan) - last_bytes(rank.summary) : 0;
        }
        put_overload(core::Instant{plan.duration.ns}, room, generated.bytes_per_second * (1 - 1 / load),
                     found);
        found.planned_load = load;
    }
}

/// Each consumer by itself.
void look_at_each(const core::Plan& plan, std::span<const record::RankRecord> ranks, SlotGrowth& found) {
    for (const record::RankRecord& rank : ranks) {
        if (!is_consumer(rank)) {
            continue;
        }
        const Processing processing = processing_of(rank.summary);
        found.busy = std::max(found.busy, processing.busy);
        const auto growth = growth_in_consumer(plan, rank.summary);
        const double spare = processing.bytes_per_second * (1 - processing.busy);
        if (processing.busy > 0 && growth && growth->grows() && growth->bytes_per_second() > spare &&
            growth->bytes_per_second() > found.bytes_per_second) {
            put_overload(growth->last_at, slots_bytes(plan) - last_bytes(rank.summary),
                         growth->bytes_per_second(), found);
            found.consumer = &rank;
        }
    }
}

void look_at_all(const core::Plan& plan, std::span<const record::RankRecord> ranks, SlotGrowth& found) {
    double processed = 0;
    double possible = 0;
    double room = 0;
    bool all_busy = true;
    for (const record::RankRecord& rank : ranks) {
        if (!is_consumer(rank)) {
            continue;
        }
        const Processing processing = processing_of(rank.summary);
        all_busy = all_busy && processing.busy > 0;
        processed += processing.bytes_per_second * processing.busy;
        possible += processing.bytes_per_second;
        room += slots_bytes(plan) - last_bytes(rank.summary);
    }
    found.busy = possible > 0 ? processed / possible : 0;
    if (all_busy && possible > 0 && found.waiting && found.waiting->grows() &&
        found.waiting->bytes_per_second() > possible - processed) {
        put_overload(found.waiting->last_at, room, found.waiting->bytes_per_second(), found);
    }
}

}  // namespace

SlotGrowth find_slot_growth(const core::Plan& plan, std::span<const record::RankRecord> ranks) {
    SlotGrowth found;
    found.waiting = growth_with_consumers(plan, ranks);
    if (plan.addressed()) {
        look_at_each(plan, ranks, found);
    } else {
        look_at_all(plan, ranks, found);
        look_at_plan(plan, ranks, found);
    }
    return found;
}

}  // namespace weir::judge
