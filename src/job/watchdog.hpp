// Ends the process when its loop is stalled, for example because an MPI call never returns. If one rank
// hangs, the leader's silence time-out ends the run; the watchdog is for the rank itself, and for phases
// without heartbeats (start-up, the exchanges). A thread, because the loop cannot watch itself; it never
// calls MPI.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/units.hpp"

namespace weir::job {

class Watchdog {
  public:
    /// How the message names the command and this rank: "weir run", "rank 3".
    Watchdog(std::string command, std::string who);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog();

    /// A new phase, in which alive() is called at least every `limit`. `phase` and `advice` are literals.
    void enter(const char* phase, core::Duration limit, const char* advice = nullptr);
    /// The loop or the wait makes progress.
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

}  // namespace weir::job
