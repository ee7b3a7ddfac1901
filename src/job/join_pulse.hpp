// Signs of life of a job that starts without MPI, while its ranks wait for each other outside the loop: a
// thread sends them, so that a rank that allocates memory or waits for a file system is told from one that
// stands still.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/units.hpp"
#include "job/join_connection.hpp"

namespace weir::job {

class JoinPulse {
  public:
    /// One to each connection in every `period`, until this object is destroyed.
    JoinPulse(core::Duration period, std::vector<std::weak_ptr<JoinConnection>> connections);
    JoinPulse(const JoinPulse&) = delete;
    JoinPulse& operator=(const JoinPulse&) = delete;
    ~JoinPulse();

  private:
    void beat();

    core::Duration period_;
    std::vector<std::weak_ptr<JoinConnection>> connections_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace weir::job
