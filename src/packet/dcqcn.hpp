// The reaction point of DCQCN: the rate of one flow, lowered by congestion notifications and raised by a
// timer and by a counter of bytes (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
// 2015, section 5).
//
// Timers are not events: what has expired is worked out when the flow sends or is notified, because nothing
// else depends on them.
#pragma once

#include "core/switch_plan.hpp"
#include "packet/picoseconds.hpp"

namespace weir::packet {

class ReactionPoint {
  public:
    /// `plan` must outlive it.
    ReactionPoint(const core::DcqcnPlan& plan, core::BitRate line_rate);

    /// Bits per second at `now`, which must not go back.
    double rate(Picoseconds now) {
        if (limited_) {
            catch_up(now);
        }
        return rate_;
    }
    void on_notification(Picoseconds now);
    void on_sent(core::Bytes bytes);

    [[nodiscard]] double alpha() const { return alpha_; }

  private:
    void catch_up(Picoseconds now);
    void increase();

    const core::DcqcnPlan* plan_;
    Picoseconds alpha_period_;
    Picoseconds rate_period_;
    double line_rate_;
    double additive_increase_;
    double hyper_increase_;
    double rate_;
    double target_;
    double alpha_ = 1;
    bool notified_ = false;  ///< ever
    bool limited_ = false;   ///< has been notified and is not back at the speed of the link
    std::uint32_t timer_stage_ = 0;
    std::uint32_t byte_stage_ = 0;
    std::int64_t counted_bytes_ = 0;
    Picoseconds alpha_from_;
    Picoseconds rate_from_;
};

}  // namespace weir::packet
