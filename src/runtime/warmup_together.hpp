// The transport's warm-up on all ranks, until it is complete on all. Warming up may take minutes, so not the
// whole of it has a limit, but every silence in it: ranks tell each other how far they are, again and again.
// A barrier at the end, with a limit, would give up slow networks, and without one wait for a lost host for
// ever.
#pragma once

#include <functional>

#include "runtime/idle.hpp"
#include "runtime/job.hpp"
#include "runtime/run_settings.hpp"
#include "transport/mpi_transport.hpp"

namespace weir::runtime {

/// Collective. `step` does a piece of this rank's part without waiting, and says whether that is complete;
/// `progress` tells how far it is. Throws ExchangeTimeout if ranks do not say any more how far they are, and
/// RankFailed if nobody gets any further.
void warm_up_together(Job& job, const RunSettings& settings, IdleStrategy& idle,
                      const std::function<bool()>& step,
                      const std::function<transport::WarmupProgress()>& progress);

}  // namespace weir::runtime
