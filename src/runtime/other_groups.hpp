// What the run of one group has to do with the other groups of its job. They share nothing while they
// measure: only the beginning, what is shown, and the end are common.
#pragma once

#include <cstdint>
#include <functional>

#include "core/units.hpp"
#include "telemetry/run_record.hpp"
#include "telemetry/second_collector.hpp"

namespace weir::runtime {

/// When all ranks are ready: their loops begin with the warm-up, second 0 follows it.
struct Start {
    std::int64_t second_zero_ns = 0;       ///< on the leader's monotonic clock
    std::int64_t second_zero_unix_ns = 0;  ///< label only
};

class OtherGroups {
  public:
    OtherGroups() = default;
    OtherGroups(const OtherGroups&) = delete;
    OtherGroups& operator=(const OtherGroups&) = delete;
    virtual ~OtherGroups() = default;

    // On the leader of a group.

    /// Its group is ready, and needs `ahead` until second 0. Returns the instant that is common to all groups
    /// that got ready. `waiting`: called again and again meanwhile. Throws JobError if the others have
    /// started without this group.
    virtual Start agree_on_start(core::Duration ahead, const std::function<void()>& waiting) = 0;
    /// Longest that agree_on_start() takes; for ranks that wait for their leader meanwhile.
    [[nodiscard]] virtual core::Duration start_limit() const = 0;
    virtual void show(const telemetry::ClusterSecond& second) = 0;
    /// Several times a second while it measures.
    virtual void look() = 0;
    /// How the group's run has ended; the last one counts.
    virtual void take_record(const telemetry::RunRecord& record, int exit_status) = 0;

    /// On any rank: the group's run has ended before its time, and this process would end. Waits until the
    /// other groups have ended, because a process that ends takes the whole job with it.
    [[noreturn]] virtual void hold(int exit_status) = 0;
};

}  // namespace weir::runtime
