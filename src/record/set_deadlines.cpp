#include "record/set_deadlines.hpp"

namespace weir::record {

using core::Duration;
using core::Instant;

SetDeadlines::SetDeadlines(const core::Plan& plan, Duration phase)
    : interval_(plan.interval),
      duration_{plan.duration.ns},
      last_event_after_(plan.generation == core::Generation::steady ? plan.interval : phase),
      judges_(plan.generation != core::Generation::saturate) {
    WEIR_ASSERT(!judges_ || interval_ > Duration{});
}

bool SetDeadlines::counts(Instant generated_at) const {
    return judges_ && generated_at >= Instant{} && generated_at < duration_;
}

std::int64_t SetDeadlines::number_of(Instant generated_at) const {
    return generated_at.ns / interval_.ns;
}

Instant SetDeadlines::closing(std::int64_t number) const {
    return Instant{} + interval_ * (number + 1) + last_event_after_;
}

SetDeadlines::OpenSet* SetDeadlines::find(std::int64_t number) {
    for (OpenSet& set : open_) {
        if (set.used && set.number == number) {
            return &set;
        }
    }
    return nullptr;
}

void SetDeadlines::know(OpenSet& set) {
    if (!set.known) {
        set.known = true;
        ++account_.sets;
    }
}

void SetDeadlines::find_late(OpenSet& set, Instant deadline) {
    if (set.late) {
        return;
    }
    set.late = true;
    know(set);
    ++account_.late;
    ++newly_late_;
    const std::int64_t second = deadline.ns / ns_per_second;
    if (account_.first_late_second == no_second || second < account_.first_late_second) {
        account_.first_late_second = second;
    }
    account_.first_late_at = std::min(account_.first_late_at, deadline);
}

void SetDeadlines::close_until(Instant now) {
    next_closing_ = Instant::never();
    for (OpenSet& set : open_) {
        if (!set.used) {
            continue;
        }
        if (now <= closing(set.number)) {
            next_closing_ = std::min(next_closing_, closing(set.number));
        } else if (set.outstanding > 0) {
            find_late(set, closing(set.number));
        } else {
            know(set);
        }
    }
}

void SetDeadlines::generated(Instant generated_at) {
    if (!counts(generated_at)) {
        return;
    }
    const std::int64_t number = number_of(generated_at);
    if (!open_[youngest_].used || open_[youngest_].number != number) {
        WEIR_ASSERT(!open_[youngest_].used || open_[youngest_].number < number);
        // A producer that did not run for long generates several sets at once, all of them too late.
        const std::size_t place = (youngest_ + 1) % remembered;
        OpenSet& oldest = open_[place];
        if (oldest.used && (!oldest.known || oldest.outstanding > 0)) {
            find_late(oldest, closing(oldest.number));
        }
        oldest = OpenSet{.used = true, .number = number};
        youngest_ = place;
    }
    ++open_[youngest_].outstanding;
    next_closing_ = std::min(next_closing_, closing(number));
}

void SetDeadlines::count_end(Instant now, Duration since_generated, bool never_gone) {
    const Instant generated_at = now - since_generated;
    if (!counts(generated_at)) {
        return;
    }
    const Duration slack = interval_ - since_generated;
    account_.least_slack = std::min(account_.least_slack.value_or(slack), slack);
    // A set that is not remembered was late.
    if (OpenSet* set = find(number_of(generated_at))) {
        WEIR_ASSERT(set->outstanding > 0);
        --set->outstanding;
        if (since_generated > interval_) {
            find_late(*set, generated_at + interval_);
        } else if (never_gone) {
            find_late(*set, now);
        }
    }
}

void SetDeadlines::gone(Instant now, Duration since_generated) {
    count_end(now, since_generated, false);
}

void SetDeadlines::left_over(Instant now, Duration since_generated) {
    count_end(now, since_generated, true);
}

void SetDeadlines::dropped(Instant now, Duration since_generated) {
    const Instant generated_at = now - since_generated;
    if (!counts(generated_at)) {
        return;
    }
    if (OpenSet* set = find(number_of(generated_at))) {
        WEIR_ASSERT(set->outstanding > 0);
        --set->outstanding;
    }
}

void SetDeadlines::end() {
    for (OpenSet& set : open_) {
        if (set.used && set.outstanding == 0) {
            know(set);
        }
    }
}

std::uint64_t SetDeadlines::report_newly_late() {
    return std::exchange(newly_late_, 0);
}

}  // namespace weir::record
