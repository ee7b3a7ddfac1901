// Burns processor time while a consumer is processing (--busy-cpu burn), in a thread of its own so that the
// rank goes on progressing its transfers. It measures what matters to event building farms: whether reception
// suffers when the filter takes the core.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace weir::host {

class CpuBurner {
  public:
    CpuBurner() : thread_([this] { work(); }) {}
    CpuBurner(const CpuBurner&) = delete;
    CpuBurner& operator=(const CpuBurner&) = delete;
    ~CpuBurner() {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
            burning_ = false;
        }
        changed_.notify_one();
        thread_.join();
    }

    /// Starts or stops burning; cheap when nothing changes.
    void set(bool burning) {
        if (burning_.load(std::memory_order_relaxed) == burning) {
            return;
        }
        {
            const std::lock_guard lock(mutex_);
            burning_ = burning;
        }
        changed_.notify_one();
    }

  private:
    void work() {
        volatile std::uint64_t sink = 1;
        while (true) {
            while (burning_.load(std::memory_order_relaxed)) {
                std::uint64_t value = sink;
                for (int round = 0; round < 10000; ++round) {
                    value = value * 6364136223846793005ULL + 1442695040888963407ULL;
                }
                sink = value;
            }
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return burning_ || ending_; });
            if (ending_) {
                return;
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> burning_{false};
    std::atomic<bool> ending_{false};
    std::thread thread_;
};

}  // namespace weir::host
