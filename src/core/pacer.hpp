// When a producer may hand over its next chunk. `none`: at once. `bucket`: as a token bucket lets it,
// whose tokens are bytes. `in_step`: on a grid of instants that begins with each tick of the scheduler,
// so that producers stay in step without a common clock; a producer that was held up catches up, one that
// had nothing to send does not.
//
// Instants are computed from an anchor, never from the previous chunk, so pacing does not drift. For
// simulations, the clock of a producer may: then its grid points come early or late against the true ones,
// until the next tick. Rejected: shaping by the kernel (a qdisc needs privileges, and shapes what comes too
// late as well).
#pragma once

#include <cstdint>

#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

class Pacer {
  public:
    explicit Pacer(const Shaping& shaping) : shaping_(shaping) {}

    /// When a chunk of this size may go, as far as is known: now or before, later, or never() until a
    /// tick comes.
    [[nodiscard]] Instant ready_at(Bytes chunk) const;
    /// A chunk goes. Only if ready_at is not after `now`. Returns the instant at which it was due
    /// (`in_step`: on the grid; `bucket`: when it could have gone, at the earliest when the one before
    /// did). With a clock that drifts: the true grid.
    Instant spend(Instant now, Bytes chunk) { return shapes() ? spend_shaped(now, chunk) : now; }
    /// There is nothing to send: what the grid offered until `now` is not made up for.
    void skip_until(Instant now);
    /// `in_step`: tick `number` of the scheduler came. False, and nothing is done: no tick has this number,
    /// or none is waited for.
    bool on_tick(Instant now, std::int64_t number);

    [[nodiscard]] bool shapes() const { return shaping_.kind != ShapingKind::none; }
    /// Simulation, `in_step`: from now on the producer's clock is fast by this (negative: slow); it finds its
    /// grid points by it.
    void set_clock_error(std::int64_t ppb) { clock_error_ppb_ = ppb; }

  private:
    Instant spend_shaped(Instant now, Bytes chunk);
    [[nodiscard]] std::int64_t grid_points() const { return shaping_.tick.ns / shaping_.grid.ns; }
    /// `in_step`: the instant of the next chunk on the grid of the latest tick, or of one before it.
    [[nodiscard]] Instant due() const;
    /// That instant by the producer's clock.
    [[nodiscard]] Instant due_by_clock() const;

    Shaping shaping_;

    // bucket: it would be full again at anchor_ + the time for bytes_.
    Instant anchor_ = {INT64_MIN / 2};
    Bytes bytes_;
    Instant last_ = {INT64_MIN / 2};

    // in_step: chunk `next_` is due at point next_ - tick_ x grid_points() of the tick that came at
    // tick_at_.
    bool ticking_ = false;
    std::int64_t tick_ = 0;
    Instant tick_at_;
    std::int64_t next_ = 0;
    std::int64_t clock_error_ppb_ = 0;
};

}  // namespace weir::core
