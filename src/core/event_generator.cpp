#include "core/event_generator.hpp"

#include <algorithm>
#include <utility>

#include "core/assertion.hpp"

namespace weir::core {

namespace {

/// First multiple of the interval that is not before `t`, which may be negative.
Instant first_multiple_from(Instant t, Duration interval) {
    std::int64_t k = t.ns / interval.ns;  // rounded towards 0
    if (k * interval.ns < t.ns) {
        ++k;
    }
    return {k * interval.ns};
}

}  // namespace

EventGenerator::EventGenerator(const Plan& plan, Sampler sizes, Instant start, Instant end, Duration phase,
                               ProducerId id)
    : generation_(plan.generation),
      rate_(plan.rate),
      interval_(plan.interval),
      set_size_(plan.set_bytes()),
      largest_event_(plan.slot_size),
      buffer_(plan.buffer),
      start_(start),
      end_(end),
      sizes_(std::move(sizes)),
      traffic_(plan.traffic),
      id_(id) {
    WEIR_ASSERT(start <= end && end < Instant::never());
    WEIR_ASSERT(largest_event_.count > 0);
    switch (generation_) {
        case Generation::sets:
            WEIR_ASSERT(interval_.ns > 0 && phase >= Duration{} && phase < interval_);
            // Whatever the phase, as many sets in the warm-up.
            begin_set(first_multiple_from(start, interval_) + phase);
            break;
        case Generation::steady:
            prepare_next();
            break;
        case Generation::saturate:
            next_size_ = draw_size();
            next_due_ = start_;
            break;
    }
}

Bytes EventGenerator::draw_size() {
    return std::clamp(Bytes{sizes_.next()}, Bytes{1}, largest_event_);
}

void EventGenerator::begin_set(Instant at) {
    const bool nothing = traffic_ ? transfers().empty() : set_size_.count <= 0;
    if (at >= end_ || nothing) {
        next_due_ = Instant::never();
        return;
    }
    if (traffic_) {
        set_at_ = at;
        transfer_ = 0;
        begin_transfer();
        return;
    }
    next_due_ = at;
    left_in_set_ = set_size_;
    next_size_ = std::min(draw_size(), left_in_set_);
}

void EventGenerator::begin_transfer() {
    const AddressedTransfer& transfer = transfers()[transfer_];
    next_due_ = set_at_ + transfer.at;
    left_in_set_ = transfer.bytes;
    next_size_ = std::min(draw_size(), left_in_set_);
}

bool EventGenerator::has_room(Bytes backlog) const {
    return backlog.count == 0 || backlog + next_size_ <= buffer_;
}

Instant EventGenerator::next_due(Bytes backlog) const {
    const bool waits_for_room =
        generation_ == Generation::saturate && next_due_ != Instant::never() && !has_room(backlog);
    return waits_for_room ? std::max(end_, next_due_) : next_due_;
}

std::optional<GeneratedEvent> EventGenerator::next(Instant now, Bytes backlog) {
    if (now < next_due_ || next_due_ == Instant::never()) {
        return std::nullopt;
    }
    GeneratedEvent event{next_sequence_, next_size_, next_due_,
                         traffic_ ? transfers()[transfer_].to : ConsumerId{},
                         static_cast<std::uint32_t>(transfer_)};
    if (generation_ == Generation::saturate) {
        if (now >= end_) {
            next_due_ = Instant::never();
            return std::nullopt;
        }
        if (!has_room(backlog)) {
            return std::nullopt;
        }
        event.generated_at = now;
    }
    ++next_sequence_;
    prepare_next();
    return event;
}

GeneratedEvent EventGenerator::next_beyond_end(Instant now) {
    WEIR_ASSERT(next_due_ == Instant::never());
    const GeneratedEvent event{next_sequence_++, next_size_, now};
    next_size_ = draw_size();
    return event;
}

void EventGenerator::prepare_next() {
    switch (generation_) {
        case Generation::sets:
            left_in_set_ -= next_size_;
            if (left_in_set_.count > 0) {
                next_size_ = std::min(draw_size(), left_in_set_);
            } else if (!traffic_) {
                begin_set(next_due_ + interval_);
            } else if (++transfer_ < transfers().size()) {
                begin_transfer();
            } else {
                begin_set(set_at_ + interval_);
            }
            return;
        case Generation::steady: {
            produced_ += next_size_;
            next_size_ = draw_size();
            // Asked this way round because the due time of an event after the end may be out of range.
            const Bytes last_total = bytes_in(rate_, end_ - start_ - Duration{1});
            const bool over = produced_ + next_size_ > last_total;
            next_due_ = over ? Instant::never() : start_ + time_for(rate_, produced_ + next_size_);
            return;
        }
        case Generation::saturate:
            next_size_ = draw_size();
            return;
    }
}

}  // namespace weir::core
