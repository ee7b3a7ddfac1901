#include "record/event_series.hpp"

namespace weir::record {

void EventSeries::done(core::Instant now, core::Bytes bytes, std::uint64_t without_credit) {
    if (now < core::Instant{}) {
        without_credit_before_ = without_credit;
        return;
    }
    ++sum_.events;
    sum_.at = now;
    sum_.bytes += bytes;
    sum_.without_credit = without_credit - without_credit_before_;
    if (sum_.events % step_ != 0) {
        return;
    }
    marks_.push_back(sum_);
    if (marks_.size() < marks_max) {
        return;
    }
    step_ *= 10;
    std::size_t kept = 0;
    for (const EventMark& mark : marks_) {
        if (mark.events % step_ == 0) {
            marks_[kept++] = mark;
        }
    }
    marks_.resize(kept);
}

}  // namespace weir::record
