#include "job/job.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "files/formatting.hpp"
#include "host/common_clock.hpp"

namespace weir::job {

Job::Waiting::Waiting(Job& job, core::Duration limit, const char* what)
    : job_(job),
      limit_(limit),
      what_(what),
      began_ns_(host::monotonic_ns()),
      next_check_ns_(began_ns_ + check_period.ns),
      standstill_(began_ns_) {}

void Job::Waiting::restart() {
    began_ns_ = host::monotonic_ns();
    naps_ = 0;
}

void Job::Waiting::check() {
    job_.call_waiting_hook();
    const std::int64_t now_ns = host::monotonic_ns();
    began_ns_ += standstill_.look(now_ns);
    if (now_ns >= next_check_ns_) {
        next_check_ns_ = now_ns + check_period.ns;
        job_.check_notices(what_);
    }
    if (now_ns - began_ns_ > limit_.ns) {
        throw ExchangeTimeout(
            fmt::format("waited {} for the other ranks without success: {}", files::readable(limit_), what_));
    }
}

void Job::Waiting::nap() {
    check();
    // Short waits are common at first, long ones later: back off from yielding to naps of 1 ms.
    if (++naps_ < 20) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(naps_ * 5, 1000)));
    }
}

std::optional<Objection> Job::first_objection(const std::string& mine, const char* what) {
    std::optional<Objection> first;
    const auto texts = share(mine, what);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        if (first && !texts[rank].empty()) {
            ++first->others;
        } else if (!texts[rank].empty()) {
            first = {static_cast<int>(rank), texts[rank]};
        }
    }
    return first;
}

void Job::throw_silent(std::vector<int> ranks, core::Duration limit, const char* what) {
    constexpr std::size_t most_named = 4;
    const std::vector<std::uint32_t> numbers(ranks.begin(), ranks.end());
    throw RanksSilent(std::move(ranks), fmt::format("has had no sign of life of {} for {}: {}",
                                                    files::name_some("rank", numbers, most_named),
                                                    files::readable(limit), what));
}

void Job::throw_notice(const Notice& notice, int source, const char* what) const {
    if (notice.kind != Notice::Kind::failure) {
        throw ExchangeTimeout("was notified by rank " + std::to_string(source) +
                              " that it waits without success: " + what);
    }
    const bool exists = notice.rank >= 0 && notice.rank < size_;
    throw RankFailed(exists ? notice.rank : source, text_of(notice));
}

void Job::abort(int status) {
    std::fflush(nullptr);
    end_others(status);
    leave(status);
}

void Job::leave(int status) {
    std::fflush(nullptr);
    _exit(status);
}

}  // namespace weir::job
