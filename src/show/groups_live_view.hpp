// The lines per second of a job of several groups: the sum, and below it the groups that are worst in that
// second. Fed with the seconds of each group, which need not come at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/plan.hpp"
#include "files/formatting.hpp"
#include "record/second_collector.hpp"
#include "show/live_view.hpp"

namespace weir::show {

class GroupsLiveView {
  public:
    /// Groups shown in each second, the worst first.
    static constexpr std::size_t groups_shown = 3;
    /// Seconds open at a time; when more are begun, the oldest is shown without the groups that are missing.
    static constexpr std::size_t open_seconds_max = 4;

    /// `plan`: of any group, they have the same.
    GroupsLiveView(const core::Plan& plan, std::uint32_t groups, LiveForm form, bool terminal,
                   LiveView::LineSink sink);

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
    void show_header(files::RateUnit unit);
    [[nodiscard]] std::string text_of(const Line& line, const std::string& name) const;

    std::int64_t duration_s_;
    std::uint32_t groups_;
    LiveForm form_;
    bool terminal_;
    LiveView::LineSink sink_;
    std::vector<bool> ended_;
    std::deque<Open> open_;  ///< consecutive seconds
    std::optional<std::int64_t> shown_;
    std::optional<files::RateUnit> unit_;  ///< from the first data
    int lines_ = 0;
};

}  // namespace weir::show
