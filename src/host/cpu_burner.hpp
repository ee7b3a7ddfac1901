// Burns processor time while a consumer is processing (--busy-cpu burn), in a thread of its own so that the
// rank goes on progressing its transfers. It measures what matters to event building farms: whether reception
// suffers when the filter takes the core.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace weir::host {

class CpuBurner {
  public:
    CpuBurner() : thread_([this] { work(); }) {}
    CpuBurner(const CpuBurner&) = delete;
    CpuBurner& operator=(const CpuBurner&) = delete;
    ~CpuBurner();

    /// Starts or stops burning; cheap when nothing changes.
    void set(bool burning);

  private:
    void work();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> burning_{false};
    std::atomic<bool> ending_{false};
    std::thread thread_;
};

}  // namespace weir::host
