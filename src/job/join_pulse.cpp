#include "job/join_pulse.hpp"

#include <chrono>
#include <utility>

namespace weir::job {

JoinPulse::JoinPulse(core::Duration period, std::vector<std::weak_ptr<JoinConnection>> connections)
    : period_(period), connections_(std::move(connections)), thread_([this] { beat(); }) {}

JoinPulse::~JoinPulse() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    ended_.notify_one();
    thread_.join();
}

void JoinPulse::beat() {
    std::unique_lock lock(mutex_);
    do {
        for (const std::weak_ptr<JoinConnection>& one : connections_) {
            if (const auto connection = one.lock()) {
                connection->pulse();
            }
        }
    } while (!ended_.wait_for(lock, std::chrono::nanoseconds(period_.ns), [this] { return ending_; }));
}

}  // namespace weir::job
