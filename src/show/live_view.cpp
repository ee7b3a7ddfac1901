#include "show/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "files/json_text.hpp"
#include "record/second_clock.hpp"

namespace weir::show {

namespace {

std::string rate_cells(const record::RateRange& range, files::RateUnit unit) {
    if (range.ranks == 0) {
        return fmt::format("{:>7}{:>7}{:>7}", "-", "-", "-");
    }
    return fmt::format("{:>7}{:>7}{:>7}", files::in_unit(range.min, unit), files::in_unit(range.mean, unit),
                       files::in_unit(range.max, unit));
}

nlohmann::ordered_json rate_json(const record::RateRange& range) {
    if (range.ranks == 0) {
        return nullptr;
    }
    return {{"min", range.min.bits_per_second},
            {"mean", range.mean.bits_per_second},
            {"max", range.max.bits_per_second},
            {"ranks", range.ranks}};
}

}  // namespace

std::string second_text(record::Phase phase, std::int64_t second) {
    return fmt::format("{}{}",
                       phase == record::Phase::warmup  ? "warm-up "
                       : phase == record::Phase::drain ? "drain "
                                                       : "",
                       second);
}

std::int64_t seconds_left(std::int64_t duration_s, std::int64_t second) {
    return std::max(std::int64_t{0}, duration_s - second - 1);
}

std::string time_left_text(std::int64_t duration_s, std::int64_t second) {
    const std::int64_t left = seconds_left(duration_s, second);
    return left >= 3600 ? fmt::format("{}:{:02}:{:02}", left / 3600, left / 60 % 60, left % 60)
                        : fmt::format("{}:{:02}", left / 60, left % 60);
}

LiveView::LiveView(const core::Plan& plan, LiveForm form, bool terminal, LineSink sink)
    : consumers_(plan.consumers),
      duration_s_((plan.duration.ns + record::ns_per_second - 1) / record::ns_per_second),
      row_interval_(plan.row_interval_asked_for ? plan.row_interval : core::Duration{}),
      form_(form),
      terminal_(terminal),
      sink_(std::move(sink)) {
    if (plan.generation != core::Generation::saturate && plan.rate.bits_per_second > 0 &&
        plan.consumers > 0) {
        // Both sides in one unit: the one in which the smaller of the two mean rates is at least 1.
        const double per_consumer =
            static_cast<double>(plan.rate.bits_per_second) * plan.producers / plan.consumers;
        unit_ =
            files::unit_for({std::min(plan.rate.bits_per_second, static_cast<std::int64_t>(per_consumer))});
    }
}

void LiveView::show(const record::ClusterSecond& second) {
    switch (form_) {
        case LiveForm::text:
            show_text(second);
            break;
        case LiveForm::json:
            show_json(second);
            break;
        case LiveForm::quiet:
            break;
    }
}

void LiveView::show_text(const record::ClusterSecond& second) {
    if (second.producers.ranks + second.consumers.ranks == 0 &&
        (second.phase == record::Phase::drain || second.missing_ranks == 0)) {
        return;  // ranks that ended in the middle of a second: nothing to compare
    }
    if (!unit_ && second.producers.mean.bits_per_second > 0) {
        unit_ = files::unit_for(second.producers.mean);
    }
    const files::RateUnit unit = unit_.value_or(files::RateUnit{1e6, "Mb/s"});
    if (lines_++ % lines_per_header == 0) {
        show_header(unit);
    }
    const auto cell = [&](std::size_t cell_width, const std::string& text, bool alarming) {
        const std::string padded = fmt::format("{:>{}}", text, cell_width);
        return terminal_ && alarming ? fmt::format("{}{}{}", files::colour_red, padded, files::colour_none)
                                     : padded;
    };
    const bool has_sets = std::isfinite(second.max_occupancy);
    std::string line =
        fmt::format("{:>12}{:>8} |{} |{} |{:>6.1f}{:>9} | {}{}{}", second_text(second.phase, second.second),
                    time_left_text(duration_s_, second.second), rate_cells(second.producers, unit),
                    rate_cells(second.consumers, unit), second.blocked_mean,
                    fmt::format("{}/{}", second.blocked_at_once, consumers_),
                    cell(9, has_sets ? fmt::format("{:.3f}", second.max_occupancy) : "-", second.overflowed),
                    cell(7, has_sets ? std::to_string(second.late_sets) : "-", second.late_sets > 0),
                    cell(8, std::to_string(second.counts.lost.events), second.counts.lost.events > 0));
    if (row_interval_.ns > 0) {
        line += fmt::format(" |{:>8}", files::in_unit(second.consumer_burst, unit));
    }
    if (second.counts.corrupt_events > 0) {
        line += fmt::format("  {} corrupt", second.counts.corrupt_events);
    }
    if (second.counts.duplicate_events > 0) {
        line += fmt::format("  {} duplicate", second.counts.duplicate_events);
    }
    if (second.missing_ranks > 0) {
        line += fmt::format("  {} missing", files::counted(second.missing_ranks, "rank"));
    }
    sink_(line);
}

void LiveView::show_header(files::RateUnit unit) {
    std::string title;
    std::string names;
    if (row_interval_.ns > 0) {
        title = fmt::format(" |{:>8}", "burst");
        names = fmt::format(" |{:>8}", fmt::format("{} ms", row_interval_.ns / 1000000));
    }
    sink_(fmt::format("{:>12}{:>8} |{:^22}|{:^22}|{:^16}| {:>9}{:>7}{:>8}", "second", "left",
                      fmt::format("producers {}", unit.name), fmt::format("consumers {}", unit.name),
                      "blocked", "worst", "late", "lost") +
          title);
    sink_(fmt::format("{:>12}{:>8} |{:>7}{:>7}{:>7} |{:>7}{:>7}{:>7} |{:>6}{:>9} | {:>9}{:>7}{:>8}", "",
                      "min:s", "min", "mean", "max", "min", "mean", "max", "mean", "max/all", "occupancy",
                      "sets", "events") +
          names);
}

void LiveView::show_json(const record::ClusterSecond& second) {
    nlohmann::ordered_json line{
        {"type", "second"},
        {"second", second.second},
        {"phase", record::phase_name(second.phase)},
        {"seconds_left", seconds_left(duration_s_, second.second)},
        {"producers_bits_per_second", rate_json(second.producers)},
        {"consumers_bits_per_second", rate_json(second.consumers)},
        {"blocked_consumers_mean", second.blocked_mean},
        {"blocked_consumers_max", second.blocked_at_once},
        {"consumers", consumers_},
        {"max_occupancy", nullptr},
        {"fullest_producer", nullptr},
        {"overflow", second.overflowed},
        {"late_sets", nullptr},
    };
    record::each_total(
        second.counts, record::SumsIn::totals_and_live,
        [&](const record::Column& column, std::int64_t sum) { line[std::string(column.name)] = sum; });
    line["waiting_events"] = nullptr;
    line["free_slots"] = nullptr;
    line["poll_gap_max_us"] = second.poll_gap_max.in_microseconds();
    line["missing_ranks"] = second.missing_ranks;
    if (std::isfinite(second.max_occupancy)) {
        line["max_occupancy"] = second.max_occupancy;
        line["fullest_producer"] = second.fullest_producer;
        line["late_sets"] = second.late_sets;
    }
    if (row_interval_.ns > 0) {
        line["producers_burst_bits_per_second"] = second.producer_burst.bits_per_second;
        line["consumers_burst_bits_per_second"] = second.consumer_burst.bits_per_second;
    }
    if (second.waiting_events) {
        line["waiting_events"] = *second.waiting_events;
    }
    if (second.free_slots) {
        line["free_slots"] = *second.free_slots;
    }
    sink_(files::json_text(line));
}

}  // namespace weir::show
