#include "judge/verdict_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/set_phase.hpp"
#include "files/formatting.hpp"
#include "record/backlog_points.hpp"

namespace weir::judge {

namespace {

/// What the next set adds to what is left of the one before.
double next_set_bytes(const core::Plan& plan, core::ProducerId producer) {
    return plan.generation == core::Generation::sets
               ? static_cast<double>(core::first_of_set_bytes(plan, producer).count)
               : 0;
}

/// What is beyond any run stays in range: accounts of ranks come from outside.
std::int64_t in_range(double number) {
    return static_cast<std::int64_t>(std::clamp(number, 0.0, 9e18));
}

std::string readable_bytes(double bytes) {
    return files::readable(core::Bytes{in_range(bytes)});
}

std::string readable_seconds(double seconds) {
    return files::readable(core::Duration{in_range(seconds * 1e9)});
}

/// "103.0 MB per second and is full after 39.0 s"
std::string filling_text(const BacklogGrowth& growth, double full_after_s, std::string_view verb) {
    return fmt::format("{} per second and {} full after {}", readable_bytes(growth.bytes_per_second()), verb,
                       readable_seconds(full_after_s));
}

std::string slots_text(const SlotGrowth& growth) {
    const bool all = growth.consumer == nullptr;
    const std::string who =
        all ? "consumers" : files::node_text(growth.consumer->summary.node, growth.consumer->host);
    const std::string why = growth.load > 0
                                ? fmt::format(" ({} would have to process for {:.4g} s in every second)",
                                              all ? "each" : "it", growth.load)
                                : "";
    return fmt::format(
        "{} cannot keep up{}: what waits grows by {} per second, first in {} slots, which are full after {}, "
        "then in buffers of producers.",
        who, why, readable_bytes(growth.bytes_per_second), all ? "their" : "its",
        readable_seconds(growth.full_after_s));
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

}  // namespace weir::judge
