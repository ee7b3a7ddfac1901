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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

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

class EventGenerator {
  public:
    /// Generates in start <= t < end. `sizes` draws event sizes in bytes; they are cut to 1 ..
    /// plan.slot_size. The plan is not kept. A rate (or a set) of zero bytes generates nothing, except with
    /// saturate. `phase` (set_phase.hpp) is used by sets only, `id` by addressed events only.
    EventGenerator(const Plan& plan, Sampler sizes, Instant start, Instant end, Duration phase = {},
                   ProducerId id = {});

    /// When the next event exists; never() when generation is over. saturate: `start` until a take() at or
    /// after `end` has closed generation, because then the caller's backlog counts: call
    /// take() whenever the backlog has shrunk, and once at `end`.
    [[nodiscard]] Instant next_due() const { return next_due_; }

    /// The same for a caller with this backlog: saturate without room for the next event has nothing to do
    /// before `end`.
    [[nodiscard]] Instant next_due(Bytes backlog) const;

    /// The next event if it exists at `now`; call until it returns nothing. `backlog`: bytes in the
    /// producer's buffer, used by saturate only. Constant time, plus one draw of a size.
    std::optional<GeneratedEvent> next(Instant now, Bytes backlog);

    /// The next event, although generation is over (pattern `build`: the others have made theirs).
    GeneratedEvent next_beyond_end(Instant now);

  private:
    [[nodiscard]] bool has_room(Bytes backlog) const;
    [[nodiscard]] Bytes draw_size();
    void prepare_next();
    void begin_set(Instant at);
    void begin_transfer();
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
