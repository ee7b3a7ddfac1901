#include "packet/dcqcn.hpp"

#include <algorithm>
#include <cmath>

namespace weir::packet {

namespace {

double bits_per_second(core::BitRate increase, core::BitRate line_rate, core::BitRate reference) {
    return static_cast<double>(core::in_proportion(increase, line_rate, reference).bits_per_second);
}

}  // namespace

ReactionPoint::ReactionPoint(const core::DcqcnPlan& plan, core::BitRate line_rate)
    : plan_(&plan),
      alpha_period_(Picoseconds::of(plan.alpha_period)),
      rate_period_(Picoseconds::of(plan.rate_period)),
      line_rate_(static_cast<double>(line_rate.bits_per_second)),
      additive_increase_(bits_per_second(plan.additive_increase, line_rate, plan.of_rate)),
      hyper_increase_(bits_per_second(plan.hyper_increase, line_rate, plan.of_rate)),
      rate_(line_rate_),
      target_(line_rate_) {}

void ReactionPoint::on_notification(Picoseconds now) {
    if (limited_) {
        catch_up(now);
    } else if (notified_) {
        // What alpha has lost since the flow was at full speed. Before the first notification it stays 1.
        const std::int64_t periods = (now - alpha_from_) / alpha_period_;
        alpha_ *= std::pow(1 - plan_->gain, static_cast<double>(periods));
    }
    notified_ = true;
    target_ = rate_;
    rate_ = std::max(rate_ * (1 - alpha_ / 2), static_cast<double>(plan_->least_rate.bits_per_second));
    alpha_ = (1 - plan_->gain) * alpha_ + plan_->gain;
    timer_stage_ = 0;
    byte_stage_ = 0;
    counted_bytes_ = 0;
    alpha_from_ = now;
    rate_from_ = now;
    limited_ = true;
}

void ReactionPoint::on_sent(core::Bytes bytes) {
    if (!limited_) {
        return;
    }
    counted_bytes_ += bytes.count;
    if (counted_bytes_ >= plan_->byte_counter.count) {
        counted_bytes_ -= plan_->byte_counter.count;
        ++byte_stage_;
        increase();
    }
}

void ReactionPoint::catch_up(Picoseconds now) {
    if (now - alpha_from_ >= alpha_period_) {
        const std::int64_t periods = (now - alpha_from_) / alpha_period_;
        alpha_ *= std::pow(1 - plan_->gain, static_cast<double>(periods));
        alpha_from_ += alpha_period_ * periods;
    }
    while (limited_ && now - rate_from_ >= rate_period_) {
        rate_from_ += rate_period_;
        ++timer_stage_;
        increase();
    }
}

void ReactionPoint::increase() {
    const std::uint32_t stages = plan_->fast_stages;
    if (std::min(timer_stage_, byte_stage_) > stages) {
        target_ += hyper_increase_;
    } else if (std::max(timer_stage_, byte_stage_) > stages) {
        target_ += additive_increase_;
    }
    target_ = std::min(target_, line_rate_);
    rate_ = (rate_ + target_) / 2;
    if (rate_ > line_rate_ * (1 - 1e-6)) {
        rate_ = target_ = line_rate_;
        limited_ = false;
    }
}

}  // namespace weir::packet
