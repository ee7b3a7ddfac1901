// The lines of each second that a person watches, or that a program reads: of a run, fed by a
// SecondCollector, and of a job of several groups.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "files/formatting.hpp"
#include "record/second_collector.hpp"

namespace weir::show {

enum class LiveForm : std::uint8_t {
    text,   ///< aligned columns, a header now and then
    json,   ///< one JSON object per line
    quiet,  ///< nothing
};

/// What both views have in common.
class LiveLines {
  public:
    /// Gets whole lines without their line end.
    using LineSink = std::function<void(std::string_view)>;

    static constexpr int lines_per_header = 20;

  protected:
    /// `terminal`: colours may be used (overflow red).
    LiveLines(const core::Plan& plan, LiveForm form, bool terminal, LineSink sink);

    /// Text: takes the unit from the first data, of which `mean` is the rate, and whether a header is due.
    bool next_line(core::BitRate mean);
    [[nodiscard]] files::Unit unit() const { return unit_.value_or(files::Unit{"Mb/s", 1'000'000}); }
    /// The first two columns, and the first fields.
    [[nodiscard]] std::string time_text(record::Phase phase, std::int64_t second) const;
    [[nodiscard]] nlohmann::ordered_json time_json(record::Phase phase, std::int64_t second) const;

    LiveForm form_;
    bool terminal_;
    LineSink sink_;
    /// One unit for a run, so that columns can be compared by eye: from the planned rate, or from the first
    /// data.
    std::optional<files::Unit> unit_;

  private:
    std::int64_t duration_s_;
    int lines_ = 0;
};

class LiveView : public LiveLines {
  public:
    LiveView(const core::Plan& plan, LiveForm form, bool terminal, LineSink sink);

    void show(const record::ClusterSecond& second);

  private:
    void show_header();
    void show_text(const record::ClusterSecond& second);
    void show_json(const record::ClusterSecond& second);

    std::uint32_t consumers_;
    core::Duration row_interval_;  ///< 0: bursts are not shown
};

/// The sum of the groups of a job, and below it those that are worst in that second. Fed with the seconds of
/// each group, which need not come at the same time.
class GroupsLiveView : public LiveLines {
  public:
    /// Groups shown in each second, the worst first.
    static constexpr std::size_t groups_shown = 3;
    /// Seconds open at a time; when more are begun, the oldest is shown without the groups that are missing.
    static constexpr std::size_t open_seconds_max = 4;

    /// `plan`: of any group, they have the same.
    GroupsLiveView(const core::Plan& plan, std::uint32_t groups, LiveForm form, bool terminal, LineSink sink);

    void add(std::uint32_t group, const record::ClusterSecond& second);
    /// No seconds come from this group any more.
    void end(std::uint32_t group);

  private:
    struct Open {
        std::int64_t second = 0;
        std::vector<std::optional<record::ClusterSecond>> groups;
    };
    struct Line;
    void show_what_is_complete();
    void show(const Open& open);
    void show_text(std::int64_t second, const Line& all, std::vector<Line>& lines);
    void show_json(std::int64_t second, const Line& all, const std::vector<Line>& lines) const;
    void show_header();
    [[nodiscard]] std::string text_of(const Line& line, const std::string& name) const;

    std::uint32_t groups_;
    std::vector<bool> ended_;
    std::deque<Open> open_;  ///< consecutive seconds
    std::optional<std::int64_t> shown_;
};

}  // namespace weir::show
