#include "core/pacer.hpp"

#include <algorithm>

#include "core/assertion.hpp"

namespace weir::core {

Instant Pacer::due() const {
    return tick_at_ + shaping_.grid * (next_ - tick_ * grid_points());
}

Instant Pacer::due_by_clock() const {
    const Instant due_at = due();
    if (clock_error_ppb_ == 0) {
        return due_at;
    }
    constexpr std::int64_t ppb = 1'000'000'000;
    const auto since_tick = static_cast<WideInteger>((due_at - tick_at_).ns);
    return tick_at_ + Duration{static_cast<std::int64_t>(since_tick * ppb / (ppb + clock_error_ppb_))};
}

Instant Pacer::ready_at(Bytes chunk) const {
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

Instant Pacer::spend_shaped(Instant now, Bytes chunk) {
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

void Pacer::skip_until(Instant now) {
    if (shaping_.kind != ShapingKind::in_step || !ticking_) {
        return;
    }
    const auto since_tick = static_cast<WideInteger>((now - tick_at_).ns);
    const Duration by_clock =
        now - tick_at_ + Duration{static_cast<std::int64_t>(since_tick * clock_error_ppb_ / 1'000'000'000)};
    const std::int64_t passed = by_clock.ns / shaping_.grid.ns + 1;
    next_ = std::max(next_, tick_ * grid_points() + std::min(passed, grid_points()));
}

bool Pacer::on_tick(Instant now, std::int64_t number) {
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

}  // namespace weir::core
