#include "telemetry/job_live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "telemetry/json_text.hpp"
#include "telemetry/second_clock.hpp"

namespace weir::telemetry {

namespace {

using Json = nlohmann::ordered_json;

/// One group in a second, or the sum of all.
struct GroupLine {
    std::string name;
    std::int64_t sent = 0;      ///< bits per second, all producers
    std::int64_t received = 0;  ///< bits per second, all consumers
    double blocked = 0;         ///< consumers, mean
    double occupancy = 0;       ///< NaN: there are no sets
    bool overflowed = false;
    std::uint64_t late_sets = 0;
    std::uint64_t lost_events = 0;
    std::uint32_t missing_ranks = 0;

    void add(const GroupLine& other) {
        sent += other.sent;
        received += other.received;
        blocked += other.blocked;
        occupancy = std::max(occupancy, other.occupancy);
        overflowed = overflowed || other.overflowed;
        late_sets += other.late_sets;
        lost_events += other.lost_events;
        missing_ranks += other.missing_ranks;
    }
    [[nodiscard]] bool worse_than(const GroupLine& other) const {
        return missing_ranks != other.missing_ranks ? missing_ranks > other.missing_ranks
               : lost_events != other.lost_events   ? lost_events > other.lost_events
               : late_sets != other.late_sets       ? late_sets > other.late_sets
               : occupancy != other.occupancy       ? occupancy > other.occupancy
                                                    : received < other.received;
    }
};

std::int64_t sum_of(const RateRange& range) {
    return range.mean.bits_per_second * range.ranks;
}

GroupLine line_of(std::uint32_t group, const ClusterSecond& second) {
    return {.name = std::to_string(group),
            .sent = sum_of(second.producers),
            .received = sum_of(second.consumers),
            .blocked = second.blocked_mean,
            .occupancy = second.max_occupancy,
            .overflowed = second.overflowed,
            .late_sets = second.late_sets,
            .lost_events = second.counts.lost.events,
            .missing_ranks = second.missing_ranks};
}

Json json_of(const GroupLine& line) {
    const bool has_sets = std::isfinite(line.occupancy);
    return {{"producers_bits_per_second", line.sent},
            {"consumers_bits_per_second", line.received},
            {"blocked_consumers_mean", line.blocked},
            {"max_occupancy", has_sets ? Json(line.occupancy) : Json()},
            {"overflow", line.overflowed},
            {"late_sets", has_sets ? Json(line.late_sets) : Json()},
            {"lost_events", line.lost_events},
            {"missing_ranks", line.missing_ranks}};
}

std::string time_text(Phase phase, std::int64_t second) {
    switch (phase) {
        case Phase::warmup:
            return fmt::format("warm-up {}", second);
        case Phase::drain:
            return fmt::format("drain {}", second);
        case Phase::measure:
            break;
    }
    return std::to_string(second);
}

}  // namespace

JobLiveView::JobLiveView(const core::Plan& plan, std::uint32_t groups, LiveForm form, bool terminal,
                         LiveView::LineSink sink)
    : duration_s_((plan.duration.ns + ns_per_second - 1) / ns_per_second),
      groups_(groups),
      form_(form),
      terminal_(terminal),
      sink_(std::move(sink)),
      ended_(groups, false) {}

void JobLiveView::add(std::uint32_t group, const ClusterSecond& second) {
    if (form_ == LiveForm::quiet || (shown_ && second.second <= *shown_)) {
        return;
    }
    const std::int64_t first = open_.empty() ? second.second : open_.front().second;
    if (second.second < first) {
        return;  // a group that began earlier than the one that was first heard
    }
    while (open_.empty() || open_.back().second < second.second) {
        const std::int64_t next = open_.empty() ? second.second : open_.back().second + 1;
        open_.push_back({next, std::vector<std::optional<ClusterSecond>>(groups_)});
        if (open_.size() > open_seconds_max) {
            show(open_.front());
            open_.pop_front();
        }
    }
    open_[static_cast<std::size_t>(second.second - open_.front().second)].groups.at(group) = second;
    show_what_is_complete();
}

void JobLiveView::end(std::uint32_t group) {
    ended_.at(group) = true;
    show_what_is_complete();
}

void JobLiveView::show_what_is_complete() {
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

std::int64_t JobLiveView::seconds_left(std::int64_t second) const {
    return std::max(std::int64_t{0}, duration_s_ - second - 1);
}

void JobLiveView::show(const Open& open) {
    shown_ = open.second;
    if (form_ == LiveForm::json) {
        show_json(open);
    } else if (form_ == LiveForm::text) {
        show_text(open);
    }
}

void JobLiveView::show_text(const Open& open) {
    std::vector<GroupLine> lines;
    Phase phase = Phase::drain;
    std::uint32_t ranks = 0;
    for (std::uint32_t group = 0; group < groups_; ++group) {
        if (const auto& second = open.groups[group]) {
            lines.push_back(line_of(group, *second));
            phase = std::min(phase, second->phase);
            ranks += second->producers.ranks + second->consumers.ranks + second->missing_ranks;
        }
    }
    if (lines.empty() || ranks == 0) {
        return;  // ranks that ended in the middle of a second: nothing to compare
    }
    GroupLine all{.name = lines.size() == groups_ ? fmt::format("all {}", groups_)
                                                  : fmt::format("{} of {}", lines.size(), groups_)};
    for (const GroupLine& line : lines) {
        all.add(line);
    }
    if (!unit_ && all.sent > 0) {
        unit_ = unit_for({all.sent / static_cast<std::int64_t>(lines.size())});
    }
    const RateUnit unit = unit_.value_or(RateUnit{1e6, "Mb/s"});
    if (lines_++ % LiveView::lines_per_header == 0) {
        show_header(unit);
    }
    const auto put = [&](const std::string& time, const std::string& left, const GroupLine& line) {
        const bool bad = terminal_ && (line.overflowed || line.late_sets > 0 || line.lost_events > 0);
        const bool has_sets = std::isfinite(line.occupancy);
        sink_(fmt::format(
            "{:>12}{:>8} |{:>9} |{:>10}{:>10} |{:>9.1f} |{}{:>10}{:>8}{:>8}{}{}", time, left, line.name,
            in_unit({line.sent}, unit), in_unit({line.received}, unit), line.blocked, bad ? colour_red : "",
            has_sets ? fmt::format("{:.3f}", line.occupancy) : "-",
            has_sets ? std::to_string(line.late_sets) : "-", line.lost_events, bad ? colour_none : "",
            line.missing_ranks > 0 ? fmt::format("  {} missing", counted(line.missing_ranks, "rank")) : ""));
    };
    const std::int64_t left = seconds_left(open.second);
    put(time_text(phase, open.second), fmt::format("{}:{:02}", left / 60, left % 60), all);
    const std::size_t shown = std::min(lines.size(), groups_shown);
    std::partial_sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), lines.end(),
                      [](const GroupLine& a, const GroupLine& b) { return a.worse_than(b); });
    for (std::size_t i = 0; i < shown; ++i) {
        put("", "", lines[i]);
    }
}

void JobLiveView::show_header(RateUnit unit) {
    sink_(fmt::format("{:>12}{:>8} |{:>9} |{:^20} |{:>9} |{:>10}{:>8}{:>8}", "second", "left", "group",
                      fmt::format("all ranks, {}", unit.name), "blocked", "worst", "late", "lost"));
    sink_(fmt::format("{:>12}{:>8} |{:>9} |{:>10}{:>10} |{:>9} |{:>10}{:>8}{:>8}", "", "min:s",
                      groups_ > groups_shown ? "worst 3" : "", "sent", "received", "consumers", "occupancy",
                      "sets", "events"));
}

void JobLiveView::show_json(const Open& open) const {
    GroupLine all{.name = {}};
    Phase phase = Phase::drain;
    Json groups = Json::array();
    for (std::uint32_t group = 0; group < groups_; ++group) {
        if (const auto& second = open.groups[group]) {
            const GroupLine line = line_of(group, *second);
            all.add(line);
            phase = std::min(phase, second->phase);
            Json one{{"group", group}};
            one.update(json_of(line));
            groups.push_back(std::move(one));
        }
    }
    Json json{{"type", "second"},
              {"second", open.second},
              {"phase", phase_name(phase)},
              {"seconds_left", seconds_left(open.second)}};
    json.update(json_of(all));
    json["groups"] = std::move(groups);
    sink_(json_text(json));
}

}  // namespace weir::telemetry
