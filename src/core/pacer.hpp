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

#include <algorithm>
#include <cstdint>

#include "core/assertion.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

class Pacer {
  public:
    explicit Pacer(const Shaping& shaping) : shaping_(shaping) {}

    /// When a chunk of this size may go, as far as is known: now or before, later, or never() until a
    /// tick comes.
    [[nodiscard]] Instant ready_at(Bytes chunk) const {
        switch (shaping_.kind) {
            case ShapingKind::none:
                break;
            case ShapingKind::bucket: {
                const Instant full = anchor_ + time_for(shaping_.rate, bytes_);
                // A chunk that is larger than the bucket goes when it is full, and leaves a debt.
                return chunk < shaping_.burst ? full - time_for(shaping_.rate, shaping_.burst - chunk) : full;
            }
            case ShapingKind::in_step:
                // Beyond the points of the latest tick only the next tick leads.
                return !ticking_ || next_ >= (tick_ + 1) * grid_points() ? Instant::never() : due_by_clock();
        }
        return {INT64_MIN / 2};
    }
    /// A chunk goes. Only if ready_at is not after `now`. Returns the instant at which it was due
    /// (`in_step`: on the grid; `bucket`: when it could have gone, at the earliest when the one before
    /// did). With a clock that drifts: the true grid.
    Instant spend(Instant now, Bytes chunk) { return shapes() ? spend_shaped(now, chunk) : now; }
    /// There is nothing to send: what the grid offered until `now` is not made up for.
    void skip_until(Instant now) {
        if (shaping_.kind != ShapingKind::in_step || !ticking_) {
            return;
        }
        const auto since_tick = static_cast<WideInteger>((now - tick_at_).ns);
        const Duration by_clock =
            now - tick_at_ +
            Duration{static_cast<std::int64_t>(since_tick * clock_error_ppb_ / 1'000'000'000)};
        const std::int64_t passed = by_clock.ns / shaping_.grid.ns + 1;
        next_ = std::max(next_, tick_ * grid_points() + std::min(passed, grid_points()));
    }
    /// `in_step`: tick `number` of the scheduler came. False, and nothing is done: no tick has this number,
    /// or none is waited for.
    bool on_tick(Instant now, std::int64_t number) {
        // 36 years on either side of the beginning.
        constexpr std::int64_t furthest = std::int64_t{1} << 60U;
        if (shaping_.kind != ShapingKind::in_step || number > furthest / shaping_.tick.ns ||
            number < -furthest / shaping_.tick.ns) {
            return false;
        }
        if (!ticking_) {
            next_ = number * grid_points();
        }
        ticking_ = true;
        tick_ = number;
        tick_at_ = now;
        return true;
    }

    [[nodiscard]] bool shapes() const { return shaping_.kind != ShapingKind::none; }
    /// Simulation, `in_step`: from now on the producer's clock is fast by this (negative: slow); it finds its
    /// grid points by it.
    void set_clock_error(std::int64_t ppb) { clock_error_ppb_ = ppb; }

  private:
    Instant spend_shaped(Instant now, Bytes chunk) {
        const Instant ready = ready_at(chunk);
        WEIR_ASSERT(ready <= now);
        switch (shaping_.kind) {
            case ShapingKind::none:
                break;
            case ShapingKind::bucket: {
                if (anchor_ + time_for(shaping_.rate, bytes_) <= now) {
                    anchor_ = now;
                    bytes_ = {};
                }
                bytes_ += chunk;
                const Instant could = std::max(ready, last_);
                last_ = now;
                return could;
            }
            case ShapingKind::in_step: {
                const Instant on_grid = due();
                ++next_;
                return on_grid;
            }
        }
        return now;
    }
    [[nodiscard]] std::int64_t grid_points() const { return shaping_.tick.ns / shaping_.grid.ns; }
    /// `in_step`: the instant of the next chunk on the grid of the latest tick, or of one before it.
    [[nodiscard]] Instant due() const { return tick_at_ + shaping_.grid * (next_ - tick_ * grid_points()); }
    /// That instant by the producer's clock.
    [[nodiscard]] Instant due_by_clock() const {
        const Instant due_at = due();
        if (clock_error_ppb_ == 0) {
            return due_at;
        }
        constexpr std::int64_t ppb = 1'000'000'000;
        const auto since_tick = static_cast<WideInteger>((due_at - tick_at_).ns);
        return tick_at_ + Duration{static_cast<std::int64_t>(since_tick * ppb / (ppb + clock_error_ppb_))};
    }

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
