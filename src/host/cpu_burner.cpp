#include "host/cpu_burner.hpp"

#include <cstdint>

namespace weir::host {

CpuBurner::~CpuBurner() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        burning_ = false;
    }
    changed_.notify_one();
    thread_.join();
}

void CpuBurner::set(bool burning) {
    if (burning_.load(std::memory_order_relaxed) == burning) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        burning_ = burning;
    }
    changed_.notify_one();
}

void CpuBurner::work() {
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

}  // namespace weir::host
