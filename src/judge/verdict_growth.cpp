#include "judge/verdict_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/distribution.hpp"
#include "core/plan.hpp"
#include "core/traffic_plan.hpp"
#include "files/formatting.hpp"
#include "judge/processing_load.hpp"
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

/// What comes for a consumer with a share of its own, in each second.
double bytes_for(const core::Plan& plan, std::uint32_t consumer, const Generated& generated) {
    if (!plan.addressed()) {
        return generated.bytes_per_second / plan.consumers;
    }
    double bytes = 0;
    for (const core::TrafficPlan::Incoming& incoming : plan.traffic->to(core::ConsumerId{consumer})) {
        bytes += static_cast<double>(incoming.bytes.count);
    }
    return bytes / plan.interval.in_seconds();
}

// Loads.

/// How much longer than planned a consumer took on average, and by how much that may be off.
struct Slowness {
    double factor = 1;
    double error = 0;
};

Slowness slowness_of(const core::Plan& plan, const record::RankSummary& consumer) {
    constexpr double fewest = 20;
    const auto events = static_cast<double>(consumer.measured.processed.events);
    const double planned_s = core::expected_mean(plan.busy) * 1e-9 * events;
    if (events < fewest || planned_s <= 0) {
        return {};
    }
    // An event that is in work at either end of the time, and chance.
    const bool drawn = plan.busy.kind != core::DistributionKind::fixed;
    const double error = 1.5 / events + (drawn ? 3 / std::sqrt(events) : 0);
    const double factor = consumer.time.processing.in_seconds() / planned_s;
    return factor > 1 + error ? Slowness{factor, error} : Slowness{};
}

struct Loads {
    ProcessingLoads planned;
    ProcessingLoads seen;     ///< at least, with what consumers took
    ProcessingLoads at_most;  ///< with what they may take
};

Loads loads_of(const core::Plan& plan, std::span<const record::RankRecord> ranks,
               const Generated& generated) {
    std::vector<double> least(plan.consumers, 1);
    std::vector<double> most(plan.consumers, 1);
    for (const record::RankRecord& rank : ranks) {
        if (is_consumer(rank) && rank.summary.node.index < plan.consumers) {
            const Slowness slowness = slowness_of(plan, rank.summary);
            least[rank.summary.node.index] = slowness.factor - slowness.error;
            most[rank.summary.node.index] = slowness.factor + slowness.error;
        }
    }
    const double events = generated.events_per_second;
    return {processing_loads(plan, events), processing_loads(plan, events, least),
            processing_loads(plan, events, most)};
}

/// What is planned and possible must not count, nor that a run of few sets may have drawn more events than
/// others.
double most_bearable(const Generated& generated) {
    return generated.exact ? 1.0005 : 1.02;
}

void look_at_loads(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                   const Generated& generated, const Loads& loads, SlotGrowth& found) {
    const ProcessingLoads& worse =
        loads.seen.highest() > loads.planned.highest() ? loads.seen : loads.planned;
    const double load = worse.highest();
    if (load <= most_bearable(generated)) {
        return;
    }
    double room = 0;
    const record::RankRecord* highest = nullptr;
    double comes = generated.bytes_per_second;
    for (const record::RankRecord& rank : ranks) {
        if (!is_consumer(rank)) {
            continue;
        }
        const double here = slots_bytes(plan) - last_bytes(rank.summary);
        if (worse.each.empty()) {
            room += here;
        } else if (worse.each[rank.summary.node.index] == load && highest == nullptr) {
            highest = &rank;
            room = here;
            comes = bytes_for(plan, rank.summary.node.index, generated);
        }
    }
    put_overload(core::Instant{plan.duration.ns}, room, comes * (1 - 1 / load), found);
    found.consumer = highest;
    found.load = load;
}

// What waits.

/// Processing takes nearly all of the time: a backlog may grow that does not show.
constexpr double busy_from = 0.95;

double unseen_share(const std::optional<BacklogGrowth>& growth, const core::Plan& plan,
                    double comes_per_second) {
    if (growth) {
        return growth->tolerance_bytes_per_second() / std::max(1.0, comes_per_second);
    }
    // Too short to compare anything; else the points are not known, which says nothing about the run.
    return record::points_of(plan, {}).points < 2 ? 1 : 0;
}

bool is_below_one(double load_at_most, const Generated& generated) {
    return load_at_most > 0 && load_at_most < 2 - most_bearable(generated);
}

/// Each consumer by itself.
void look_at_each(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                  const Generated& generated, const Loads& loads, SlotGrowth& found) {
    for (const record::RankRecord& rank : ranks) {
        if (!is_consumer(rank)) {
            continue;
        }
        const std::uint32_t index = rank.summary.node.index;
        const Processing processing = processing_of(rank.summary);
        const auto growth = growth_in_consumer(plan, rank.summary);
        const double at_most = index < loads.at_most.each.size() ? loads.at_most.each[index] : 0;
        if (processing.busy >= busy_from && !is_below_one(at_most, generated)) {
            found.unseen =
                std::max(found.unseen, unseen_share(growth, plan, bytes_for(plan, index, generated)));
        }
        const double spare = processing.bytes_per_second * (1 - processing.busy);
        if (processing.busy > 0 && growth && growth->grows() && growth->bytes_per_second() > spare &&
            growth->bytes_per_second() > found.bytes_per_second) {
            put_overload(growth->last_at, slots_bytes(plan) - last_bytes(rank.summary),
                         growth->bytes_per_second(), found);
            found.consumer = &rank;
        }
    }
}

void look_at_all(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                 const Generated& generated, const Loads& loads, SlotGrowth& found) {
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
    const auto waiting = growth_with_consumers(plan, ranks);
    if (possible > 0 && processed >= busy_from * possible && !is_below_one(loads.at_most.all, generated)) {
        found.unseen = unseen_share(waiting, plan, generated.bytes_per_second);
    }
    if (all_busy && possible > 0 && waiting && waiting->grows() &&
        waiting->bytes_per_second() > possible - processed) {
        put_overload(waiting->last_at, room, waiting->bytes_per_second(), found);
    }
}

/// What the next set adds to what is left of the one before.
double next_set_bytes(const core::Plan& plan, core::ProducerId producer) {
    return plan.generation == core::Generation::sets
               ? static_cast<double>(core::first_of_set_bytes(plan, producer).count)
               : 0;
}

/// "103 MB per second and is full after 39 s"
std::string filling_text(const BacklogGrowth& growth, double full_after_s, std::string_view verb) {
    return fmt::format("{} per second and {} full after {}", files::bytes_text(growth.bytes_per_second()),
                       verb, files::seconds_text(full_after_s));
}

std::string slots_text(const SlotGrowth& growth) {
    const bool all = growth.consumer == nullptr;
    const std::string who =
        all ? "consumers" : files::node_text(growth.consumer->summary.node, growth.consumer->host);
    const std::string why = growth.load > 0
                                ? fmt::format(" ({} would have to process for {} in every second)",
                                              all ? "each" : "it", files::number(growth.load) + " s")
                                : "";
    return fmt::format(
        "{} cannot keep up{}: what waits grows by {} per second, first in {} slots, which are full after {}, "
        "then in buffers of producers.",
        who, why, files::bytes_text(growth.bytes_per_second), all ? "their" : "its",
        files::seconds_text(growth.full_after_s));
}

}  // namespace

Growths find_growths(const core::Plan& plan, std::span<const record::RankRecord> ranks) {
    Growths found;
    found.all = growth_of_all(plan, ranks);
    found.slots = find_slot_growth(plan, ranks);
    double room = 0;
    for (const record::RankRecord& rank : ranks) {
        if (rank.summary.node.role != core::Role::producer) {
            continue;
        }
        const double buffer = static_cast<double>(plan.buffer.count) -
                              next_set_bytes(plan, core::ProducerId{rank.summary.node.index});
        room += buffer;
        const auto growth = growth_of(plan, rank.summary);
        if (growth && growth->grows()) {
            found.producers.push_back({&rank, *growth, full_after_s(*growth, buffer)});
        }
    }
    std::stable_sort(found.producers.begin(), found.producers.end(),
                     [](const Growing& a, const Growing& b) { return a.growth.bytes > b.growth.bytes; });
    if (found.all && found.all->grows()) {
        found.all_full_after_s = full_after_s(*found.all, room);
    }
    return found;
}

double first_full_after_s(const Growths& growths) {
    double first = growths.producers.empty() ? growths.all_full_after_s : growths.producers[0].full_after_s;
    for (const Growing& growing : growths.producers) {
        first = std::min(first, growing.full_after_s);
    }
    return first;
}

std::string growth_text(const Growths& growths) {
    if (!growths.in_buffers()) {
        return slots_text(growths.slots);
    }
    if (growths.producers.empty()) {
        return fmt::format("the buffers of all producers together fill by {}.",
                           filling_text(*growths.all, growths.all_full_after_s, "are"));
    }
    const Growing& worst = growths.producers.front();
    const std::string who = files::node_text(worst.rank->summary.node, worst.rank->host);
    const std::string how = filling_text(worst.growth, worst.full_after_s, "is");
    if (growths.producers.size() == 1) {
        return fmt::format("the buffer of {} fills by {}.", who, how);
    }
    return fmt::format("the buffers of {} fill; the fastest, of {}, fills by {}.",
                       files::counted(growths.producers.size(), "producer"), who, how);
}

NamedCause cause_of_overload(const SlotGrowth& growth) {
    NamedCause cause{.what = CauseKind::processing, .share = 1};
    if (growth.consumer != nullptr) {
        cause.where = growth.consumer->summary.node;
        cause.host = growth.consumer->host;
    }
    cause.text = fmt::format("events come faster than {} can process them.",
                             growth.consumer == nullptr ? "consumers" : "it");
    cause.remedy = "use more consumers, or shorten their processing (--busy)";
    return cause;
}

UnseenGrowth unseen_growth(const core::Plan& plan, const Growths& growths, bool all_gone,
                           core::Duration longest_wait) {
    UnseenGrowth unseen{.share = growths.slots.unseen, .in_slots = growths.slots.unseen > 0};
    if (all_gone || unseen.in_slots) {
        return unseen;
    }
    if (!growths.all) {
        // Not known: the run may be too short to compare anything.
        unseen.share = record::points_of(plan, {}).points < 2 ? 1 : 0;
    } else {
        const double generated = static_cast<double>(plan.rate.bits_per_second) / 8 * plan.producers;
        unseen.share = growths.all->tolerance_bytes_per_second() / generated;
    }
    // What had grown by a share of the rate would have made the last data wait for that share of the run.
    unseen.share = std::min(unseen.share, longest_wait.in_seconds() / plan.duration.in_seconds());
    return unseen;
}

std::string unseen_growth_text(const core::Plan& plan, const UnseenGrowth& unseen) {
    return unseen.share < 1
               ? fmt::format("a backlog {}that grows by less than {} of the rate would not show in {}",
                             unseen.in_slots ? "in slots of consumers " : "", files::percent(unseen.share),
                             files::length_text(plan.duration))
               : "the run is too short to show whether the backlog grows";
}

SlotGrowth find_slot_growth(const core::Plan& plan, std::span<const record::RankRecord> ranks) {
    SlotGrowth found;
    const Generated generated = generated_of(plan, ranks);
    const Loads loads = loads_of(plan, ranks, generated);
    (has_own_shares(plan) ? look_at_each : look_at_all)(plan, ranks, generated, loads, found);
    look_at_loads(plan, ranks, generated, loads, found);
    return found;
}

}  // namespace weir::judge
