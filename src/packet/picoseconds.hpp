// Virtual time of the packet model. A packet of 64 bytes takes 5.12 ns on a link of 100 Gb/s: nanoseconds
// would round the rate of every link, picoseconds do not. 64 bits of them last for 106 days.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "core/units.hpp"

namespace weir::packet {

/// A point in time since the start of the simulation, or a length of time.
struct Picoseconds {
    std::int64_t count = 0;

    constexpr auto operator<=>(const Picoseconds&) const = default;
    constexpr Picoseconds operator+(Picoseconds other) const { return {count + other.count}; }
    constexpr Picoseconds operator-(Picoseconds other) const { return {count - other.count}; }
    constexpr Picoseconds operator*(std::int64_t factor) const { return {count * factor}; }
    constexpr Picoseconds& operator+=(Picoseconds other) {
        count += other.count;
        return *this;
    }
    /// How many whole `other` fit.
    constexpr std::int64_t operator/(Picoseconds other) const { return count / other.count; }

    static constexpr Picoseconds of(core::Duration time) { return {time.ns * 1000}; }
    static constexpr Picoseconds of(core::Instant time) { return {time.ns * 1000}; }
    static constexpr Picoseconds microseconds(double value) {
        return {static_cast<std::int64_t>(value * 1e6)};
    }
    static constexpr Picoseconds nanoseconds(std::int64_t value) { return {value * 1000}; }
    static constexpr Picoseconds never() { return {std::numeric_limits<std::int64_t>::max()}; }
    /// The next nanosecond: nothing is reported before it has happened.
    [[nodiscard]] constexpr core::Instant instant() const {
        return *this == never() ? core::Instant::never() : core::Instant{(count + 999) / 1000};
    }
    [[nodiscard]] constexpr double seconds() const { return static_cast<double>(count) * 1e-12; }
};

}  // namespace weir::packet
