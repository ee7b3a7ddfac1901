// How a rank waits when a turn of its loop found nothing to do. Spinning gives the lowest latency and is
// right where a rank has a core to itself. With more ranks than cores a spinning rank takes the time that the
// others need to answer it, so it yields or naps instead. Not at once: in shared memory MPI copies data
// while it is polled, and a rank that naps between two pieces of a message holds up the rest (1x1x1 on two
// cores, events of 1 MiB: 22 Gb/s with naps after four empty turns, 60 Gb/s after a millisecond). And naps
// grow with the time for which nothing has come, to which they add less than half a percent: a rank that has
// nothing to do for long leaves the cores to those that have. The turn after a nap is followed by another at
// once, because what came during the nap is found by the second: Open MPI's MPI_Testsome looks first and
// makes progress then. Rejected: a scheduler, which moves no data, that naps sooner (1x1x1 on two cores,
// events of 16 MiB: naps of 1 ms after 0.1 ms, 46 Gb/s instead of 58; naps of 20 us, 24 instead of 44).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/units.hpp"

namespace weir::host {

enum class IdleMode : std::uint8_t { spin, yield, nap };

/// "spin", "yield" or "nap".
const char* idle_mode_name(IdleMode mode);

/// The mode for a host that runs `ranks` ranks on `cores` cores: spin while every rank has a core.
IdleMode choose_idle_mode(int ranks, int cores);

/// How long the shortest nap is on such a host: longer with more ranks per core, so that naps leave room for
/// work.
core::Duration choose_nap(int ranks, int cores);

/// How long a rank of such a host finds nothing before its first nap, unless the user chose naps: shorter
/// with more ranks per core, as each takes others' time meanwhile.
core::Duration choose_patience(int ranks, int cores);

class IdleStrategy {
  public:
    /// `nap`: the shortest.
    IdleStrategy(IdleMode mode, core::Duration nap, core::Duration patience = {})
        : mode_(mode), nap_(nap), patience_(patience) {}

    /// After a turn that found work.
    void worked() {
        empty_turns_ = 0;
        turns_since_yield_ = 0;
        napped_ = false;
    }
    /// After an empty turn; returns after at most `until_deadline` plus what the kernel adds.
    void wait(core::Duration until_deadline);

    /// Yields after every such number of empty turns instead of each; 0: leaves it to polls that find
    /// nothing. Each yield lets all others of this core run before this rank looks again.
    void yield_after(int turns) { turns_per_yield_ = turns; }

    [[nodiscard]] IdleMode mode() const { return mode_; }
    [[nodiscard]] core::Duration nap() const { return nap_; }
    [[nodiscard]] core::Duration longest_nap() const {
        return std::max(nap_, core::Duration::milliseconds(2));
    }
    /// How long a nap is when nothing has come for `idle`.
    [[nodiscard]] core::Duration nap_after(core::Duration idle) const {
        return std::clamp(core::Duration{idle.ns / 256}, nap_, longest_nap());
    }
    [[nodiscard]] core::Duration patience() const { return patience_; }

  private:
    /// Turns that only yield before the first nap, however long they take: an answer is often just behind.
    static constexpr int turns_before_nap = 4;

    void yield();
    /// Counts an empty turn. Returns how long nothing has come; none: it is too early for a nap.
    std::optional<core::Duration> out_of_patience();

    IdleMode mode_;
    core::Duration nap_;
    core::Duration patience_;
    int empty_turns_ = 0;
    int turns_per_yield_ = 1;
    int turns_since_yield_ = 0;
    bool napped_ = false;  ///< just before this turn
    std::int64_t empty_since_ns_ = 0;
};

}  // namespace weir::host
