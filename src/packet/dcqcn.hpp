// The reaction point of DCQCN: the rate of one flow, lowered by congestion notifications and raised by a
// timer and by a counter of bytes. Two sets of rules (core::DcqcnRules):
//
// 2015  Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 5. Each
//       notification cuts the rate by alpha / 2 and becomes the target of the rise.
// hpcc  The simulator of HPCC (Li et al., SIGCOMM 2019; rdma-hw.cc of
//       alibaba-edu/High-Precision-Congestion-Control, "Mellanox's version of DCQCN"), on which most
//       published results with ns-3 rest. From the first notification on, the sender looks once in a spacing
//       whether it has been notified, and cuts the rate then, so the first notification cuts nothing yet. The
//       rate before the cut becomes the target only if it has risen since the last one. Alpha moves with its
//       timer alone. Bytes are not counted; the rise is hyper from the second step after the fast ones on.
//
// With both, alpha is 1 at the first notification, whenever that comes, and decays only from then on. Once
// the rate is the link's again the limiter is released (DcqcnPlan::resets_at_line_rate): the next
// notification is a first one. Without that alpha goes on decaying, and after a rest the first cuts cut
// nothing.
//
// Timers are not events: what has expired is worked out when the flow sends or is notified, because nothing
// else depends on them.
#pragma once

#include "core/switch_plan.hpp"
#include "packet/picoseconds.hpp"
#include "packet/sender_control.hpp"

namespace weir::packet {

class ReactionPoint final : public SenderControl {
  public:
    /// `plan` must outlive it. `window_follows_rate`: the window is in proportion to the rate.
    ReactionPoint(const core::DcqcnPlan& plan, core::BitRate line_rate, std::uint32_t window = 0,
                  bool window_follows_rate = false);

    /// Bits per second at `now`, which must not go back.
    double rate(Picoseconds now) {
        if ((limited_ && rate_from_ + rate_period_ <= now) || cut_at_ <= now ||
            (limited_ && now - alpha_from_ >= alpha_period_)) {
            catch_up(now);
        }
        return rate_;
    }
    Picoseconds on_sent(Packet& packet, std::int64_t /*waiting_bytes*/, Picoseconds now) override {
        const Picoseconds taken = duration(packet, rate(now));
        on_sent({packet.wire_bytes});
        set_window(now);
        return taken;
    }
    void on_reply(const Packet& reply, std::uint32_t acknowledged, bool idle, Picoseconds now) override;
    void on_timeout(bool /*under_way*/, Picoseconds /*now*/) override {}
    void on_notification(Picoseconds now);
    void on_sent(core::Bytes bytes);

    /// As of the last notification or change of the rate.
    [[nodiscard]] double alpha() const { return alpha_; }

  private:
    [[nodiscard]] bool hpcc() const { return plan_->rules == core::DcqcnRules::hpcc; }
    void catch_up(Picoseconds now);
    void set_window(Picoseconds now);
    void move_alpha(Picoseconds now);
    void note(Picoseconds now);
    void cut(Picoseconds at);
    void increase();
    void reach_line_rate();

    const core::DcqcnPlan* plan_;
    std::uint32_t full_window_;  ///< at full speed
    bool window_follows_rate_;
    Picoseconds alpha_period_;
    Picoseconds rate_period_;
    Picoseconds cut_spacing_;  ///< rules of HPCC's simulator
    double line_rate_;
    double least_rate_;
    double additive_increase_;
    double hyper_increase_;
    double rate_;
    double target_;
    double alpha_ = 1;
    bool notified_ = false;  ///< ever, or since the limiter was released
    bool limited_ = false;   ///< has been cut and is not back at the speed of the link
    std::uint32_t timer_stage_ = 0;
    std::uint32_t byte_stage_ = 0;
    std::int64_t counted_bytes_ = 0;
    Picoseconds alpha_from_;
    Picoseconds rate_from_;
    // Rules of HPCC's simulator.
    bool alpha_rises_ = false;  ///< notified since alpha's last step
    Picoseconds first_at_;      ///< the first notification
    Picoseconds cut_at_ = Picoseconds::never();
};

}  // namespace weir::packet
