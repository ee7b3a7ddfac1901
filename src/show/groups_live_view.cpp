#include "show/groups_live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "files/json_text.hpp"
#include "record/second_clock.hpp"

namespace weir::show {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t sum_of(const record::RateRange& range) {
    return range.mean.bits_per_second * range.ranks;
}

}  // namespace

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

    Line() = default;
    Line(std::uint32_t number, const record::ClusterSecond& second)
        : group(number),
          phase(second.phase),
          sent(sum_of(second.producers)),
          received(sum_of(second.consumers)),
          blocked(second.blocked_mean),
          occupancy(second.max_occupancy),
          overflowed(second.overflowed),
          late_sets(second.late_sets),
          lost_events(second.counts.lost.events),
          missing_ranks(second.missing_ranks),
          ranks(second.producers.ranks + second.consumers.ranks + second.missing_ranks) {}

    void add(const Line& other) {
        phase = std::min(phase, other.phase);
        sent += other.sent;
        received += other.received;
        blocked += other.blocked;
        occupancy = std::fmax(occupancy, other.occupancy);
        overflowed = overflowed || other.overflowed;
        late_sets += other.late_sets;
        lost_events += other.lost_events;
        missing_ranks += other.missing_ranks;
        ranks += other.ranks;
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
                               LiveView::LineSink sink)
    : duration_s_((plan.duration.ns + record::ns_per_second - 1) / record::ns_per_second),
      groups_(groups),
      form_(form),
      terminal_(terminal),
      sink_(std::move(sink)),
      ended_(groups, false) {}

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
            all.add(lines.emplace_back(group, *second));
        }
    }
    if (form_ == LiveForm::json) {
        show_json(open.second, all, lines);
    } else if (form_ == LiveForm::text && all.ranks > 0) {  // else they ended in the middle of a second
        show_text(open.second, all, lines);
    }
}

std::string GroupsLiveView::text_of(const Line& line, const std::string& name) const {
    const files::RateUnit unit = unit_.value_or(files::RateUnit{1e6, "Mb/s"});
    const bool bad = terminal_ && (line.overflowed || line.late_sets > 0 || line.lost_events > 0);
    return fmt::format(
        " |{:>9} |{:>10}{:>10} |{:>9.1f} |{}{:>10}{:>8}{:>8}{}{}", name, files::in_unit({line.sent}, unit),
        files::in_unit({line.received}, unit), line.blocked, bad ? files::colour_red : "",
        line.has_sets() ? fmt::format("{:.3f}", line.occupancy) : "-",
        line.has_sets() ? std::to_string(line.late_sets) : "-", line.lost_events,
        bad ? files::colour_none : "",
        line.missing_ranks > 0 ? fmt::format("  {} missing", files::counted(line.missing_ranks, "rank"))
                               : "");
}

void GroupsLiveView::show_text(std::int64_t second, const Line& all, std::vector<Line>& lines) {
    if (!unit_ && all.sent > 0) {
        unit_ = files::unit_for({all.sent / static_cast<std::int64_t>(lines.size())});
    }
    if (lines_++ % LiveView::lines_per_header == 0) {
        show_header(unit_.value_or(files::RateUnit{1e6, "Mb/s"}));
    }
    sink_(
        fmt::format("{:>12}{:>8}{}", second_text(all.phase, second), time_left_text(duration_s_, second),
                    text_of(all, lines.size() == groups_ ? fmt::format("all {}", groups_)
                                                         : fmt::format("{} of {}", lines.size(), groups_))));
    const std::size_t shown = std::min(lines.size(), groups_shown);
    std::partial_sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), lines.end(),
                      [](const Line& a, const Line& b) { return a.worse_than(b); });
    for (std::size_t i = 0; i < shown; ++i) {
        sink_(fmt::format("{:>20}{}", "", text_of(lines[i], std::to_string(lines[i].group))));
    }
}

void GroupsLiveView::show_header(files::RateUnit unit) {
    sink_(fmt::format("{:>12}{:>8} |{:>9} |{:^20} |{:>9} |{:>10}{:>8}{:>8}", "second", "left", "group",
                      fmt::format("all ranks, {}", unit.name), "blocked", "worst", "late", "lost"));
    sink_(fmt::format("{:>12}{:>8} |{:>9} |{:>10}{:>10} |{:>9} |{:>10}{:>8}{:>8}", "", "min:s",
                      groups_ > groups_shown ? "worst 3" : "", "sent", "received", "consumers", "occupancy",
                      "sets", "events"));
}

void GroupsLiveView::show_json(std::int64_t second, const Line& all, const std::vector<Line>& lines) const {
    Json json{{"type", "second"},
              {"second", second},
              {"phase", record::phase_name(all.phase)},
              {"seconds_left", seconds_left(duration_s_, second)}};
    all.put_into(json);
    json["groups"] = Json::array();
    for (const Line& line : lines) {
        line.put_into(json["groups"].emplace_back(Json{{"group", line.group}}));
    }
    sink_(files::json_text(json));
}

}  // namespace weir::show
