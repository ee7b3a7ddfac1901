// The sampler's rows and sums, on the real clock and a fake host.
#include "loop/counter_sampler.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "temporary_directory.hpp"

using namespace weir::core;
using namespace weir::host;
using namespace weir::loop;

namespace {

/// A host with one driver counter, which counts readings; the directory of a run.
class FakeRun {
  public:
    FakeRun() {
        write("sys/class/net/eth0/operstate", "up\n");
        write("sys/class/net/eth0/type", "1\n");
        write("sys/class/net/eth0/statistics/rx_bytes", "7\n");
    }

    void write(const std::string& path, const std::string& text) const { top_.write(path, text); }
    [[nodiscard]] std::string directory() const { return (top_ / "run").string(); }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::ifstream in(top_ / "run/hosts/eb01.csv");
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);) {
            lines.push_back(line);
        }
        return lines;
    }

    [[nodiscard]] CounterSampler::Task task(std::unique_ptr<weir::host::KernelCalls> calls) const {
        CounterSampler::Task task{.run_directory = directory(),
                                  .host = "eb01",
                                  .duration = Duration::seconds(1),
                                  .root = top_.path().string()};
        task.calls = std::move(calls);
        return task;
    }

  private:
    TemporaryDirectory top_;
};

class CountingCalls final : public weir::host::KernelCalls {
  public:
    explicit CountingCalls(Duration delay = {}) : delay_(delay) {}
    std::vector<std::string> driver_counter_names(const std::string&) override { return {"rx_pause"}; }
    std::vector<std::uint64_t> driver_counters(const std::string&) override {
        if (++readings_ > 1) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(delay_.ns));
        }
        return {readings_};
    }
    std::vector<weir::host::QueueStatistics> root_queues() override { return {}; }

  private:
    Duration delay_;
    std::uint64_t readings_ = 0;
};

/// Rows begin soon, and second 0 is `ahead` later.
CommonClock begin(CounterSampler& sampler, Duration ahead) {
    constexpr auto soon = Duration::milliseconds(200);
    const CommonClock clock(monotonic_ns() + (soon + ahead).ns);
    sampler.begin({.clock = clock, .begin = Instant{-ahead.ns}});
    return clock;
}

void sleep_until(const CommonClock& clock, Instant when) {
    while (clock.now() < when) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::string start_of(const std::string& line) {
    return line.substr(0, line.find(',', line.find(',') + 1));
}

}  // namespace

TEST_CASE("The lowest rank of each host records") {
    std::vector<RankLocation> locations(4);
    locations[0].host = locations[2].host = "a";
    locations[1].host = locations[3].host = "b";
    CHECK(records_its_host(0, locations));
    CHECK(records_its_host(1, locations));
    CHECK_FALSE(records_its_host(2, locations));
    CHECK_FALSE(records_its_host(3, locations));
}

TEST_CASE("A row per second from the beginning to the end, sums of the measured ones") {
    const FakeRun run;
    CounterSampler sampler(run.task(std::make_unique<CountingCalls>()));
    const CommonClock clock = begin(sampler, Duration::milliseconds(200));
    sleep_until(clock, Instant{1'100'000'000});
    const auto host = sampler.stop(clock.now());
    const auto lines = run.lines();
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] == "second,phase,wall_time,eth0.rx_bytes,eth0.rx_pause");
    CHECK(start_of(lines[1]) == "-1,warmup");
    CHECK(start_of(lines[2]) == "0,measure");
    CHECK(start_of(lines[3]) == "1,drain");
    CHECK(lines[2].ends_with("Z,0,1"));
    CHECK(host.problem.empty());
    CHECK(host.seconds == 1);
    CHECK(host.file == "hosts/eb01.csv");
    REQUIRE(host.sums.size() == 2);
    CHECK(host.sums[0].sum == 0U);
    CHECK(host.sums[1].sum == 1U);
}

TEST_CASE("Seconds whose end was missed are empty, and the next row has what was counted") {
    const FakeRun run;
    CounterSampler sampler(run.task(std::make_unique<CountingCalls>(Duration::milliseconds(2300))));
    const CommonClock clock = begin(sampler, Duration::milliseconds(100));
    // The reading at the end of second -1 lasts until 2.3 s, beyond the ends of seconds 0 and 1.
    sleep_until(clock, Instant{1'950'000'000});
    const auto host = sampler.stop(Instant{1'950'000'000}, Duration::seconds(10));
    const auto lines = run.lines();
    REQUIRE(lines.size() == 4);
    CHECK(start_of(lines[1]) == "-1,warmup");
    CHECK(lines[1].ends_with("Z,0,1"));
    CHECK(start_of(lines[2]) == "0,measure");
    CHECK(lines[2].ends_with("Z,,"));
    CHECK(start_of(lines[3]) == "1,drain");
    CHECK(lines[3].ends_with("Z,0,1"));
    CHECK(host.problem.empty());
    CHECK(host.reading_max >= Duration::milliseconds(2300));
}

TEST_CASE("Counting begins with a whole second") {
    // A machine that stood still for seconds has other rows, which show it: then once more.
    for (int tries_left = 5;; --tries_left) {
        const FakeRun run;
        CounterSampler sampler(run.task(std::make_unique<CountingCalls>()));
        // Nearly a second before the next one begins, whatever else this machine does.
        const CommonClock clock(monotonic_ns() - 50'000'000);
        sampler.begin({.clock = clock, .begin = Instant{-1'000'000'000}});
        sleep_until(clock, Instant{2'050'000'000});
        const Instant end = clock.now();
        const auto host = sampler.stop(end);
        if (end > Instant{2'500'000'000} && tries_left > 1) {
            continue;
        }
        const auto lines = run.lines();
        REQUIRE(lines.size() == 5);
        CHECK(start_of(lines[1]) == "-1,warmup");
        CHECK(lines[1].ends_with("Z,,"));
        CHECK(start_of(lines[2]) == "0,measure");
        CHECK(lines[2].ends_with("Z,,"));
        CHECK(start_of(lines[3]) == "1,drain");
        CHECK(lines[3].ends_with("Z,0,1"));
        CHECK(host.problem.starts_with("the first reading was 1."));
        CHECK(host.problem.ends_with(" s late; counting begins with second 1"));
        CHECK(host.seconds == 0);
        return;
    }
}

TEST_CASE("A run that ends before it begins has no rows") {
    const FakeRun run;
    CounterSampler sampler(run.task(std::make_unique<CountingCalls>()));
    const auto host = sampler.stop(Instant{0});
    CHECK(run.lines().empty());
    CHECK(host.problem.empty());
    CHECK(host.seconds == 0);
}

TEST_CASE("A reading that hangs does not hold up the end") {
    const FakeRun run;
    CounterSampler sampler(run.task(std::make_unique<CountingCalls>(Duration::milliseconds(1500))));
    const CommonClock clock = begin(sampler, Duration::milliseconds(100));
    sleep_until(clock, Instant{100'000'000});
    const auto before = std::chrono::steady_clock::now();
    const auto host = sampler.stop(clock.now(), Duration::milliseconds(50));
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::milliseconds(800));
    CHECK(host.problem == "the last reading did not return within 50 ms");
    sampler.stop(clock.now(), Duration::seconds(5));
}

TEST_CASE("A directory that cannot be made is reported, and the sums are there") {
    const FakeRun run;
    run.write("run/hosts", "a file in its place");
    CounterSampler sampler(run.task(std::make_unique<CountingCalls>()));
    const CommonClock clock = begin(sampler, Duration::milliseconds(100));
    sleep_until(clock, Instant{50'000'000});
    const auto host = sampler.stop(clock.now());
    CHECK(host.problem.find("/run/hosts: ") != std::string::npos);
    CHECK(host.problem.find("Not a directory") != std::string::npos);
    REQUIRE(host.sums.size() == 2);
    CHECK(host.sums[1].sum == 1U);
}
