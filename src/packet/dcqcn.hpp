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

#include <algorithm>
#include <cmath>

#include "core/switch_plan.hpp"
#include "packet/packet.hpp"
#include "packet/sender_control.hpp"

namespace weir::packet {

class ReactionPoint final : public SenderControl {
  public:
    /// `plan` must outlive it. `window_follows_rate`: the window is in proportion to the rate.
    ReactionPoint(const core::DcqcnPlan& plan, core::BitRate line_rate, std::uint32_t window = 0,
                  bool window_follows_rate = false)
        : SenderControl(window),
          window_follows_rate_(window_follows_rate),
          rate_(static_cast<double>(line_rate.bits_per_second)),
          rate_period_(Picoseconds::of(plan.rate_period)),
          alpha_period_(Picoseconds::of(plan.alpha_period)),
          plan_(&plan),
          full_window_(window),
          cut_spacing_(std::max(Picoseconds::nanoseconds(1), Picoseconds::of(plan.cnp_spacing))),
          line_rate_(rate_),
          least_rate_(std::min(line_rate_, static_cast<double>(plan.least_rate.bits_per_second))),
          additive_increase_(bits_per_second(plan.additive_increase, line_rate, plan.of_rate)),
          hyper_increase_(bits_per_second(plan.hyper_increase, line_rate, plan.of_rate)),
          target_(line_rate_) {}

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
    void on_reply(const Packet& reply, std::uint32_t /*acknowledged*/, bool /*idle*/,
                  Picoseconds now) override {
        if (reply.kind == Packet::Kind::cnp) {
            on_notification(now);
        }
        set_window(now);
    }
    void on_timeout(bool /*under_way*/, Picoseconds /*now*/) override {}
    void on_notification(Picoseconds now) {
        catch_up(now);
        if (!notified_) {
            notified_ = true;
            alpha_from_ = first_at_ = now;
        }
        move_alpha(now);
        if (hpcc()) {
            note(now);
            return;
        }
        cut(now);
        alpha_ = (1 - plan_->gain) * alpha_ + plan_->gain;
        alpha_from_ = now;
    }
    void on_sent(core::Bytes bytes) {
        if (!limited_ || hpcc()) {
            return;
        }
        counted_bytes_ += bytes.count;
        if (counted_bytes_ >= plan_->byte_counter.count) {
            counted_bytes_ -= plan_->byte_counter.count;
            ++byte_stage_;
            increase();
        }
    }

    /// As of the last notification or change of the rate.
    [[nodiscard]] double alpha() const { return alpha_; }

  private:
    static double bits_per_second(core::BitRate increase, core::BitRate line_rate, core::BitRate reference) {
        return static_cast<double>(core::in_proportion(increase, line_rate, reference).bits_per_second);
    }
    [[nodiscard]] bool hpcc() const { return plan_->rules == core::DcqcnRules::hpcc; }
    void catch_up(Picoseconds now) {
        for (;;) {
            const Picoseconds rise_at = limited_ ? rate_from_ + rate_period_ : Picoseconds::never();
            if (std::min(rise_at, cut_at_) > now) {
                break;
            }
            if (rise_at <= cut_at_) {
                rate_from_ = rise_at;
                ++timer_stage_;
                increase();
            } else {
                move_alpha(cut_at_);
                cut(cut_at_);
                cut_at_ = Picoseconds::never();
            }
        }
        if (notified_) {
            move_alpha(now);
        }
    }
    /// As the simulator of HPCC has it (VAR_WIN): at least a packet, and one more may begin while any of the
    /// window is left.
    void set_window(Picoseconds now) {
        if (window_follows_rate_) {
            window_ =
                std::max(1U, static_cast<std::uint32_t>(std::ceil(rate(now) / line_rate_ * full_window_)));
        }
    }
    void move_alpha(Picoseconds now) {
        const std::int64_t periods = (now - alpha_from_) / alpha_period_;
        if (periods == 0) {
            return;
        }
        alpha_ *= std::pow(1 - plan_->gain, static_cast<double>(periods));
        if (alpha_rises_) {  // by the first of these steps
            alpha_ += plan_->gain * std::pow(1 - plan_->gain, static_cast<double>(periods - 1));
            alpha_rises_ = false;
        }
        alpha_from_ += alpha_period_ * periods;
    }
    /// The next time that the sender looks for notifications is a whole number of spacings after the first
    /// one, and a nanosecond, so that alpha has moved before. That first one does not make alpha rise: it
    /// is 1.
    void note(Picoseconds now) {
        alpha_rises_ = now > first_at_;
        if (cut_at_ == Picoseconds::never()) {
            const Picoseconds from = first_at_ + Picoseconds::nanoseconds(1);
            const std::int64_t spacings = now < from ? 0 : (now - from) / cut_spacing_;
            cut_at_ = from + cut_spacing_ * (spacings + 1);
        }
    }
    void cut(Picoseconds at) {
        if (!hpcc() || timer_stage_ > 0 || !limited_) {
            target_ = rate_;
        }
        rate_ = std::max(rate_ * (1 - alpha_ / 2), least_rate_);
        timer_stage_ = 0;
        byte_stage_ = 0;
        counted_bytes_ = 0;
        rate_from_ = at;
        limited_ = true;
        ++cuts_;
    }
    void increase() {
        const std::uint32_t stages = plan_->fast_stages;
        const bool hyper = hpcc() ? timer_stage_ > stages + 1 : std::min(timer_stage_, byte_stage_) > stages;
        if (hyper) {
            target_ += hyper_increase_;
        } else if (std::max(timer_stage_, byte_stage_) > stages) {
            target_ += additive_increase_;
        }
        target_ = std::min(target_, line_rate_);
        rate_ = (rate_ + target_) / 2;
        if (rate_ > line_rate_ * (1 - 1e-6)) {
            reach_line_rate();
        }
    }
    /// Rules of HPCC's simulator: a notification that is still to be acted on keeps the limiter.
    void reach_line_rate() {
        rate_ = target_ = line_rate_;
        limited_ = false;
        if (plan_->resets_at_line_rate && cut_at_ == Picoseconds::never()) {
            notified_ = alpha_rises_ = false;
            alpha_ = 1;
        }
    }

    // What is read for every packet comes first.
    bool window_follows_rate_;
    bool notified_ = false;  ///< ever, or since the limiter was released
    bool limited_ = false;   ///< has been cut and is not back at the speed of the link
    double rate_;
    Picoseconds rate_from_;
    Picoseconds rate_period_;
    Picoseconds cut_at_ = Picoseconds::never();  ///< rules of HPCC's simulator
    Picoseconds alpha_from_;
    Picoseconds alpha_period_;
    const core::DcqcnPlan* plan_;
    std::int64_t counted_bytes_ = 0;

    std::uint32_t full_window_;  ///< at full speed
    Picoseconds cut_spacing_;    ///< rules of HPCC's simulator
    double line_rate_;
    double least_rate_;
    double additive_increase_;
    double hyper_increase_;
    double target_;
    double alpha_ = 1;
    std::uint32_t timer_stage_ = 0;
    std::uint32_t byte_stage_ = 0;
    // Rules of HPCC's simulator.
    bool alpha_rises_ = false;  ///< notified since alpha's last step
    Picoseconds first_at_;      ///< the first notification
};

}  // namespace weir::packet
