#include "show/live_view.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "files/json.hpp"
#include "record/json_values.hpp"

namespace weir::show {

namespace {

using Json = nlohmann::ordered_json;

/// Until generation ends, after a second.
std::int64_t seconds_left(std::int64_t duration_s, std::int64_t second) {
    return std::max(std::int64_t{0}, duration_s - second - 1);
}

std::string missing_text(std::uint32_t ranks) {
    return ranks > 0 ? fmt::format("  {} missing", files::counted(ranks, "rank")) : std::string{};
}

std::string rate_cells(const record::RateRange& range, files::Unit unit) {
    if (range.ranks == 0) {
        return fmt::format("{:>7}{:>7}{:>7}", "-", "-", "-");
    }
    return fmt::format("{:>7}{:>7}{:>7}", files::in_unit(range.min, unit), files::in_unit(range.mean, unit),
                       files::in_unit(range.max, unit));
}

Json rate_json(const record::RateRange& range) {
    if (range.ranks == 0) {
        return nullptr;
    }
    return {{"min", range.min.bits_per_second},
            {"mean", range.mean.bits_per_second},
            {"max", range.max.bits_per_second},
            {"ranks", range.ranks}};
}

}  // namespace

LiveLines::LiveLines(const core::Plan& plan, LiveForm form, bool terminal, LineSink sink)
    : form_(form),
      terminal_(terminal),
      sink_(std::move(sink)),
      duration_s_((plan.duration.ns + record::ns_per_second - 1) / record::ns_per_second) {}

bool LiveLines::next_line(core::BitRate mean) {
    if (!unit_ && mean.bits_per_second > 0) {
        unit_ = files::unit_for(mean);
    }
    return lines_++ % lines_per_header == 0;
}

std::string LiveLines::time_text(record::Phase phase, std::int64_t second) const {
    const char* const before = files::word_of(phase, {"warm-up ", "", "drain "});
    const std::int64_t left = seconds_left(duration_s_, second);
    return fmt::format("{:>12}{:>8}", fmt::format("{}{}", before, second),
                       left >= 3600 ? fmt::format("{}:{:02}:{:02}", left / 3600, left / 60 % 60, left % 60)
                                    : fmt::format("{}:{:02}", left / 60, left % 60));
}

Json LiveLines::time_json(record::Phase phase, std::int64_t second) const {
    return {{"type", "second"},
            {"second", second},
            {"phase", record::phase_name(phase)},
            {"seconds_left", seconds_left(duration_s_, second)}};
}

LiveView::LiveView(const core::Plan& plan, LiveForm form, bool terminal, LineSink sink)
    : LiveLines(plan, form, terminal, std::move(sink)),
      consumers_(plan.consumers),
      row_interval_(plan.row_interval_asked_for ? plan.row_interval : core::Duration{}) {
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
    if (next_line(second.producers.mean)) {
        show_header();
    }
    const auto cell = [&](std::size_t cell_width, const std::string& text, bool alarming) {
        const std::string padded = fmt::format("{:>{}}", text, cell_width);
        return terminal_ && alarming ? fmt::format("{}{}{}", files::colour_red, padded, files::colour_none)
                                     : padded;
    };
    const bool has_sets = std::isfinite(second.max_occupancy);
    std::string line = fmt::format(
        "{} |{} |{} |{:>6}{:>9} | {}{}{}", time_text(second.phase, second.second),
        rate_cells(second.producers, unit()), rate_cells(second.consumers, unit()),
        files::cell(second.blocked_mean), fmt::format("{}/{}", second.blocked_at_once, consumers_),
        cell(9, files::cell(second.max_occupancy), second.overflowed),
        cell(7, has_sets ? std::to_string(second.late_sets) : "-", second.late_sets > 0),
        cell(8, std::to_string(second.counts.lost.events), second.counts.lost.events > 0));
    if (row_interval_.ns > 0) {
        line += fmt::format(" |{:>8}", files::in_unit(second.consumer_burst, unit()));
    }
    if (second.counts.corrupt_events > 0) {
        line += fmt::format("  {} corrupt", second.counts.corrupt_events);
    }
    if (second.counts.duplicate_events > 0) {
        line += fmt::format("  {} duplicate", second.counts.duplicate_events);
    }
    sink_(line + missing_text(second.missing_ranks));
}

void LiveView::show_header() {
    std::string title;
    std::string names;
    if (row_interval_.ns > 0) {
        title = fmt::format(" |{:>8}", "burst");
        names = fmt::format(" |{:>8}", fmt::format("{} ms", row_interval_.ns / 1000000));
    }
    sink_(fmt::format("{:>12}{:>8} |{:^22}|{:^22}|{:^16}| {:>9}{:>7}{:>8}", "second", "left",
                      fmt::format("producers {}", unit().name), fmt::format("consumers {}", unit().name),
                      "blocked", "worst", "late", "lost") +
          title);
    sink_(fmt::format("{:>12}{:>8} |{:>7}{:>7}{:>7} |{:>7}{:>7}{:>7} |{:>6}{:>9} | {:>9}{:>7}{:>8}", "",
                      "min:s", "min", "mean", "max", "min", "mean", "max", "mean", "max/all", "occupancy",
                      "sets", "events") +
          names);
}

void LiveView::show_json(const record::ClusterSecond& second) {
    Json line = time_json(second.phase, second.second);
    line["producers_bits_per_second"] = rate_json(second.producers);
    line["consumers_bits_per_second"] = rate_json(second.consumers);
    line["blocked_consumers_mean"] = second.blocked_mean;
    line["blocked_consumers_max"] = second.blocked_at_once;
    line["consumers"] = consumers_;
    const bool has_sets = std::isfinite(second.max_occupancy);
    line["max_occupancy"] = has_sets ? Json(second.max_occupancy) : Json();
    line["fullest_producer"] = has_sets ? Json(second.fullest_producer) : Json();
    line["overflow"] = second.overflowed;
    line["late_sets"] = has_sets ? Json(second.late_sets) : Json();
    record::each_total(
        second.counts, record::SumsIn::totals_and_live,
        [&](const record::Column& column, std::int64_t sum) { line[std::string(column.name)] = sum; });
    line["waiting_events"] = record::or_null(second.waiting_events);
    line["free_slots"] = record::or_null(second.free_slots);
    line["poll_gap_max_us"] = second.poll_gap_max.in_microseconds();
    line["missing_ranks"] = second.missing_ranks;
    if (row_interval_.ns > 0) {
        line["producers_burst_bits_per_second"] = second.producer_burst.bits_per_second;
        line["consumers_burst_bits_per_second"] = second.consumer_burst.bits_per_second;
    }
    sink_(files::json_text(line));
}

/// One group in a second, or the sum of all.
struct GroupsLiveView::Line {
    std::uint32_t group = 0;
    record::Phase phase = record::Phase::drain;
    std::int64_t sent = 0;                                        ///< bits per second, all producers
    std::int64_t received = 0;                                    ///< bits per second, all consumers
    double blocked = 0;                                           ///< consumers, mean
    double occupancy = std::numeric_limits<double>::quiet_NaN();  ///< NaN: there are no sets
    bool overflowed = false;
    std::uint64_t late_sets = 0;
    std::uint64_t lost_events = 0;
    std::uint32_t missing_ranks = 0;
    std::uint32_t ranks = 0;

    void add(const record::ClusterSecond& second) {
        phase = std::min(phase, second.phase);
        sent += second.producers.mean.bits_per_second * second.producers.ranks;
        received += second.consumers.mean.bits_per_second * second.consumers.ranks;
        blocked += second.blocked_mean;
        occupancy = std::fmax(occupancy, second.max_occupancy);
        overflowed = overflowed || second.overflowed;
        late_sets += second.late_sets;
        lost_events += second.counts.lost.events;
        missing_ranks += second.missing_ranks;
        ranks += second.producers.ranks + second.consumers.ranks + second.missing_ranks;
    }
    [[nodiscard]] bool has_sets() const { return std::isfinite(occupancy); }
    [[nodiscard]] bool worse_than(const Line& other) const {
        return missing_ranks != other.missing_ranks ? missing_ranks > other.missing_ranks
               : lost_events != other.lost_events   ? lost_events > other.lost_events
               : late_sets != other.late_sets       ? late_sets > other.late_sets
               : occupancy != other.occupancy       ? occupancy > other.occupancy
                                                    : received < other.received;
    }
    void put_into(Json& json) const {
        json["producers_bits_per_second"] = sent;
        json["consumers_bits_per_second"] = received;
        json["blocked_consumers_mean"] = blocked;
        json["max_occupancy"] = has_sets() ? Json(occupancy) : Json();
        json["overflow"] = overflowed;
        json["late_sets"] = has_sets() ? Json(late_sets) : Json();
        json["lost_events"] = lost_events;
        json["missing_ranks"] = missing_ranks;
    }
};

GroupsLiveView::GroupsLiveView(const core::Plan& plan, std::uint32_t groups, LiveForm form, bool terminal,
                               LineSink sink)
    : LiveLines(plan, form, terminal, std::move(sink)), groups_(groups), ended_(groups, false) {}

void GroupsLiveView::add(std::uint32_t group, const record::ClusterSecond& second) {
    if (form_ == LiveForm::quiet || (shown_ && second.second <= *shown_)) {
        return;
    }
    const std::int64_t first = open_.empty() ? second.second : open_.front().second;
    if (second.second < first) {
        return;  // a group that began earlier than the first that reported
    }
    while (open_.empty() || open_.back().second < second.second) {
        const std::int64_t next = open_.empty() ? second.second : open_.back().second + 1;
        open_.push_back({next, std::vector<std::optional<record::ClusterSecond>>(groups_)});
        if (open_.size() > open_seconds_max) {
            show(open_.front());
            open_.pop_front();
        }
    }
    open_[static_cast<std::size_t>(second.second - open_.front().second)].groups.at(group) = second;
    show_what_is_complete();
}

void GroupsLiveView::end(std::uint32_t group) {
    ended_.at(group) = true;
    show_what_is_complete();
}

void GroupsLiveView::show_what_is_complete() {
    const auto complete = [this](const Open& open) {
        for (std::uint32_t group = 0; group < groups_; ++group) {
            if (!open.groups[group] && !ended_[group]) {
                return false;
            }
        }
        return true;
    };
    while (!open_.empty() && complete(open_.front())) {
        show(open_.front());
        open_.pop_front();
    }
}

void GroupsLiveView::show(const Open& open) {
    shown_ = open.second;
    Line all;
    std::vector<Line> lines;
    for (std::uint32_t group = 0; group < groups_; ++group) {
        if (const auto& second = open.groups[group]) {
            all.add(*second);
            lines.emplace_back(Line{.group = group}).add(*second);
        }
    }
    if (form_ == LiveForm::json) {
        show_json(open.second, all, lines);
    } else if (form_ == LiveForm::text && all.ranks > 0) {  // else they ended in the middle of a second
        show_text(open.second, all, lines);
    }
}

std::string GroupsLiveView::text_of(const Line& line, const std::string& name) const {
    const bool bad = terminal_ && (line.overflowed || line.late_sets > 0 || line.lost_events > 0);
    return fmt::format(" |{:>9} |{:>10}{:>10} |{:>9} |{}{:>10}{:>8}{:>8}{}{}", name,
                       files::in_unit({line.sent}, unit()), files::in_unit({line.received}, unit()),
                       files::cell(line.blocked), bad ? files::colour_red : "", files::cell(line.occupancy),
                       line.has_sets() ? std::to_string(line.late_sets) : "-", line.lost_events,
                       bad ? files::colour_none : "", missing_text(line.missing_ranks));
}

void GroupsLiveView::show_text(std::int64_t second, const Line& all, std::vector<Line>& lines) {
    if (next_line({all.sent / static_cast<std::int64_t>(lines.size())})) {
        show_header();
    }
    sink_(
        fmt::format("{}{}", time_text(all.phase, second),
                    text_of(all, lines.size() == groups_ ? fmt::format("all {}", groups_)
                                                         : fmt::format("{} of {}", lines.size(), groups_))));
    const std::size_t shown = std::min(lines.size(), groups_shown);
    std::partial_sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), lines.end(),
                      [](const Line& a, const Line& b) { return a.worse_than(b); });
    for (std::size_t i = 0; i < shown; ++i) {
        sink_(fmt::format("{:>20}{}", "", text_of(lines[i], std::to_string(lines[i].group))));
    }
}

void GroupsLiveView::show_header() {
    sink_(fmt::format("{:>12}{:>8} |{:>9} |{:^20} |{:>9} |{:>10}{:>8}{:>8}", "second", "left", "group",
                      fmt::format("all ranks, {}", unit().name), "blocked", "worst", "late", "lost"));
    sink_(fmt::format("{:>12}{:>8} |{:>9} |{:>10}{:>10} |{:>9} |{:>10}{:>8}{:>8}", "", "min:s",
                      groups_ > groups_shown ? "worst 3" : "", "sent", "received", "consumers", "occupancy",
                      "sets", "events"));
}

void GroupsLiveView::show_json(std::int64_t second, const Line& all, const std::vector<Line>& lines) const {
    Json json = time_json(all.phase, second);
    all.put_into(json);
    json["groups"] = Json::array();
    for (const Line& line : lines) {
        line.put_into(json["groups"].emplace_back(Json{{"group", line.group}}));
    }
    sink_(files::json_text(json));
}

}  // namespace weir::show
