// Which steps of a cause's remedy are known to suffice, and which to try next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "simulation/proved_text.hpp"

namespace weir::simulation {

/// A cause that suffices, of which a smaller step is looked for. Of two together both grow at once, so
/// that neither remedy is larger than it must be while the other could be; then each of them alone, since
/// their steps differ.
struct RemedyRange {
    explicit RemedyRange(Found& cause, std::optional<std::size_t> which = std::nullopt)
        : found(&cause), widest(cause.changes), only(which) {
        for (std::size_t i = 0; i < widest.size(); ++i) {
            top = only.value_or(i) == i ? std::max(top, widest[i].step) : top;
        }
    }
    Found* found;
    Changes widest;
    std::optional<std::size_t> only;  ///< of the two
    std::size_t top = 0;              ///< the smallest step that is known to suffice
    std::size_t below = 0;            ///< so many steps are known not to suffice
    std::size_t stride = 0;           ///< until a step suffices: from `below` to the next one
    bool closed_in = false;           ///< a smaller step than the widest suffices

    [[nodiscard]] std::size_t next() const {
        return closed_in ? (below + top) / 2 : std::min(below + stride, top - 1);
    }
    [[nodiscard]] Changes at(std::size_t step) const {
        Changes changes = widest;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            if (only.value_or(i) == i) {
                changes[i].step = std::min(changes[i].step, step);
            }
        }
        return changes;
    }
    void learn(std::size_t step, const SimulatedOutcome& outcome) {
        if (outcome.suffices) {
            found->changes = at(step);
            found->outcome = outcome;
            top = step;
            closed_in = true;
        } else {
            below = step + 1;
            stride = std::max<std::size_t>(1, stride * 2);
        }
    }
};

}  // namespace weir::simulation
