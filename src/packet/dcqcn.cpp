#include "packet/dcqcn.hpp"

#include <algorithm>
#include <cmath>

namespace weir::packet {

namespace {

double bits_per_second(core::BitRate increase, core::BitRate line_rate, core::BitRate reference) {
    return static_cast<double>(core::in_proportion(increase, line_rate, reference).bits_per_second);
}

}  // namespace

ReactionPoint::ReactionPoint(const core::DcqcnPlan& plan, core::BitRate line_rate, std::uint32_t window,
                             bool window_follows_rate)
    : SenderControl(window),
      plan_(&plan),
      full_window_(window),
      window_follows_rate_(window_follows_rate),
      alpha_period_(Picoseconds::of(plan.alpha_period)),
      rate_period_(Picoseconds::of(plan.rate_period)),
      cut_spacing_(std::max(Picoseconds::nanoseconds(1), Picoseconds::of(plan.cnp_spacing))),
      line_rate_(static_cast<double>(line_rate.bits_per_second)),
      least_rate_(std::min(line_rate_, static_cast<double>(plan.least_rate.bits_per_second))),
      additive_increase_(bits_per_second(plan.additive_increase, line_rate, plan.of_rate)),
      hyper_increase_(bits_per_second(plan.hyper_increase, line_rate, plan.of_rate)),
      rate_(line_rate_),
      target_(line_rate_) {}

/// As the simulator of HPCC has it (VAR_WIN): at least a packet, and one more may begin while any of the
/// window is left.
void ReactionPoint::set_window(Picoseconds now) {
    if (window_follows_rate_) {
        window_ = std::max(1U, static_cast<std::uint32_t>(std::ceil(rate(now) / line_rate_ * full_window_)));
    }
}

void ReactionPoint::on_reply(const Packet& reply, std::uint32_t /*acknowledged*/, bool /*idle*/,
                             Picoseconds now) {
    if (reply.kind == Packet::Kind::cnp) {
        on_notification(now);
    }
    set_window(now);
}

void ReactionPoint::on_notification(Picoseconds now) {
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

/// The next time that the sender looks for notifications is a whole number of spacings after the first one,
/// and a nanosecond, so that alpha has moved before. That first one does not make alpha rise: it is 1.
void ReactionPoint::note(Picoseconds now) {
    alpha_rises_ = now > first_at_;
    if (cut_at_ == Picoseconds::never()) {
        const Picoseconds from = first_at_ + Picoseconds::nanoseconds(1);
        const std::int64_t spacings = now < from ? 0 : (now - from) / cut_spacing_;
        cut_at_ = from + cut_spacing_ * (spacings + 1);
    }
}

void ReactionPoint::cut(Picoseconds at) {
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

void ReactionPoint::on_sent(core::Bytes bytes) {
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

void ReactionPoint::move_alpha(Picoseconds now) {
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

void ReactionPoint::catch_up(Picoseconds now) {
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

void ReactionPoint::increase() {
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
void ReactionPoint::reach_line_rate() {
    rate_ = target_ = line_rate_;
    limited_ = false;
    if (plan_->resets_at_line_rate && cut_at_ == Picoseconds::never()) {
        notified_ = alpha_rises_ = false;
        alpha_ = 1;
    }
}

}  // namespace weir::packet
