// The loop of a rank, over a transport without a network and a node that does as it is told: what it carries
// out, and every way in which a run ends. The clock is real; limits are short, and no test depends on being
// fast.
#include "runtime/rank_loop.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "catch.hpp"
#include "participant/exit_status.hpp"
#include "runtime/signals.hpp"
#include "unit/runtime/fake_transport.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::runtime;
using weir::telemetry::SecondCollector;
using weir::telemetry::SecondReport;
using Kind = LoopEnd::Kind;

namespace {

constexpr int scheduler_rank = 1;
constexpr int producer_rank = 0;
constexpr int consumer_rank = 2;
constexpr Duration never_silent = Duration::seconds(60);

/// What a fake node does, and what reached it.
struct FakeState {
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
    [[nodiscard]] Instant next_deadline() const override { return Instant::never(); }
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

RankNode make_fake(FakeState& state, int rank, const Plan& plan, weir::telemetry::Latencies& latencies,
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

RunSettings settings(Duration silence) {
    RunSettings settings;
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
    settings.set_places({{"eb01", 0, {}, 0}, {"eb00", 0, {}, 0}, {"eb02", 0, {}, 0}});
    settings.silence_timeout = silence;
    return settings;
}

/// One rank of a scheduler, a producer and a consumer.
class Rig {
  public:
    explicit Rig(int rank, Duration silence = never_silent) : Rig(rank, runtime_settings(silence)) {}
    Rig(int rank, RunSettings run_settings)
        : run(std::move(run_settings)),
          heartbeat_clock(rank == scheduler_rank
                              ? HeartbeatClock(CommonClock(monotonic_ns()), 3)
                              : HeartbeatClock(CommonClock(monotonic_ns()), {}, monotonic_ns(), true)),
          collector(run.plan, {}),
          output(&log, [this](const SecondReport& report) { loop.take_report(report); }),
          rank_node(make_fake(node, rank, run.plan, latencies, nowhere)),
          watch(run.places, rank, clock.now()),
          watchdog("weir run", "the rank under test"),
          loop({.settings = run,
                .rank = rank,
                .transport = transport,
                .node = rank_node,
                .clock = heartbeat_clock,
                .idle = idle,
                .watch = watch,
                .watchdog = watchdog,
                .output = output,
                .collector = rank == scheduler_rank ? &collector : nullptr,
                .on_signal = [this](int number) { signals.push_back(number); },
                .on_silence = [this](int missed) { silences.push_back(missed); }}) {
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

    void notice(int from, const Notice& notice) { transport.receive(from, PacketKind::notice, notice); }
    void heartbeat(int from) {
        transport.receive(from, PacketKind::control, ControlMessage{.kind = MessageKind::heartbeat});
    }
    /// In the third poll the notice of a signal: when the loop begins, all ranks count as heard.
    void signal_or_heartbeat(int from) {
        if (polls == 3) {
            notice(from, make_notice(EndReason::interrupted, from, SIGTERM, {}));
        } else {
            heartbeat(from);
        }
    }
    /// The scheduler answers the first notice of a failure as it should.
    void answer_failures() {
        each_poll = [this] {
            if (!answered && !transport.sent_to<Notice>(scheduler_rank, PacketKind::notice).empty()) {
                answered = true;
                notice(scheduler_rank, make_notice(EndReason::ended, scheduler_rank, exit_failed, {}));
            }
        };
    }
    /// The only notice that was sent to the scheduler's rank.
    [[nodiscard]] Notice only_notice() const {
        const auto notices = transport.sent_to<Notice>(scheduler_rank, PacketKind::notice);
        REQUIRE(notices.size() == 1);
        return notices[0];
    }

    RunSettings run;
    test::FakeTransport transport;
    FakeState node;
    HeartbeatClock heartbeat_clock;
    const CommonClock& clock = heartbeat_clock.clock();
    IdleStrategy idle{IdleMode::nap, Duration::microseconds(500)};
    SecondCollector collector;
    weir::telemetry::CsvLog log;
    RowOutput output;
    weir::telemetry::Latencies latencies;
    RowOutput nowhere{nullptr, [](const SecondReport&) {}};  ///< for the rows of the fake node
    RankNode rank_node;
    PeerWatch watch;
    Watchdog watchdog;
    RankLoop loop;
    std::function<void()> each_poll;
    std::vector<int> signals;   ///< that the loop has told of
    std::vector<int> silences;  ///< likewise: the rank that is missed, or -1
    int polls = 0;
    bool answered = false;

  private:
    static RunSettings runtime_settings(Duration silence) { return settings(silence); }
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// A process that does nothing until it is killed.
pid_t start_child() {
    const pid_t pid = fork();
    if (pid == 0) {
        while (true) {
            pause();
        }
    }
    REQUIRE(pid > 0);
    return pid;
}

void end_child(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
}

}  // namespace

TEST_CASE("A rank that is told to leave returns the status that it was told") {
    Rig rig(consumer_rank);
    rig.notice(scheduler_rank, make_notice(EndReason::ended, scheduler_rank, 130, {}));
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::told);
    CHECK(end.status == 130);
    CHECK(rig.node.recordings_finished == 0);
}

TEST_CASE("A rank that hears that the protocol is through ends regularly and closes its last row") {
    Rig rig(producer_rank);
    rig.notice(scheduler_rank, make_notice(EndReason::none, scheduler_rank, 0, {}));
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::regular);
    CHECK(rig.node.recordings_finished == 1);
}

TEST_CASE("The scheduler's rank ends when its node is finished and tells the others") {
    Rig rig(scheduler_rank);
    rig.node.over = true;
    CHECK(rig.loop.run().kind == Kind::regular);
    CHECK(rig.node.recordings_finished == 1);
    for (const int rank : {producer_rank, consumer_rank}) {
        const auto notices = rig.transport.sent_to<Notice>(rank, PacketKind::notice);
        REQUIRE(notices.size() == 1);
        CHECK(notices[0].reason == EndReason::none);
    }
    CHECK(rig.transport.sent_to<Notice>(scheduler_rank, PacketKind::notice).empty());
}

TEST_CASE("Slots are opened before chunks go and chunks before messages") {
    Rig rig(producer_rank);
    Actions& out = rig.node.at_start;
    out.close_places = true;
    out.messages.push_back({scheduler_node(), {.kind = MessageKind::offer, .events = 9}});
    out.messages.push_back({{Role::consumer, 0}, {.kind = MessageKind::decline}});
    out.chunks.emplace_back().chunk.sequence = 5;
    out.open_places.push_back({3});
    rig.notice(scheduler_rank, make_notice(EndReason::none, scheduler_rank, 0, {}));
    rig.loop.run();
    REQUIRE(rig.transport.calls.size() >= 5);
    rig.transport.calls.resize(5);
    CHECK(rig.transport.calls ==
          std::vector<std::string>{"open 3", "chunk 5", "packet 1", "packet 2", "close"});
    const auto messages = rig.transport.sent_to<ControlMessage>(scheduler_rank, PacketKind::control);
    REQUIRE_FALSE(messages.empty());
    CHECK(messages[0].events == 9);
}

TEST_CASE("What arrives reaches the node with the part that its rank plays") {
    Rig rig(consumer_rank);
    rig.transport.receive(producer_rank, PacketKind::control,
                          ControlMessage{.kind = MessageKind::decline, .slot = 3});
    weir::transport::ChunkArrived& chunk = rig.transport.arriving.emplace_back();
    chunk.place = {1};
    chunk.source = {producer_rank};
    chunk.header_intact = false;
    chunk.chunk.sequence = 7;
    rig.notice(scheduler_rank, make_notice(EndReason::none, scheduler_rank, 0, {}));
    rig.loop.run();
    REQUIRE(rig.node.messages.size() == 1);
    CHECK(rig.node.messages[0].first == NodeId{Role::producer, 0});
    CHECK(rig.node.messages[0].second.slot == 3);
    REQUIRE(rig.node.chunks.size() == 1);
    CHECK(rig.node.chunks[0].first == PlaceId{1});
    CHECK(rig.node.chunks[0].second.source == NodeId{Role::producer, 0});
    CHECK_FALSE(rig.node.chunks[0].second.header_intact);
    CHECK(rig.node.chunks[0].second.chunk.sequence == 7);
}

TEST_CASE("Chunks of one stream that left one after the other reach the producer together") {
    Rig rig(producer_rank);
    for (const weir::transport::ChunkSent& sent :
         {weir::transport::ChunkSent{{2}, 8}, {{2}, 9}, {{2}, 10}, {{1}, 11}, {{1}, 0}, {{1}, 2}}) {
        rig.transport.leaving.push_back(sent);
    }
    rig.notice(scheduler_rank, make_notice(EndReason::none, scheduler_rank, 0, {}));
    rig.loop.run();
    using Sent = FakeState::Sent;
    CHECK(rig.node.sent == std::vector<Sent>{{{2}, 8, 3}, {{1}, 11, 1}, {{1}, 0, 1}, {{1}, 2, 1}});
}

TEST_CASE("Reports of rows go to the scheduler's rank and are collected there") {
    SecondReport report;
    report.node = {Role::consumer, 0};
    report.moved = {12345};
    Rig consumer(consumer_rank);
    consumer.loop.take_report(report);
    const auto sent = consumer.transport.sent_to<SecondReport>(scheduler_rank, PacketKind::report);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].moved == Bytes{12345});

    Rig scheduler(scheduler_rank);
    scheduler.transport.receive(consumer_rank, PacketKind::report, sent[0]);
    scheduler.each_poll = [&] { scheduler.node.over = scheduler.polls > 2; };
    scheduler.loop.run();
    REQUIRE(scheduler.collector.latest({Role::consumer, 0}) != nullptr);
    CHECK(scheduler.collector.latest({Role::consumer, 0})->moved == Bytes{12345});
    report.node = scheduler_node();
    scheduler.loop.take_report(report);
    CHECK(scheduler.collector.latest(scheduler_node()) != nullptr);
}

TEST_CASE("Ranks send signs of life and the scheduler's carry the time without credit") {
    Rig consumer(consumer_rank);
    consumer.notice(scheduler_rank, make_notice(EndReason::none, scheduler_rank, 0, {}));
    consumer.loop.run();
    const auto from_consumer =
        consumer.transport.sent_to<ControlMessage>(scheduler_rank, PacketKind::control);
    REQUIRE(from_consumer.size() == 1);
    CHECK(from_consumer[0].kind == MessageKind::heartbeat);

    Rig scheduler(scheduler_rank);
    scheduler.node.over = true;
    scheduler.loop.run();
    for (const int rank : {producer_rank, consumer_rank}) {
        const auto to_rank = scheduler.transport.sent_to<ControlMessage>(rank, PacketKind::control);
        REQUIRE(to_rank.size() == 1);
        CHECK(to_rank[0].kind == MessageKind::heartbeat);
        CHECK(to_rank[0].bytes == 4711);
    }
}

TEST_CASE("Heartbeats tell when they left, and the scheduler's when it took the rank's last one") {
    const std::int64_t before_ns = monotonic_ns();
    Rig consumer(consumer_rank);
    consumer.notice(scheduler_rank, make_notice(EndReason::none, scheduler_rank, 0, {}));
    consumer.loop.run();
    const auto from_consumer =
        consumer.transport.sent_to<ControlMessage>(scheduler_rank, PacketKind::control);
    REQUIRE_FALSE(from_consumer.empty());
    const auto left_ns = static_cast<std::int64_t>(from_consumer[0].event);
    CHECK(left_ns >= before_ns);
    CHECK(left_ns <= monotonic_ns());

    Rig scheduler(scheduler_rank);
    scheduler.transport.receive(consumer_rank, PacketKind::control, from_consumer[0]);
    scheduler.each_poll = [&] { scheduler.node.over = scheduler.polls > 1; };
    scheduler.loop.run();
    const auto to_consumer = scheduler.transport.sent_to<ControlMessage>(consumer_rank, PacketKind::control);
    REQUIRE_FALSE(to_consumer.empty());
    CHECK(to_consumer[0].events == from_consumer[0].event);
    CHECK(static_cast<std::int64_t>(to_consumer[0].hash) >= left_ns);
    CHECK(to_consumer[0].event >= to_consumer[0].hash);
}

TEST_CASE("A silent scheduler is lost") {
    Rig rig(consumer_rank, Duration::milliseconds(250));
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::scheduler_lost);
    CHECK(end.failure.rank == scheduler_rank);
    CHECK(end.failure.host == "eb00");
    CHECK(contains(end.failure.what, "rank 1 (scheduler on eb00) has not been heard"));
    CHECK(rig.clock.now() >= Instant{} + Duration::milliseconds(250));
}

TEST_CASE("A scheduler that is heard now and then is not lost") {
    Rig rig(consumer_rank, Duration::milliseconds(250));
    rig.each_poll = [&] {
        if (rig.clock.now() > Instant{} + Duration::milliseconds(600)) {
            rig.notice(scheduler_rank, make_notice(EndReason::ended, scheduler_rank, 0, {}));
        } else {
            rig.heartbeat(scheduler_rank);
        }
    };
    CHECK(rig.loop.run().kind == Kind::told);
}

TEST_CASE("Of several ranks the silent one is named by the scheduler's rank") {
    Rig rig(scheduler_rank, Duration::milliseconds(250));
    rig.each_poll = [&] { rig.heartbeat(producer_rank); };
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.status == exit_failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.role == "consumer 0");
    CHECK(end.failure.host == "eb02");
    CHECK(contains(end.failure.what, "rank 2 (consumer 0 on eb02) has not been heard"));
}

TEST_CASE("A scheduler that hears no other host names its own") {
    Rig rig(scheduler_rank, Duration::milliseconds(250));
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == scheduler_rank);
    CHECK(end.failure.host == "eb00");
    CHECK(contains(end.failure.what, "hears no other host any more"));
}

TEST_CASE("The scheduler's rank tells when a rank begins to be missed and when all are heard again") {
    Rig rig(scheduler_rank, Duration::seconds(1));
    rig.each_poll = [&] {
        // A poll hands out one packet.
        rig.heartbeat(rig.silences.empty() || rig.polls % 2 == 0 ? producer_rank : consumer_rank);
        rig.node.over = rig.silences.size() > 1;
    };
    CHECK(rig.loop.run().kind == Kind::regular);
    CHECK(rig.silences == std::vector<int>{consumer_rank, -1});
}

TEST_CASE("A packet that nobody can read is a failure") {
    const test::Packet garbage{producer_rank, std::vector<std::byte>(5)};
    test::Packet cut{producer_rank, {}};
    encode_packet(PacketKind::control, std::span<const ControlMessage>(std::vector<ControlMessage>(2)),
                  cut.bytes);
    cut.bytes.pop_back();
    test::Packet cut_notice{producer_rank, {}};
    const Notice notice;
    encode_packet(PacketKind::notice, std::span(&notice, 1), cut_notice.bytes);
    cut_notice.bytes.pop_back();
    test::Packet unknown{producer_rank, {}};
    encode_packet(static_cast<PacketKind>(77), std::span<const ControlMessage>{}, unknown.bytes);
    test::Packet of_another{producer_rank, {}};
    SecondReport report;
    report.node = {Role::consumer, 0};
    encode_packet(PacketKind::report, std::span<const SecondReport>(&report, 1), of_another.bytes);
    for (const test::Packet& packet : {garbage, cut, cut_notice, unknown, of_another}) {
        Rig scheduler(scheduler_rank);
        scheduler.transport.inbox.push_back(packet);
        const LoopEnd end = scheduler.loop.run();
        CHECK(end.kind == Kind::failed);
        CHECK(contains(end.failure.what, "from rank 0 (producer 0 on eb01)"));

        Rig consumer(consumer_rank);
        consumer.transport.inbox.push_back(packet);
        consumer.answer_failures();
        CHECK(consumer.loop.run().kind == Kind::told);
        CHECK(consumer.only_notice().reason == EndReason::rank_failed);
        CHECK(consumer.only_notice().rank == consumer_rank);
        CHECK(contains(consumer.only_notice().text, "rank 2 (consumer 0 on eb02): "));
        CHECK(contains(consumer.only_notice().text, "from rank 0 (producer 0 on eb01)"));
        CHECK(consumer.node.messages.empty());
    }
}

TEST_CASE("A report to a rank that collects none is a failure") {
    Rig rig(consumer_rank);
    rig.transport.receive(producer_rank, PacketKind::report, SecondReport{});
    rig.answer_failures();
    CHECK(rig.loop.run().kind == Kind::told);
    CHECK(rig.only_notice().reason == EndReason::rank_failed);
}

TEST_CASE("Notices that make no sense are a failure") {
    for (const Notice& wrong :
         {make_notice(EndReason::rank_gone, 3, 0, {}), make_notice(EndReason::none, -1, 0, {}),
          make_notice(static_cast<EndReason>(77), 0, 0, {})}) {
        Rig rig(scheduler_rank);
        rig.notice(producer_rank, wrong);
        const LoopEnd end = rig.loop.run();
        CHECK(end.kind == Kind::failed);
        CHECK(contains(end.failure.what, "a notice"));
    }
}

TEST_CASE("A text without end in a notice is cut") {
    Rig rig(scheduler_rank);
    Notice notice = make_notice(EndReason::rank_failed, consumer_rank, 0, {});
    std::fill(std::begin(notice.text), std::end(notice.text), 'x');
    rig.notice(consumer_rank, notice);
    CHECK(rig.loop.run().failure.what == std::string(sizeof notice.text, 'x'));
}

TEST_CASE("A rank that cannot go on is believed by the scheduler's rank") {
    Rig rig(scheduler_rank);
    rig.notice(consumer_rank,
               make_notice(EndReason::rank_failed, consumer_rank, 0, "rank 2: the disk is full"));
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.status == exit_failed);
    CHECK(end.failure.what == "rank 2: the disk is full");
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.role == "consumer 0");
    CHECK(end.failure.host == "eb02");
}

TEST_CASE("Only the scheduler's rank decides that another rank has failed") {
    Rig rig(consumer_rank);
    rig.notice(producer_rank, make_notice(EndReason::rank_failed, producer_rank, 0, "no"));
    rig.notice(scheduler_rank, make_notice(EndReason::ended, scheduler_rank, 3, {}));
    CHECK(rig.loop.run().kind == Kind::told);
}

TEST_CASE("A rank that was away itself says nothing about the others for a while") {
    Rig rig(scheduler_rank, Duration::milliseconds(300));
    rig.each_poll = [&] {
        rig.heartbeat(producer_rank);
        rig.heartbeat(consumer_rank);
        if (rig.polls == 1) {
            usleep(200000);
            rig.transport.inbox.clear();
            rig.heartbeat(producer_rank);
            rig.notice(consumer_rank,
                       make_notice(EndReason::rank_failed, consumer_rank, 0, "gone meanwhile"));
        }
        rig.node.over = rig.polls > 10;
    };
    CHECK(rig.loop.run().kind == Kind::regular);
}

TEST_CASE("A rank that was stopped within a turn believes neither the signal nor the death that woke it") {
    // What mpirun does to a stopped scheduler whose deputy ended the run: SIGCONT and SIGTERM, while the
    // deputy is gone already. In a process of its own: a signal that was caught stays caught.
    const pid_t parent = fork();
    if (parent == 0) {
        install_signal_handlers();
        RunSettings run = settings(Duration::milliseconds(300));
        const pid_t deputy = start_child();
        run.set_places({{"here", deputy, {}, 0}, {"here", getpid(), {}, 0}, {"there", 0, {}, 0}});
        Rig rig(scheduler_rank, run);
        rig.each_poll = [&] {
            rig.heartbeat(consumer_rank);
            if (rig.polls == 3) {
                usleep(200000);
                end_child(deputy);
                raise(SIGTERM);
            }
        };
        const LoopEnd end = rig.loop.run();
        _exit(end.kind == Kind::told ? 0 : 1 + static_cast<int>(end.kind));
    }
    int status = 0;
    waitpid(parent, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("A rank that was stopped waits for the SIGTERM that mpirun sends a second after SIGCONT") {
    const pid_t parent = fork();
    if (parent == 0) {
        install_signal_handlers();
        RunSettings run = settings(Duration::milliseconds(300));
        const pid_t deputy = start_child();
        run.set_places({{"here", deputy, {}, 0}, {"here", getpid(), {}, 0}, {"there", 0, {}, 0}});
        Rig rig(scheduler_rank, run);
        Instant woken = Instant::never();
        rig.each_poll = [&] {
            rig.heartbeat(consumer_rank);
            if (rig.polls == 3) {
                end_child(deputy);
                usleep(200000);
                woken = rig.clock.now();
            }
            if (rig.clock.now() - Duration::milliseconds(1300) > woken) {
                raise(SIGTERM);
            }
        };
        const LoopEnd end = rig.loop.run();
        _exit(end.kind == Kind::told ? 0 : 1 + static_cast<int>(end.kind));
    }
    int status = 0;
    waitpid(parent, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("An interruption that another rank noticed ends the run after a moment") {
    Rig rig(scheduler_rank);
    rig.notice(consumer_rank, make_notice(EndReason::interrupted, consumer_rank, SIGINT, {}));
    rig.each_poll = [&] { rig.heartbeat(rig.polls % 2 == 0 ? producer_rank : consumer_rank); };
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::interrupted);
    CHECK(end.signal == SIGINT);
    CHECK(rig.clock.now() >= Instant{} + RankLoop::settle_signal);
    CHECK(rig.signals.empty());
}

TEST_CASE("A rank on another host that falls silent when a signal comes is the reason for the end") {
    Rig rig(scheduler_rank);
    rig.each_poll = [&] { rig.signal_or_heartbeat(producer_rank); };
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.host == "eb02");
    CHECK(contains(end.failure.what, "rank 2 (consumer 0 on eb02) fell silent, and signal 15"));
    CHECK(rig.clock.now() >= Instant{} + RankLoop::settle_signal + RankLoop::settle_silence);
    // Told before the wait: whoever sent the signal may not leave the time for it.
    CHECK(rig.signals == std::vector<int>{SIGTERM});
}

TEST_CASE("A rank that is heard late after a signal is not blamed for it") {
    Rig rig(scheduler_rank);
    bool heard = false;
    rig.each_poll = [&] {
        const bool now = !rig.signals.empty() && !heard;
        heard = heard || now;
        rig.signal_or_heartbeat(now ? consumer_rank : producer_rank);
    };
    const LoopEnd end = rig.loop.run();
    CHECK(heard);
    CHECK(end.kind == Kind::interrupted);
    CHECK(end.signal == SIGTERM);
}

TEST_CASE("A death that shows while a signal is looked at is the reason for the end") {
    Rig rig(scheduler_rank);
    rig.notice(producer_rank, make_notice(EndReason::interrupted, producer_rank, SIGTERM, {}));
    rig.notice(producer_rank, make_notice(EndReason::rank_gone, consumer_rank, 0, "rank 2 is gone"));
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
}

TEST_CASE("A signal to this rank is looked at and passed on") {
    // In a process of its own: a signal that was caught stays caught.
    const auto end_of = [](int rank) {
        const pid_t pid = fork();
        if (pid == 0) {
            install_signal_handlers();
            Rig rig(rank);
            rig.answer_failures();
            const auto answer = rig.each_poll;
            rig.each_poll = [&] {
                if (rig.polls == 3) {
                    raise(SIGTERM);
                }
                answer();
            };
            const LoopEnd end = rig.loop.run();
            const auto notices = rig.transport.sent_to<Notice>(scheduler_rank, PacketKind::notice);
            const bool passed_on = notices.size() == 1 && notices[0].reason == EndReason::interrupted &&
                                   notices[0].detail == SIGTERM && notices[0].rank == rank;
            _exit(static_cast<int>(end.kind) * 2 + (passed_on ? 1 : 0));
        }
        int status = 0;
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    CHECK(end_of(scheduler_rank) == static_cast<int>(Kind::interrupted) * 2);
    CHECK(end_of(consumer_rank) == static_cast<int>(Kind::told) * 2 + 1);
}

TEST_CASE("A signalled rank that the scheduler's does not answer says that somebody else may be the reason") {
    // In a process of its own: a signal that was caught stays caught.
    const pid_t pid = fork();
    if (pid == 0) {
        install_signal_handlers();
        Rig rig(consumer_rank);
        rig.each_poll = [&] {
            if (rig.polls == 3) {
                raise(SIGTERM);
            }
        };
        const LoopEnd end = rig.loop.run();
        const bool as_expected =
            end.kind == Kind::scheduler_lost && end.failure.rank == scheduler_rank &&
            end.failure.what ==
                "signal 15 (Terminated) came, and rank 1 (scheduler on eb00) did not answer; if "
                "another rank has died, the launcher names it";
        _exit(as_expected ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("The process of a peer that is gone ends the run") {
    RunSettings run = settings(never_silent);
    const pid_t child = start_child();
    run.set_places({{"here", 0, {}, 0}, {"here", getpid(), {}, 0}, {"here", child, {}, 0}});
    Rig rig(scheduler_rank, run);
    end_child(child);
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(contains(end.failure.what, "rank 2 (consumer 0 on here) is gone"));
}

TEST_CASE("The death of a peer is told to the scheduler's rank") {
    RunSettings run = settings(never_silent);
    const pid_t child = start_child();
    run.set_places({{"here", child, {}, 0}, {"there", 0, {}, 0}, {"here", getpid(), {}, 0}});
    Rig rig(consumer_rank, run);
    end_child(child);
    rig.answer_failures();
    CHECK(rig.loop.run().kind == Kind::told);
    CHECK(rig.only_notice().reason == EndReason::rank_gone);
    CHECK(rig.only_notice().rank == producer_rank);
}

TEST_CASE("The scheduler's process that is gone is lost at once") {
    RunSettings run = settings(never_silent);
    const pid_t child = start_child();
    run.set_places({{"there", 0, {}, 0}, {"here", child, {}, 0}, {"here", getpid(), {}, 0}});
    Rig rig(consumer_rank, run);
    end_child(child);
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::scheduler_lost);
    CHECK(end.failure.rank == scheduler_rank);
    CHECK(contains(end.failure.what, "is gone"));
}

TEST_CASE("A network that breaks ends the run on every rank") {
    const auto break_it = [](Rig& rig) {
        rig.each_poll = [] { throw weir::transport::TransportError("MPI_Testsome", {0}, "out of order"); };
    };
    Rig scheduler(scheduler_rank);
    break_it(scheduler);
    const LoopEnd failed = scheduler.loop.run();
    CHECK(failed.kind == Kind::failed);
    CHECK(failed.failure.rank == producer_rank);
    CHECK(failed.failure.host == "eb01");
    CHECK(failed.failure.what ==
          "rank 1 (scheduler on eb00) and rank 0 (producer 0 on eb01) cannot talk to each other any more: "
          "MPI_Testsome with rank 0: out of order");

    Rig consumer(consumer_rank);
    break_it(consumer);
    const LoopEnd lost = consumer.loop.run();
    CHECK(lost.kind == Kind::scheduler_lost);
    CHECK(lost.failure.rank == producer_rank);
    CHECK(consumer.only_notice().reason == EndReason::rank_failed);
    CHECK(consumer.only_notice().rank == producer_rank);
    CHECK(
        contains(consumer.only_notice().text, "rank 2 (consumer 0 on eb02) and rank 0 (producer 0 on eb01)"));
}

TEST_CASE("A network that breaks because a peer has died is the death of that peer") {
    RunSettings run = settings(never_silent);
    const pid_t child = start_child();
    run.set_places({{"here", 0, {}, 0}, {"here", getpid(), {}, 0}, {"here", child, {}, 0}});
    Rig rig(scheduler_rank, run);
    end_child(child);
    rig.each_poll = [] { throw weir::transport::TransportError("MPI_Isend", {2}, "connection reset"); };
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(contains(end.failure.what, "is gone"));
}

TEST_CASE("A rank that failed because a peer has died is not the one to be named") {
    RunSettings run = settings(never_silent);
    const pid_t child = start_child();
    run.set_places({{"there", 0, {}, 0}, {"here", getpid(), {}, 0}, {"here", child, {}, 0}});
    Rig rig(scheduler_rank, run);
    end_child(child);
    rig.notice(producer_rank, make_notice(EndReason::rank_failed, producer_rank, 0, "MPI_Rput with rank 2"));
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(contains(end.failure.what, "is gone"));
}

TEST_CASE("A rank whose own network breaks does not blame the scheduler's rank") {
    Rig rig(consumer_rank);
    rig.each_poll = [] { throw weir::transport::TransportError("MPI_Testsome", {-1}, "out of order"); };
    const LoopEnd end = rig.loop.run();
    CHECK(end.kind == Kind::scheduler_lost);
    CHECK(end.failure.what == "rank 2 (consumer 0 on eb02): MPI_Testsome: out of order");
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.host == "eb02");
}

TEST_CASE("A fault in the data is listed and the run goes on") {
    Rig rig(scheduler_rank);
    rig.node.at_time = [](Instant, Actions& out) {
        for (int fault = 0; fault < 60; ++fault) {
            out.faults.push_back({.kind = Fault::Kind::duplicate_chunk, .sequence = 3});
        }
    };
    rig.each_poll = [&] { rig.node.over = rig.polls == 3; };
    CHECK(rig.loop.run().kind == Kind::regular);
    CHECK(rig.loop.fault_count() == 180);
    REQUIRE(rig.loop.faults().size() == weir::telemetry::RunRecord::listed_max);
    CHECK(rig.loop.faults()[0].sequence == 3);
}

TEST_CASE("A violation of the protocol ends the run") {
    Actions violation;
    violation.faults.push_back({.source = {Role::producer, 0}, .detail = "that cannot be"});
    Rig scheduler(scheduler_rank);
    scheduler.node.at_start = violation;
    const LoopEnd end = scheduler.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(contains(end.failure.what, "that cannot be"));
    CHECK(scheduler.loop.fault_count() == 1);

    Rig consumer(consumer_rank);
    consumer.node.at_start = violation;
    consumer.answer_failures();
    CHECK(consumer.loop.run().kind == Kind::told);
    CHECK(contains(consumer.only_notice().text, "that cannot be"));
}

TEST_CASE("A log that cannot be written ends the run") {
    Rig rig(consumer_rank);
    REQUIRE(rig.log.open("/dev/full", Role::consumer, {}));
    rig.output.put(weir::telemetry::ConsumerRow{}, {});
    rig.answer_failures();
    CHECK(rig.loop.run().kind == Kind::told);
    CHECK(rig.only_notice().reason == EndReason::rank_failed);
    CHECK(contains(rig.only_notice().text, "cannot write /dev/full: No space left on device"));
}

TEST_CASE("All other ranks are told to leave with the same status") {
    Rig rig(scheduler_rank);
    rig.loop.tell_all_to_leave(143);
    for (const int rank : {producer_rank, consumer_rank}) {
        const auto notices = rig.transport.sent_to<Notice>(rank, PacketKind::notice);
        REQUIRE(notices.size() == 1);
        CHECK(notices[0].reason == EndReason::ended);
        CHECK(notices[0].detail == 143);
    }
    CHECK(rig.transport.packets.size() == 2);
}
