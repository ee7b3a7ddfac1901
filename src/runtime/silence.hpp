// What a silence means. Who is not heard need not be at fault: a rank whose own host has lost its link hears
// nobody, and a broken switch takes several hosts at once. One rank is named as the cause, the others that
// are silent as well are told with it.
#pragma once

#include <string>

#include "core/units.hpp"
#include "runtime/peer_watch.hpp"
#include "runtime/run_settings.hpp"

namespace weir::runtime {

struct Silence {
    int rank = -1;     ///< the cause: a rank that is not heard, or `self`
    std::string what;  ///< one sentence that names it and its host
};

/// For `self`, which has not heard `longest` for the silence time-out. Whoever has been silent for half as
/// long counts as silent as well.
Silence explain_silence(const RunSettings& settings, const PeerWatch& watch, int self, int longest,
                        core::Instant now);

/// For `self`, the scheduler's rank, which was asked to stop by `signal` at `since`. A launcher that ends a
/// job because a rank or a host is lost sends the same signal as a user: ranks whose processes `self` cannot
/// see, and which gave no sign of life after that although others did, or `self` if nothing was heard of any
/// other host for longer than `missed_after`. `rank` is -1 if there is none.
Silence explain_signal(const RunSettings& settings, const PeerWatch& watch, int self, int signal,
                       core::Instant since, core::Duration missed_after, core::Instant now);

/// For `self`, the scheduler's rank, whose transfer with `peer` has failed, as `why` says. Ranks of which
/// nothing was heard for longer than `missed_after` show whose network it was.
Silence explain_failed_transfer(const RunSettings& settings, const PeerWatch& watch, int self, int peer,
                                const std::string& why, core::Duration missed_after, core::Instant now);

}  // namespace weir::runtime
