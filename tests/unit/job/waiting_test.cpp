// How long a rank waits for others.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "job/job.hpp"

namespace waiting_test {

using weir::core::Duration;
using weir::job::ExchangeTimeout;
using weir::job::Job;
using weir::job::Notice;

/// A job in which nothing ever comes.
class SilentJob final : public Job {
  public:
    std::string library() const override { return "none"; }
    std::vector<std::string> share(const std::string&, const char*) override { return {}; }
    void gather(std::span<const std::byte>, int, const char*,
                const std::function<void(int, std::span<const std::byte>)>&) override {}
    std::string broadcast(const std::string& text, int, const char*) override { return text; }
    void barrier(const char*) override {}
    void begin_round(std::span<const std::byte>, const char*) override {}
    std::optional<std::span<const std::byte>> end_round(const char*) override { return std::nullopt; }
    void send_block(int, Block, std::span<const std::byte>, const char*) override {}
    void receive_block(int, Block, std::span<std::byte>, Duration, const char*) override {}
    void send_notice(const Notice&, Duration) override {}
    Roll call_roll(Duration, const std::function<bool()>&) override { return {}; }

  private:
    void end_others(int) override {}
    void check_notices(const char*) override {}
};

void wait_without_end(Job::Waiting& waiting) {
    while (true) {
        waiting.nap();
    }
}

TEST_CASE("a wait for other ranks ends after its limit") {
    SilentJob job;
    Job::Waiting waiting(job, Duration::milliseconds(50), "the test");
    CHECK_THROWS_AS(wait_without_end(waiting), ExchangeTimeout);
}

TEST_CASE("time in which the waiting process stood still does not count") {
    SilentJob job;
    Job::Waiting waiting(job, Duration::milliseconds(500), "the test");
    waiting.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    CHECK_NOTHROW(waiting.check());
    CHECK_THROWS_AS(wait_without_end(waiting), ExchangeTimeout);
}

}  // namespace waiting_test
