// How a rank waits when a turn of its loop found nothing to do. Spinning gives the lowest latency and is
// right where a rank has a core to itself. With more ranks than cores a spinning rank takes the time that the
// others need to answer it, so it yields or sleeps instead.
#pragma once

#include <cstdint>
#include <string>

#include "core/units.hpp"

namespace weir::runtime {

enum class IdleMode : std::uint8_t { spin, yield, nap };

/// "spin", "yield" or "nap".
const char* idle_mode_name(IdleMode mode);

/// The mode for a host that runs `ranks` ranks on `cores` cores: spin while every rank has a core.
IdleMode choose_idle_mode(int ranks, int cores);

/// How long a nap is on such a host: longer with more ranks per core, so that naps leave room for work.
core::Duration choose_nap(int ranks, int cores);

class IdleStrategy {
  public:
    IdleStrategy(IdleMode mode, core::Duration nap) : mode_(mode), nap_(nap) {}

    /// After a turn that found work.
    void worked() { empty_turns_ = 0; }
    /// After an empty turn; returns after at most `until_deadline` plus what the kernel adds.
    void wait(core::Duration until_deadline);

    [[nodiscard]] IdleMode mode() const { return mode_; }
    [[nodiscard]] core::Duration nap() const { return nap_; }

  private:
    /// Turns that only yield before the first nap: an answer is often just behind.
    static constexpr int turns_before_nap = 4;

    IdleMode mode_;
    core::Duration nap_;
    int empty_turns_ = 0;
};

}  // namespace weir::runtime
