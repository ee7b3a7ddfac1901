// Ledgers: what each side has moved. At the end of every run the ledgers of producers, consumers and
// scheduler must agree, so a lost, doubled or exchanged event cannot hide behind equal totals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "core/units.hpp"

namespace weir::core {

// Structs of sums, combined field by field without a list of their fields: a field that is added is never
// left out.

/// All fields are 64-bit integers, or strong types of one as in units.hpp: no padding, no other numbers.
template <typename Sums>
concept SumsOfIntegers =
    std::is_trivially_copyable_v<Sums> && std::has_unique_object_representations_v<Sums> &&
    sizeof(Sums) % sizeof(std::uint64_t) == 0 && alignof(Sums) == alignof(std::uint64_t);

/// Makes combine(field, other) of each field, modulo 2^64.
template <SumsOfIntegers Sums, typename Combine>
Sums& combine_fields(Sums& sums, const Sums& others, Combine combine) {
    for (std::size_t place = 0; place < sizeof(Sums); place += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::uint64_t other = 0;
        std::memcpy(&word, reinterpret_cast<const std::byte*>(&sums) + place, sizeof word);
        std::memcpy(&other, reinterpret_cast<const std::byte*>(&others) + place, sizeof other);
        word = combine(word, other);
        std::memcpy(reinterpret_cast<std::byte*>(&sums) + place, &word, sizeof word);
    }
    return sums;
}

/// Mixes an event id and its size into 64 bits (finaliser of SplitMix64, Steele et al. 2014). Sums of mixes
/// do not depend on the order of the events.
constexpr std::uint64_t ledger_mix(EventId event, Bytes bytes) {
    std::uint64_t z = event.value * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(bytes.count);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
}

/// Count, bytes and an order-independent hash of a set of events.
struct Tally {
    std::uint64_t events = 0;
    Bytes bytes;
    std::uint64_t hash = 0;

    constexpr void add(EventId event, Bytes size) {
        ++events;
        bytes += size;
        hash += ledger_mix(event, size);
    }
    constexpr Tally& operator+=(const Tally& other) {
        events += other.events;
        bytes += other.bytes;
        hash += other.hash;
        return *this;
    }
    constexpr bool operator==(const Tally&) const = default;
};
constexpr Tally operator+(Tally a, const Tally& b) {
    return a += b;
}

/// A number of events and their bytes, where no hash is needed: of offers, rows, one producer at a consumer.
struct Traffic {
    std::uint64_t events = 0;
    Bytes bytes;

    constexpr Traffic& operator+=(const Traffic& other) {
        events += other.events;
        bytes += other.bytes;
        return *this;
    }
    constexpr bool operator==(const Traffic&) const = default;
};
constexpr Traffic operator-(const Traffic& a, const Traffic& b) {
    return {a.events - b.events, a.bytes - b.bytes};
}

/// One node's account. A producer fills generated, sent and lost (generated = sent + lost); a consumer fills
/// received, corrupt (received, but failed verification) and incomplete (begun, never completed); the
/// scheduler fills `received` with what consumers reported as done. `results`: consumers those that they
/// sent, the scheduler those that arrived; the bytes are the results', named by their events.
struct Ledger {
    Tally generated;
    Tally sent;
    Tally lost;
    Tally received;
    Tally corrupt;
    Tally incomplete;
    Tally duplicate;  ///< events only
    Tally results;
    Bytes payload_checked;  ///< of a consumer's chunks; it stays with the rank, and is in no report

    Ledger& operator+=(const Ledger& other) { return combine_fields(*this, other, std::plus{}); }
    constexpr bool operator==(const Ledger&) const = default;
};

}  // namespace weir::core
