// Ends the process when its loop does not come round any more, for example because an MPI call never returns.
// The scheduler's silence time-out ends the run when one rank hangs; the watchdog is for the rank itself, and
// for the phases in which nobody listens (start-up, the exchange at the end). A thread, because the loop
// cannot watch itself; it calls nothing of MPI.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "core/units.hpp"

namespace weir::runtime {

class Watchdog {
  public:
    /// `who`: how the message names this rank.
    explicit Watchdog(std::string who);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog();

    /// A new phase, which may take `limit` between two signs of life. `phase` lives forever (a literal).
    void enter(const char* phase, core::Duration limit);
    /// The loop came round.
    void alive();

  private:
    void watch();

    std::string who_;
    std::atomic<const char*> phase_;
    std::atomic<std::int64_t> limit_ns_;
    std::atomic<std::int64_t> last_ns_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace weir::runtime
