#include "explorer/verdict_check.hpp"

#include <fmt/format.h>

#include <optional>

#include "explorer/cause_refutation.hpp"
#include "files/formatting.hpp"
#include "judge/cause_text.hpp"
#include "record/backlog_points.hpp"
#include "record/second_clock.hpp"

namespace weir::explorer {

using core::Generation;

namespace {

/// Sums of the measured rows.
struct MeasuredSums {
    double generated = 0;
    double received = 0;
};

MeasuredSums measured_sums(const show::RunRecord& record) {
    MeasuredSums sums;
    for (const record::RankRecord& rank : record.ranks) {
        sums.generated += static_cast<double>(rank.summary.measured.generated.bytes.count);
        sums.received += static_cast<double>(rank.summary.measured.received.bytes.count);
    }
    return sums;
}

/// By how much what was generated in the measured rows may be more than what was received although the run
/// is sustained: the growth that the verdict takes for chance, what is under way at either end, and what the
/// points, which the verdict was made from, do not cover. Nothing: rows and intervals do not end together, or
/// a consumer that was lost received more than its rows have.
std::optional<double> allowed_difference(const show::RunRecord& record) {
    const core::Plan& plan = record.plan;
    const record::PointsPlan points = record::points_of(plan, {});
    const bool sets = plan.generation == Generation::sets;
    if (plan.duration.ns % record::ns_per_second != 0 || points.points < 2 || plan.outlives_consumers ||
        (sets && plan.duration.ns % plan.interval.ns != 0) ||
        !record.verdict.growth_tolerance_bytes_per_second) {
        return std::nullopt;
    }
    const auto event = static_cast<double>(plan.slot_size.count);
    const double under_way =
        event * (plan.producers * (2.0 + plan.streams) + static_cast<double>(plan.consumers) * plan.places());
    const bool aligned = sets && points.first == core::Instant{} && !plan.is_staggered();
    const core::Duration uncovered = aligned ? core::Duration{} : points.step + plan.interval;
    const double seconds = (points.step * (points.points - 1)).in_seconds();
    return *record.verdict.growth_tolerance_bytes_per_second * seconds + under_way +
           static_cast<double>(plan.rate.bits_per_second) / 8 * plan.producers * uncovered.in_seconds();
}

/// What is said of the backlog, against what was generated and received and against the sets.
std::string contradiction_in_growth(const show::RunRecord& record) {
    const judge::Verdict& verdict = record.verdict;
    const core::Plan& plan = record.plan;
    const bool sustained = verdict.judged && verdict.sustained;
    const MeasuredSums sums = measured_sums(record);
    const auto allowed = allowed_difference(record);
    if (sustained && allowed && sums.generated - sums.received > *allowed) {
        return fmt::format(
            "the run is called sustained although {:.0f} bytes were generated and only {:.0f} received",
            sums.generated, sums.received);
    }
    const bool grows = verdict.buffer_full_after_s.has_value();
    if (sustained && (grows || verdict.slots_full_after_s || !verdict.growing_producers.empty())) {
        return "the run is called sustained although a backlog grows";
    }
    // Then nothing was left at the end of any set.
    if (grows && plan.generation == Generation::sets && !plan.addressed() && verdict.late_sets == 0) {
        return "a backlog is said to grow although every set was gone in time";
    }
    if (grows && *verdict.buffer_full_after_s < 0) {
        return "a buffer is said to be full before second 0";
    }
    return "";
}

/// Between the causes and the sentences that are made of them.
std::string contradiction_in_causes(const show::RunRecord& record) {
    const judge::Verdict& verdict = record.verdict;
    judge::RunFacts facts;
    facts.recovery = record.recovery ? &*record.recovery : nullptr;
    for (const judge::NamedCause& cause : verdict.causes) {
        const std::string against = refutation_of(cause, record.plan, record.ranks, facts);
        if (!against.empty()) {
            return fmt::format("{} is named as a cause, but {}", judge::subject_of(cause), against);
        }
        if (cause.share < 0 || cause.share > 1) {
            return fmt::format("{} has a share of {}", judge::subject_of(cause), cause.share);
        }
    }
    const bool held_up = verdict.judged && (!verdict.sustained || !verdict.on_time.value_or(true));
    if (held_up && verdict.causes.empty()) {
        return "a run that was held up has no cause";
    }
    if (!verdict.causes.empty() && verdict.sustained && verdict.on_time.value_or(true)) {
        return fmt::format("a run that is sustained and on time is said to be held up by {}",
                           judge::subject_of(verdict.causes.front()));
    }
    return "";
}

/// No schedule and no way of packets beats the ideal of a phase.
std::string contradiction_in_phases(const show::RunRecord& record) {
    for (const record::PhaseSummary& phase : record.phases) {
        if (phase.shortest && phase.ideal && *phase.shortest < *phase.ideal) {
            return fmt::format("phase {} took {}, less than the ideal {}", phase.name,
                               files::readable(*phase.shortest), files::readable(*phase.ideal));
        }
    }
    return "";
}

}  // namespace

std::string contradiction_in(const show::RunRecord& record) {
    const judge::Verdict& verdict = record.verdict;
    const core::Plan& plan = record.plan;
    const std::uint64_t lost = show::totals_of(record).lost.events;
    const bool sustained = verdict.judged && verdict.sustained;
    if (verdict.lost_events != lost) {
        return fmt::format("the verdict counts {} lost events, the ledgers {}", verdict.lost_events, lost);
    }
    if (sustained && lost > 0) {
        return fmt::format("the run is called sustained although {} events were lost", lost);
    }
    if (verdict.on_time.value_or(false) && (lost > 0 || verdict.late_sets > 0)) {
        return fmt::format("the run is called on time although {} events were lost and {} sets were late",
                           lost, verdict.late_sets);
    }
    if (verdict.late_sets > verdict.sets) {
        return fmt::format("{} of {} sets are called late", verdict.late_sets, verdict.sets);
    }
    // Something of a late set is there beside the next one, which alone fills the buffer.
    if (sustained && verdict.late_sets > 0 && plan.generation == Generation::sets && !plan.addressed() &&
        plan.buffer <= plan.set_bytes()) {
        return fmt::format(
            "the run is called sustained although {} sets were late and the buffer holds one set",
            verdict.late_sets);
    }
    if (sustained && verdict.max_occupancy > 1) {
        return fmt::format("the run is called sustained at an occupancy of {}", verdict.max_occupancy);
    }
    const bool expects_judgement = plan.generation != Generation::saturate;
    if ((verdict.judged && !expects_judgement) || verdict.on_time.has_value() != expects_judgement) {
        return "a complete run is judged by its sets if and only if it has a rate";
    }
    if (!verdict.judged && (verdict.buffer_full_after_s || verdict.slots_full_after_s)) {
        return "the run is not judged although a backlog grows";
    }
    if (std::string against = contradiction_in_growth(record); !against.empty()) {
        return against;
    }
    if (std::string against = contradiction_in_phases(record); !against.empty()) {
        return against;
    }
    return contradiction_in_causes(record);
}

}  // namespace weir::explorer
