// A rank's loop for tests: over a transport without a network and a node that does what the test sets. The
// clock is real; limits are short, and no test depends on being fast.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fake_transport.hpp"
#include "loop/rank_loop.hpp"
#include "participant/exit_status.hpp"

namespace weir::loop::test {

using namespace core;
using namespace participant;
using record::LiveSample;
using record::SecondCollector;
using Kind = ending::RunEnd::Kind;

inline constexpr int scheduler_rank = 1;
inline constexpr int producer_rank = 0;
inline constexpr int consumer_rank = 2;
inline constexpr Duration never_silent = Duration::seconds(60);

/// What a fake node does, and what reached it.
/// A deadline that has passed.
inline constexpr Instant long_ago{-1'000'000'000'000};

struct FakeState {
    Instant deadline = Instant::never();
    Actions at_start;
    std::function<void(Instant, Actions&)> at_time = [](Instant, Actions&) {};
    std::vector<std::pair<NodeId, ControlMessage>> messages;
    std::vector<std::pair<PlaceId, ArrivedChunk>> chunks;
    struct Sent {
        StreamId stream;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        bool operator==(const Sent&) const = default;
    };
    std::vector<Sent> sent;
    bool over = false;
    int recordings_finished = 0;
};

template <typename OfRole>
class FakeNode : public OfRole {
  public:
    template <typename... Arguments>
    explicit FakeNode(FakeState& state, Arguments&&... arguments)
        : OfRole(std::forward<Arguments>(arguments)...), state_(state) {}

    void on_start(Instant /*now*/, Actions& out) override { out = state_.at_start; }
    void on_time(Instant now, Actions& out) override { state_.at_time(now, out); }
    void on_message(Instant /*now*/, NodeId from, const ControlMessage& message, Actions& /*out*/) override {
        state_.messages.emplace_back(from, message);
    }
    void record(Instant /*now*/, const Actions& /*out*/) override {}
    void record_poll_gap(Instant /*now*/, Duration /*gap*/) override {}
    void finish_recording(Instant /*now*/) override { ++state_.recordings_finished; }
    [[nodiscard]] Instant next_deadline() const override { return state_.deadline; }
    [[nodiscard]] bool finished() const override { return state_.over; }

  protected:
    FakeState& state_;
};

class FakeProducer final : public FakeNode<ProducerNode> {
  public:
    using FakeNode::FakeNode;
    void on_chunks_sent(Instant /*now*/, StreamId stream, std::uint32_t first, std::uint32_t count,
                        Actions& /*out*/) override {
        state_.sent.push_back({stream, first, count});
    }
};

class FakeConsumer final : public FakeNode<ConsumerNode> {
  public:
    using FakeNode::FakeNode;
    void on_chunk(Instant /*now*/, PlaceId place, const ArrivedChunk& chunk, Actions& /*out*/) override {
        state_.chunks.emplace_back(place, chunk);
    }
};

class FakeScheduler final : public FakeNode<SchedulerNode> {
  public:
    using FakeNode::FakeNode;
    [[nodiscard]] Duration no_credit_time(Instant /*now*/) const override { return Duration{4711}; }
};

inline RankNode make_fake(FakeState& state, int rank, const Plan& plan, record::Latencies& latencies,
                          RowOutput& output) {
    switch (rank) {
        case producer_rank:
            return RankNode(
                std::make_unique<FakeProducer>(state, plan, ProducerId{0}, Instant{}, latencies, output));
        case consumer_rank:
            return RankNode(
                std::make_unique<FakeConsumer>(state, plan, ConsumerId{0}, Instant{}, latencies, output));
        default:
            return RankNode(std::make_unique<FakeScheduler>(state, plan, Instant{}, output));
    }
}

inline job::RunSettings rig_settings(Duration silence) {
    job::RunSettings settings;
    settings.plan.producers = 1;
    settings.plan.consumers = 1;
    settings.plan.duration = Duration::seconds(10);
    settings.plan.rate = {8000};
    settings.plan.interval = Duration::seconds(1);
    settings.plan.window = settings.plan.slots = settings.plan.streams = 1;
    settings.plan.event_size = {.kind = DistributionKind::fixed, .mean = 100, .trace = {}};
    settings.plan.slot_size = settings.plan.chunk_size = {100};
    settings.plan.buffer = {1000};
    settings.roles = RoleMap({{Role::producer, 0}, scheduler_node(), {Role::consumer, 0}});
    settings.set_locations({{"eb01", 0, {}, 0}, {"eb00", 0, {}, 0}, {"eb02", 0, {}, 0}});
    settings.silence_timeout = silence;
    return settings;
}

/// One rank of a scheduler, a producer and a consumer.
class Rig {
  public:
    explicit Rig(int rank, Duration silence = never_silent) : Rig(rank, runtime_settings(silence)) {}
    Rig(int rank, job::RunSettings run_settings, job::JobNews* news = nullptr)
        : run(std::move(run_settings)),
          heartbeat_clock(rank == scheduler_rank
                              ? job::HeartbeatClock(host::CommonClock(host::monotonic_ns()), 3)
                              : job::HeartbeatClock(host::CommonClock(host::monotonic_ns()), {},
                                                    host::monotonic_ns(), true)),
          collector(run.plan, {}),
          output(&log, [this](const LiveSample& report) { loop.send_report(report); }),
          rank_node(make_fake(node, rank, run.plan, latencies, nowhere)),
          processes(run.locations, rank),
          detector(run, rank, processes.ranks()),
          watchdog("weir run", "the rank under test"),
          loop({.settings = run,
                .rank = rank,
                .transport = transport,
                .node = rank_node,
                .clock = heartbeat_clock,
                .idle = idle,
                .processes = processes,
                .detector = detector,
                .watchdog = watchdog,
                .output = output,
                .collector = rank == scheduler_rank ? &collector : nullptr,
                .on_signal = [this](int number) { signals.push_back(number); },
                .on_missed = [this](int missed) { missed_ranks.push_back(missed); },
                .news = news,
                .on_loss = [this](const std::string& line) { losses.push_back(line); }}) {
        transport.on_poll = [this] {
            ++polls;
            if (clock.now() > Instant{} + Duration::seconds(30)) {
                throw std::runtime_error("the loop does not end");
            }
            if (each_poll) {
                each_poll();
            }
        };
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;
    ~Rig() = default;

    void notice(int from, const job::Notice& notice) {
        transport.receive(from, job::PacketKind::notice, notice);
    }
    void heartbeat(int from) {
        transport.receive(from, job::PacketKind::control, ControlMessage{Heartbeat{}});
    }
    /// In the third poll the notice of a signal: when the loop begins, no rank counts as silent.
    void signal_or_heartbeat(int from) {
        if (polls == 3) {
            notice(from, job::make_notice(job::Notice::Kind::signal, from, SIGTERM, {}));
        } else {
            heartbeat(from);
        }
    }
    /// The scheduler answers the first notice of a failure as it should.
    void answer_failures() {
        each_poll = [this] {
            if (!answered &&
                !transport.sent_to<job::Notice>(scheduler_rank, job::PacketKind::notice).empty()) {
                answered = true;
                notice(scheduler_rank,
                       job::make_notice(job::Notice::Kind::leave, scheduler_rank, exit_failed, {}));
            }
        };
    }
    /// The only notice that was sent to the scheduler's rank.
    [[nodiscard]] job::Notice only_notice() const {
        const auto notices = transport.sent_to<job::Notice>(scheduler_rank, job::PacketKind::notice);
        REQUIRE(notices.size() == 1);
        return notices[0];
    }

    job::RunSettings run;
    FakeTransport transport;
    FakeState node;
    job::HeartbeatClock heartbeat_clock;
    const host::CommonClock& clock = heartbeat_clock.clock();
    host::IdleStrategy idle{host::IdleMode::nap, Duration::microseconds(500)};
    SecondCollector collector;
    record::CsvLog log;
    RowOutput output;
    record::Latencies latencies;
    RowOutput nowhere{nullptr, [](const LiveSample&) {}};  ///< for the rows of the fake node
    RankNode rank_node;
    host::ProcessWatch processes;
    ending::FailureDetector detector;
    job::Watchdog watchdog;
    RankLoop loop;
    std::function<void()> each_poll;
    std::vector<int> signals;         ///< that were to be recorded at once
    std::vector<int> missed_ranks;    ///< that began to be missed; -1: none was any more
    std::vector<std::string> losses;  ///< what was said of consumers that are lost or back
    int polls = 0;
    bool answered = false;

  private:
    static job::RunSettings runtime_settings(Duration silence) { return rig_settings(silence); }
};

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// A process that does nothing until it is killed.
inline pid_t start_child() {
    const pid_t pid = fork();
    if (pid == 0) {
        while (true) {
            pause();
        }
    }
    REQUIRE(pid > 0);
    return pid;
}

inline void end_child(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
}

}  // namespace weir::loop::test
