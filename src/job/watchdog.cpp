#include "job/watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "files/formatting.hpp"
#include "host/common_clock.hpp"
#include "host/standstill.hpp"
#include "job/record_keeper.hpp"

namespace weir::job {

Watchdog::Watchdog(std::string command, std::string who)
    : command_(std::move(command)),
      who_(std::move(who)),
      phase_("start-up"),
      limit_ns_(core::Duration::seconds(120).ns),
      last_ns_(host::monotonic_ns()),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    ended_.notify_one();
    thread_.join();
}

void Watchdog::enter(const char* phase, core::Duration limit, const char* advice) {
    last_ns_ = host::monotonic_ns();
    limit_ns_ = limit.ns;
    phase_ = phase;
    advice_ = advice;
}

void Watchdog::alive() {
    last_ns_.store(host::monotonic_ns(), std::memory_order_relaxed);
}

void Watchdog::set_explanation(std::function<std::string()> explanation) {
    const std::lock_guard lock(mutex_);
    explanation_ = std::move(explanation);
}

void Watchdog::watch() {
    constexpr auto look_every = std::chrono::milliseconds(100);
    host::Standstill standstill(host::monotonic_ns());
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, look_every, [this] { return ending_; })) {
        const std::int64_t now_ns = host::monotonic_ns();
        if (standstill.look(now_ns) > 0) {
            last_ns_ = now_ns;
        }
        if (now_ns - last_ns_ < limit_ns_) {
            continue;
        }
        const char* advice = advice_;
        const std::string why = explanation_ ? explanation_() : std::string{};
        const std::string message = fmt::format(
            "{} has made no progress for {} in phase '{}'{}{} and ends the job{}{}", who_,
            files::readable(core::Duration{now_ns - last_ns_}), phase_.load(), why.empty() ? "" : ", ", why,
            advice == nullptr ? "" : "; ", advice == nullptr ? "" : advice);
        RecordKeeper::tell(message);
        const std::string line = fmt::format("{}: {}\n", command_, message);
        [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
        _exit(1);
    }
}

}  // namespace weir::job
