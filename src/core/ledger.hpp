// Ledgers: what each side has moved. At the end of every run the ledgers of producers, consumers and
// scheduler must agree, so a lost, doubled or exchanged event cannot hide behind equal totals.
#pragma once

#include <cstdint>
#include <functional>

#include "core/field_sums.hpp"
#include "core/ids.hpp"
#include "core/units.hpp"

namespace weir::core {

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
