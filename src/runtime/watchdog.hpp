// Ends the process when its loop does not come round any more, for example because an MPI call never returns.
// The scheduler's silence time-out ends the run when one rank hangs; the watchdog is for the rank itself, and
// for the phases in which nobody listens (start-up, the exchange at the end). A thread, because the loop
// cannot watch itself; it calls nothing of MPI.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/units.hpp"

namespace weir::runtime {

class Watchdog {
  public:
    /// How the message names the command and this rank: "weir run", "rank 3".
    Watchdog(std::string command, std::string who);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog();

    /// A new phase, which may take `limit` between two signs of life. `phase` and `advice` live
    /// forever (literals).
    void enter(const char* phase, core::Duration limit, const char* advice = nullptr);
    /// The loop came round.
    void alive();

    /// What the message is to add about the reason, if it is known ("waiting for rank 3"), else nothing.
    /// Called from the watchdog's thread until another one, maybe an empty one, is set.
    void set_explanation(std::function<std::string()> explanation);

  private:
    void watch();

    std::string command_;
    std::string who_;
    std::atomic<const char*> phase_;
    std::atomic<const char*> advice_ = nullptr;
    std::atomic<std::int64_t> limit_ns_;
    std::atomic<std::int64_t> last_ns_;
    std::mutex mutex_;
    std::function<std::string()> explanation_;
    std::condition_variable ended_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace weir::runtime
