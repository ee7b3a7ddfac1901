// Keeps a rank's common clock right as the run goes on, from instants that travel with the heartbeats:
//
//   rank -> leader   when it left, by the rank's clock
//   leader -> rank   when it left, by the leader's clock; when the rank's last one left, and arrived, by the
//                    clock of each
//
// The leader's own clock is the common one. What the others receive goes to a ClockFollower; the common clock
// is steered towards its middle, slowly enough for all measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/messages.hpp"
#include "host/common_clock.hpp"
#include "job/clock_follower.hpp"
#include "record/heartbeat_delays.hpp"

namespace weir::job {

class HeartbeatClock {
  public:
    /// A rank that follows: `at_start` was measured when this host's clock showed `measured_ns`, and `clock`
    /// made with it. `same_clock` as the follower's.
    HeartbeatClock(const host::CommonClock& clock, const ClockOffset& at_start, std::int64_t measured_ns,
                   bool same_clock);
    /// The leader, which is followed by `ranks` - 1 others.
    HeartbeatClock(const host::CommonClock& clock, int ranks);

    [[nodiscard]] const host::CommonClock& clock() const { return clock_; }
    [[nodiscard]] bool follows() const { return follower_.has_value(); }

    /// A heartbeat to `rank` leaves now; `local_ns` is this host's clock at the last moment before.
    void stamp(core::Heartbeat& heartbeat, int rank, std::int64_t local_ns) const;
    /// One of `rank` arrived; `local_ns` is this host's clock at the first moment after. Returned: how long
    /// it and the last one to the leader took, of a rank that follows, by its own clock.
    record::HeartbeatDelays receive(const core::Heartbeat& heartbeat, int rank, std::int64_t local_ns);

    /// At most so far was the common clock here from that of the leader, since the start.
    [[nodiscard]] std::int64_t worst_error_ns() const { return worst_error_ns_; }
    /// The same with the result of a measurement at the end, at `local_ns`.
    [[nodiscard]] std::int64_t error_bound_ns(std::int64_t local_ns, const ClockOffset& at_end) const;

  private:
    struct Heard {
        std::int64_t left_ns = 0;      ///< by the clock of the rank; 0: nothing yet
        std::int64_t received_ns = 0;  ///< by this one's
    };

    void steer(std::int64_t local_ns);

    host::CommonClock clock_;
    std::int64_t offset_at_start_ns_ = 0;
    std::int64_t steered_ns_ = 0;
    std::int64_t worst_error_ns_ = 0;
    std::int64_t answered_ns_ = 0;  ///< when the last one left here that the leader reported
    std::optional<ClockFollower> follower_;
    std::vector<Heard> heard_;  ///< leader: by rank
};

}  // namespace weir::job
