// When in the interval a producer generates its sets. A producer's phase is constant during a run, and its
// sets begin at phase + k x interval: the deadline of each is the producer's own next set.
//
// Chosen: `random` is drawn as a share of the interval, from a stream of its own, so that a run with scaled
// times has the same phases, and all other draws are those of a run without phases. Rejected: a new phase for
// each set, which would make deadlines shorter and longer than an interval.
#pragma once

#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

/// In [0, interval). Zero with set phase `same`, and for generation that has no sets.
Duration set_phase(const Plan& plan, ProducerId producer);

/// When in the interval the last event of a set can be generated: the phase, of addressed events the time of
/// the producer's last transfer.
Duration last_of_set_after(const Plan& plan, ProducerId producer);
/// What a producer generates at the very beginning of its next set.
Bytes first_of_set_bytes(const Plan& plan, ProducerId producer);

/// A set is generated at once and fills the buffer: with anything of the one before there is an overflow.
bool fills_buffer_at_once(const Plan& plan, ProducerId producer);

/// Bytes of sets that a producer with this phase has to generate in 0 <= t < end. Generation `sets` only.
Bytes set_bytes_until(const Plan& plan, ProducerId producer, Instant end);

}  // namespace weir::core
