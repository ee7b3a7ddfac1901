// Strong types for what weir counts, bytes, bit rates, durations and instants, and for what names things in a
// run. Quantities are 64-bit integers, so
// that sums are exact and a simulation gives the same digits on every machine. Range: 2^63 bytes (9.2 EB) and
// 2^63 ns (292 years) are far beyond any run.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "core/assertion.hpp"

namespace weir::core {

/// A length of time in nanoseconds.
struct Duration {
    std::int64_t ns = 0;

    static constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
    static constexpr Duration microseconds(std::int64_t n) { return {n * 1000}; }
    static constexpr Duration milliseconds(std::int64_t n) { return {n * 1000000}; }
    static constexpr Duration seconds(std::int64_t n) { return {n * 1000000000}; }
    static constexpr Duration max() { return {std::numeric_limits<std::int64_t>::max()}; }

    [[nodiscard]] constexpr double in_seconds() const { return static_cast<double>(ns) * 1e-9; }
    [[nodiscard]] constexpr double in_microseconds() const { return static_cast<double>(ns) * 1e-3; }

    [[gnu::always_inline]] constexpr auto operator<=>(const Duration&) const = default;
    constexpr Duration& operator+=(Duration other) {
        ns += other.ns;
        return *this;
    }
    constexpr Duration& operator-=(Duration other) {
        ns -= other.ns;
        return *this;
    }
};
constexpr Duration operator+(Duration a, Duration b) {
    return {a.ns + b.ns};
}
constexpr Duration operator-(Duration a, Duration b) {
    return {a.ns - b.ns};
}
constexpr Duration operator*(Duration a, std::int64_t n) {
    return {a.ns * n};
}

/// A point on the common clock of a run, in nanoseconds since second 0 (the first judged second). Negative
/// during the warm-up.
struct Instant {
    std::int64_t ns = 0;

    /// Later than every instant of any run: "no timer is set".
    static constexpr Instant never() { return {std::numeric_limits<std::int64_t>::max()}; }

    [[gnu::always_inline]] constexpr auto operator<=>(const Instant&) const = default;
};
constexpr Instant operator+(Instant a, Duration d) {
    return {a.ns + d.ns};
}
constexpr Instant operator-(Instant a, Duration d) {
    return {a.ns - d.ns};
}
constexpr Duration operator-(Instant a, Instant b) {
    return {a.ns - b.ns};
}

/// A number of payload bytes.
struct Bytes {
    std::int64_t count = 0;

    [[gnu::always_inline]] constexpr auto operator<=>(const Bytes&) const = default;
    constexpr Bytes& operator+=(Bytes other) {
        count += other.count;
        return *this;
    }
    constexpr Bytes& operator-=(Bytes other) {
        count -= other.count;
        return *this;
    }
};
constexpr Bytes operator+(Bytes a, Bytes b) {
    return {a.count + b.count};
}
constexpr Bytes operator-(Bytes a, Bytes b) {
    return {a.count - b.count};
}
constexpr Bytes operator*(Bytes a, std::int64_t n) {
    return {a.count * n};
}

/// A payload rate in bits per second (decimal: 1 Gb/s = 10^9 b/s).
struct BitRate {
    std::int64_t bits_per_second = 0;

    [[gnu::always_inline]] constexpr auto operator<=>(const BitRate&) const = default;
};

/// 128 bits for products of 64-bit quantities; an extension that g++ and clang++ share.
__extension__ using WideInteger = __int128;

/// Rounded towards 0. Nearly all dividends fit into 64 bits, which processors divide several times faster
/// than 128.
constexpr WideInteger quotient(WideInteger dividend, WideInteger divisor) {
    const auto fits = [](WideInteger value) {
        return value >= 0 && value <= std::numeric_limits<std::uint64_t>::max();
    };
    return fits(dividend) && fits(divisor)
               ? WideInteger{static_cast<std::uint64_t>(dividend) / static_cast<std::uint64_t>(divisor)}
               : dividend / divisor;
}

/// Bytes that a constant rate gives in a time, rounded down. Exact: 128 bits inside.
constexpr Bytes bytes_in(BitRate rate, Duration time) {
    const auto bits = quotient(static_cast<WideInteger>(rate.bits_per_second) * time.ns, 1000000000);
    return {static_cast<std::int64_t>(bits / 8)};
}

/// Shortest time after which `bytes_in(rate, time) >= bytes`; the inverse of bytes_in. Needs rate > 0.
constexpr Duration time_for(BitRate rate, Bytes bytes) {
    WEIR_ASSERT(rate.bits_per_second > 0);
    const auto bit_nanoseconds = static_cast<WideInteger>(bytes.count) * 8 * 1000000000;
    return {static_cast<std::int64_t>(
        quotient(bit_nanoseconds + rate.bits_per_second - 1, rate.bits_per_second))};
}

/// Whole periods from instant 0 on, rounded down, also before 0.
constexpr std::int64_t periods_until(Instant instant, Duration period) {
    return instant.ns / period.ns - (instant.ns % period.ns < 0 ? 1 : 0);
}

/// The first multiple of `period` after `now`.
constexpr Instant next_multiple(Instant now, Duration period) {
    return {(periods_until(now, period) + 1) * period.ns};
}

// Names of things in a run. A producer, consumer, slot or stream has an index that starts at 0 within its
// kind; distinct types keep one from being used as another. An event's id has who generated it and as which.

/// As wide as an index: a node's name is read at once, which a byte beside an index is not.
enum class Role : std::uint32_t { scheduler, producer, consumer };

/// "scheduler", "producer" or "consumer".
constexpr const char* role_name(Role role) {
    switch (role) {
        case Role::scheduler:
            return "scheduler";
        case Role::producer:
            return "producer";
        case Role::consumer:
            return "consumer";
    }
    return "unknown";
}

template <typename Kind>
struct Index {
    std::uint32_t value = 0;
    [[gnu::always_inline]] constexpr auto operator<=>(const Index&) const = default;
};

using ProducerId = Index<struct ProducerKind>;
using ConsumerId = Index<struct ConsumerKind>;
/// One event buffer of a consumer.
using SlotId = Index<struct SlotKind>;
/// Room for one fragment in a consumer's slot, counted over all its slots. core::Plan converts between both.
using PlaceId = Index<struct PlaceKind>;
/// One of the transfers that a producer may have under way at a time.
using StreamId = Index<struct StreamKind>;

/// Which life of a consumer: 0, and one more each time that it was lost (--on-failure continue).
using Epoch = std::uint16_t;

/// A participant of the protocol, whatever rank it runs on.
struct NodeId {
    Role role = Role::scheduler;
    std::uint32_t index = 0;
    [[gnu::always_inline]] constexpr auto operator<=>(const NodeId&) const = default;
};
constexpr NodeId scheduler_node() {
    return {Role::scheduler, 0};
}
constexpr NodeId node_of(ProducerId id) {
    return {Role::producer, id.value};
}
constexpr NodeId node_of(ConsumerId id) {
    return {Role::consumer, id.value};
}

/// Identity of an event: the producer in the upper 20 bits, the sequence number (0, 1, 2, ... per producer,
/// also for events that were dropped) in the lower 44. Unique in a run.
struct EventId {
    std::uint64_t value = 0;

    static constexpr int sequence_bits = 44;
    /// Sequence numbers are below.
    static constexpr std::uint64_t sequence_limit = std::uint64_t{1} << sequence_bits;
    static constexpr EventId of(ProducerId producer, std::uint64_t sequence) {
        return {(static_cast<std::uint64_t>(producer.value) << sequence_bits) | sequence};
    }
    [[nodiscard]] constexpr ProducerId producer() const {
        return {static_cast<std::uint32_t>(value >> sequence_bits)};
    }
    [[nodiscard]] constexpr std::uint64_t sequence() const { return value & (sequence_limit - 1); }
    [[gnu::always_inline]] constexpr auto operator<=>(const EventId&) const = default;
};

}  // namespace weir::core
