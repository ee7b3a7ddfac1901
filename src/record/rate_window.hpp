// Over how many seconds rates of single ranks are compared. In a second a rank may get one large event or
// none, and a set every ten seconds leaves most seconds empty: then its lowest second shows how events fall
// into seconds, and nothing about the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/rank_summary.hpp"

namespace weir::record {

/// A rank's fair share of a window is at least so many events: one more or less is then an eighth.
inline constexpr int rate_window_events = 8;
/// Longer ones are not kept.
inline constexpr std::int64_t rate_window_limit_s = 600;

/// The smallest number of seconds in which a fair share is enough events, and which holds a whole number of
/// intervals, or as many. Nothing: beyond the limit, or generation `saturate`, of which no rate is planned.
std::optional<std::int64_t> rate_window_s(const core::Plan& plan);
/// The same at another rate of a producer than the planned one.
std::optional<std::int64_t> rate_window_s(const core::Plan& plan, core::BitRate rate);
/// The window whose lowest rate is kept; one second where no rate is planned.
std::int64_t kept_window_s(const core::Plan& plan);

/// Finds the lowest rate of a rank over a window of measured seconds.
class LowestRate {
  public:
    explicit LowestRate(const core::Plan& plan) : bytes_(static_cast<std::size_t>(kept_window_s(plan))) {}

    /// Rows in order, to be entered in `summary`.
    void add(RankSummary& summary, const Row& row);

  private:
    std::vector<core::Bytes> bytes_;  ///< of the last seconds, in a ring
    std::size_t next_ = 0;
    std::size_t known_ = 0;
    core::Bytes sum_;
};

}  // namespace weir::record
