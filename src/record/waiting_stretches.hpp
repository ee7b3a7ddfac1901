// When in the current second a consumer waited for data, by its own account. When the first chunk of a
// transfer shows that a transfer was under way, that time is removed again, from the end. Bounded: beyond a
// number of stretches the oldest two are kept as one with the sum of their lengths, of which a part is then
// removed in proportion.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/units.hpp"

namespace weir::record {

class WaitingStretches {
  public:
    static constexpr std::size_t limit = 64;

    /// A wait from `from` on, which is not before the end of the last one.
    void add(core::Instant from, core::Duration length) {
        if (count_ > 0 && last().to == from) {
            last().to = from + length;
            last().waited += length;
            return;
        }
        if (count_ == limit) {
            Stretch& second = at(1);
            second.from = at(0).from;
            second.waited += at(0).waited;
            first_ = (first_ + 1) % limit;
            --count_;
        }
        ++count_;
        last() = {from, from + length, length};
    }

    /// Removes what lies after `since`, and returns how much it was.
    core::Duration remove_after(core::Instant since) {
        core::Duration removed;
        for (; count_ > 0 && last().to > since; --count_) {
            Stretch& stretch = last();
            if (stretch.from < since) {
                const core::Duration kept{static_cast<std::int64_t>(core::quotient(
                    static_cast<core::WideInteger>(stretch.waited.ns) * (since - stretch.from).ns,
                    (stretch.to - stretch.from).ns))};
                removed += stretch.waited - kept;
                stretch.to = since;
                stretch.waited = kept;
                break;
            }
            removed += stretch.waited;
        }
        return removed;
    }

    void clear() { count_ = 0; }

  private:
    struct Stretch {
        core::Instant from;
        core::Instant to;
        core::Duration waited;  ///< to - from, unless it is several
    };
    Stretch& at(std::size_t position) { return stretches_[(first_ + position) % limit]; }
    Stretch& last() { return at(count_ - 1); }

    std::array<Stretch, limit> stretches_{};
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace weir::record
