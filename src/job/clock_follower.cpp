#include "job/clock_follower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::job {

namespace {

/// Bounds of the past that rates are learnt from: so far apart, and so many.
constexpr std::int64_t past_spacing_ns = 2'000'000'000;
constexpr std::size_t past_most = 32;

/// Instants come from other ranks: nonsense must not overflow.
std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

double seconds(std::int64_t ns) {
    return static_cast<double>(ns) * 1e-9;
}

}  // namespace

ClockFollower::ClockFollower(std::int64_t at_ns, const ClockOffset& measured, bool same_clock)
    : base_ns_(measured.offset_ns),
      now_{at_ns, -static_cast<double>(measured.error_ns), static_cast<double>(measured.error_ns)},
      rate_low_(same_clock ? 0 : -rate_limit),
      rate_high_(-rate_low_),
      rate_limit_(rate_high_),
      last_low_{at_ns, now_.low_ns},
      last_high_{at_ns, now_.high_ns},
      past_{now_} {}

void ClockFollower::advance(std::int64_t now_ns) {
    const std::int64_t passed_ns = now_ns - now_.at_ns;
    if (passed_ns <= 0) {
        return;
    }
    const double wander = rate_limit_ == 0 ? 0 : wander_per_s * seconds(passed_ns);
    rate_low_ = std::max(rate_low_ - wander, -rate_limit_);
    rate_high_ = std::min(rate_high_ + wander, rate_limit_);
    now_.at_ns = now_ns;
    now_.low_ns += rate_low_ * static_cast<double>(passed_ns);
    now_.high_ns += rate_high_ * static_cast<double>(passed_ns);
}

void ClockFollower::add_sent(std::int64_t now_ns, std::int64_t sent_ns, std::int64_t received_there_ns) {
    advance(now_ns);
    last_low_ = {sent_ns, static_cast<double>(difference(difference(sent_ns, received_there_ns), base_ns_))};
    now_.low_ns = std::max(now_.low_ns, last_low_.ns + rate_low_ * since(last_low_));
    check();
}

void ClockFollower::add_received(std::int64_t now_ns, std::int64_t sent_there_ns) {
    advance(now_ns);
    last_high_ = {now_ns, static_cast<double>(difference(difference(now_ns, sent_there_ns), base_ns_))};
    now_.high_ns = std::min(now_.high_ns, last_high_.ns);
    check();
}

double ClockFollower::since(const Bound& bound) const {
    return static_cast<double>(std::max<std::int64_t>(0, difference(now_.at_ns, bound.at_ns)));
}

void ClockFollower::check() {
    if (now_.low_ns <= now_.high_ns) {
        learn_rate();
        return;
    }
    // What was received is certain, what followed from it rests on the rates.
    forget_rate();
    now_.low_ns = last_low_.ns + rate_low_ * since(last_low_);
    now_.high_ns = last_high_.ns + rate_high_ * since(last_high_);
    if (now_.low_ns > now_.high_ns) {  // a clock has jumped, as that of a virtual machine may
        std::swap(now_.low_ns, now_.high_ns);
    }
    past_.assign(1, now_);
}

void ClockFollower::forget_rate() {
    rate_limit_ = steered_rate_limit;
    rate_low_ = -rate_limit_;
    rate_high_ = rate_limit_;
    past_.clear();
}

void ClockFollower::learn_rate() {
    if (rate_limit_ == 0) {
        return;
    }
    double low = rate_low_;
    double high = rate_high_;
    for (const Bounds& then : past_) {
        const auto apart_ns = static_cast<double>(now_.at_ns - then.at_ns);
        if (apart_ns < static_cast<double>(past_spacing_ns) / 2) {
            continue;
        }
        // The mean rate since then; the rate of now is as far from it as it can have wandered.
        const double wander = wander_per_s * apart_ns * 1e-9;
        low = std::max(low, (now_.low_ns - then.high_ns) / apart_ns - wander);
        high = std::min(high, (now_.high_ns - then.low_ns) / apart_ns + wander);
    }
    if (low <= high) {
        rate_low_ = low;
        rate_high_ = high;
    } else {
        forget_rate();
    }
    if (past_.empty() || now_.at_ns - past_.back().at_ns >= past_spacing_ns) {
        past_.push_back(now_);
        if (past_.size() > past_most) {
            past_.pop_front();
        }
    }
}

ClockOffset ClockFollower::at(std::int64_t now_ns) const {
    const auto passed_ns = static_cast<double>(std::max<std::int64_t>(0, now_ns - now_.at_ns));
    const double low_ns = now_.low_ns + rate_low_ * passed_ns;
    const double high_ns = now_.high_ns + rate_high_ * passed_ns;
    constexpr double most_ns = 1e18;
    return {base_ns_ + std::llround(std::clamp((low_ns + high_ns) / 2, -most_ns, most_ns)),
            std::llround(std::min(std::ceil((high_ns - low_ns) / 2), most_ns))};
}

}  // namespace weir::job
