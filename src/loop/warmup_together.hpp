// The transport's warm-up on all ranks, until it is complete on all. It may take minutes, so it has no limit
// as a whole. Instead ranks exchange their progress again and again: a rank that does not take part, and a
// time without any progress, have limits. Rejected: a barrier at the end. With a limit it would give up slow
// networks; without one it would hang if a host is lost.
#pragma once

#include <functional>
#include <string>

#include "host/idle.hpp"
#include "job/job.hpp"
#include "job/run_settings.hpp"
#include "transport/transport_base.hpp"

namespace weir::loop {

/// Collective. `step` does a piece of this rank's part without waiting and returns whether that is complete;
/// `progress` returns how far it is. `report` gets a line on the progress of all ranks, from 3 s on, every 10
/// s. Throws ExchangeTimeout if ranks do not take part any more, and RankFailed if no rank makes progress.
void warm_up_together(job::Job& job, const job::RunSettings& settings, host::IdleStrategy& idle,
                      const std::function<bool()>& step,
                      const std::function<transport::WarmupProgress()>& progress,
                      const std::function<void(const std::string& line)>& report);

}  // namespace weir::loop
