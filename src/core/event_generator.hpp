// When a producer's next event exists and how large it is. A generator never waits: it returns when it
// is due next, and a caller that comes late takes all events that became due meanwhile, each with the time at
// which it should have come. Pacing therefore never drifts: every time is computed from an anchor, never from
// the previous one. Rejected: a timer per event, which loses time with every late wake-up.
//
// sets: at every phase + k x interval (counted from instant 0, so k is negative in the warm-up) with
//   start <= k x interval and phase + k x interval < end, events whose sizes sum to plan.set_bytes() exactly;
//   the last event of a set is cut to what is left. Where rate x interval is no whole number of bytes, every
//   set has the same rounded down size, up to one byte per interval less than the rate gives. The other
//   choice, a byte more in some sets, would let sets overflow a buffer of exactly one set.
//   Addressed events: at k x interval + the time of each of the producer's transfers, events whose sizes sum
//   to the transfer's; the last event of a transfer is cut to what is left.
// steady: an event exists as soon as the rate, integrated since `start`, has produced its bytes. The integral
// is
//   exact, so the total at any time is within one event of rate x time, however long the run.
// saturate: the next event exists whenever it fits into the buffer beside what waits there (or nothing
// waits).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/assertion.hpp"
#include "core/distribution.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

struct GeneratedEvent {
    std::uint64_t sequence = 0;  ///< 0, 1, 2, ...
    Bytes bytes;
    Instant generated_at;        ///< the nominal time, however late it was taken; saturate: when it was taken
    ConsumerId to{};             ///< addressed events: whom it is for
    std::uint32_t transfer = 0;  ///< addressed events: number in traffic.of(producer)
    bool operator==(const GeneratedEvent&) const = default;
};

/// First multiple of the interval that is not before `t`, which may be negative.
constexpr Instant first_multiple_from(Instant t, Duration interval) {
    const std::int64_t k = t.ns / interval.ns;  // rounded towards 0
    return {(k * interval.ns < t.ns ? k + 1 : k) * interval.ns};
}

class EventGenerator {
  public:
    /// Generates in start <= t < end. `sizes` draws event sizes in bytes; they are cut to 1 ..
    /// plan.slot_size. The plan is not kept. A rate (or a set) of zero bytes generates nothing, except with
    /// saturate. `phase` (plan.hpp) is used by sets only, `id` by addressed events only.
    EventGenerator(const Plan& plan, Sampler sizes, Instant start, Instant end, Duration phase = {},
                   ProducerId id = {})
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

    /// When the next event exists; never() when generation is over. saturate: `start` until a take() at or
    /// after `end` has closed generation, because then the caller's backlog counts: call
    /// take() whenever the backlog has shrunk, and once at `end`.
    [[nodiscard]] Instant next_due() const { return next_due_; }

    /// The same for a caller with this backlog: saturate without room for the next event has nothing to do
    /// before `end`.
    [[nodiscard]] Instant next_due(Bytes backlog) const {
        const bool waits_for_room =
            generation_ == Generation::saturate && next_due_ != Instant::never() && !has_room(backlog);
        return waits_for_room ? std::max(end_, next_due_) : next_due_;
    }

    /// The next event if it exists at `now`; call until it returns nothing. `backlog`: bytes in the
    /// producer's buffer, used by saturate only. Constant time, plus one draw of a size.
    std::optional<GeneratedEvent> next(Instant now, Bytes backlog) {
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

    /// The next event, although generation is over (pattern `build`: the others have made theirs).
    GeneratedEvent next_beyond_end(Instant now) {
        WEIR_ASSERT(next_due_ == Instant::never());
        const GeneratedEvent event{next_sequence_++, next_size_, now};
        next_size_ = draw_size();
        return event;
    }

  private:
    [[nodiscard]] bool has_room(Bytes backlog) const {
        return backlog.count == 0 || backlog + next_size_ <= buffer_;
    }
    [[nodiscard]] Bytes draw_size() { return std::clamp(Bytes{sizes_.next()}, Bytes{1}, largest_event_); }
    void prepare_next() {
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
    void begin_set(Instant at) {
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
    void begin_transfer() {
        const AddressedTransfer& transfer = transfers()[transfer_];
        next_due_ = set_at_ + transfer.at;
        left_in_set_ = transfer.bytes;
        next_size_ = std::min(draw_size(), left_in_set_);
    }
    [[nodiscard]] std::span<const AddressedTransfer> transfers() const { return traffic_->of(id_); }

    Generation generation_;
    BitRate rate_;
    Duration interval_;
    Bytes set_size_;
    Bytes largest_event_;
    Bytes buffer_;
    Instant start_;
    Instant end_;
    Sampler sizes_;
    std::shared_ptr<const TrafficPlan> traffic_;  ///< addressed events
    ProducerId id_;
    Instant set_at_;            ///< addressed events: when this set began
    std::size_t transfer_ = 0;  ///< of the set: the one that the next event is of

    std::uint64_t next_sequence_ = 0;
    Bytes next_size_;
    Instant next_due_ = Instant::never();
    Bytes left_in_set_;  ///< sets: from the next event on; addressed events: left in the transfer
    Bytes produced_;     ///< steady: before the next event
};

}  // namespace weir::core
