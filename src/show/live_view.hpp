// The line per second that a person watches, or that a program reads. Fed by a SecondCollector.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

/// "12", in warm-up and drain with that before it.
std::string second_text(record::Phase phase, std::int64_t second);
/// Until generation ends, which lasts `duration_s`, after a second: "4:59", "1:04:59".
std::string time_left_text(std::int64_t duration_s, std::int64_t second);
std::int64_t seconds_left(std::int64_t duration_s, std::int64_t second);

class LiveView {
  public:
    /// Gets whole lines without their line end.
    using LineSink = std::function<void(std::string_view)>;

    static constexpr int lines_per_header = 20;

    /// `terminal`: colours may be used (overflow red).
    LiveView(const core::Plan& plan, LiveForm form, bool terminal, LineSink sink);

    void show(const record::ClusterSecond& second);

  private:
    void show_header(files::RateUnit unit);
    void show_text(const record::ClusterSecond& second);
    void show_json(const record::ClusterSecond& second);

    std::uint32_t consumers_;
    std::int64_t duration_s_;
    core::Duration row_interval_;  ///< 0: bursts are not shown
    LiveForm form_;
    bool terminal_;
    LineSink sink_;
    /// One unit for a run, so that columns can be compared by eye: from the planned rate, or from the first
    /// data.
    std::optional<files::RateUnit> unit_;
    int lines_ = 0;
};

}  // namespace weir::show
