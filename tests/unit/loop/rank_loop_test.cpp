// What the loop of a rank carries out, sends and receives until the protocol is complete.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "catch.hpp"
#include "host/signals.hpp"
#include "rank_loop_rig.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::ending;
using namespace weir::host;
using namespace weir::job;
using namespace weir::loop;
using namespace weir::loop::test;

TEST_CASE("A rank that is ordered to leave returns the ordered status") {
    Rig rig(consumer_rank);
    rig.notice(scheduler_rank, make_notice(Notice::Kind::leave, scheduler_rank, 130, {}));
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::leave);
    CHECK(end.status == 130);
    CHECK(rig.node.recordings_finished == 0);
}

TEST_CASE("A rank that is notified that the protocol is complete ends and closes its last row") {
    Rig rig(producer_rank);
    rig.notice(scheduler_rank, make_notice(Notice::Kind::complete, scheduler_rank, 0, {}));
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::complete);
    CHECK(rig.node.recordings_finished == 1);
}

TEST_CASE("The leader ends when its node is finished and notifies the others") {
    Rig rig(scheduler_rank);
    rig.node.over = true;
    CHECK(rig.loop.run().kind == Kind::complete);
    CHECK(rig.node.recordings_finished == 1);
    for (const int rank : {producer_rank, consumer_rank}) {
        const auto notices = rig.transport.sent_to<Notice>(rank, PacketKind::notice);
        REQUIRE(notices.size() == 1);
        CHECK(notices[0].kind == Notice::Kind::complete);
    }
    CHECK(rig.transport.sent_to<Notice>(scheduler_rank, PacketKind::notice).empty());
}

TEST_CASE("Places are opened before chunks go and chunks before messages") {
    Rig rig(producer_rank);
    Actions& out = rig.node.at_start;
    out.close_places = true;
    out.messages.push_back({scheduler_node(), Offer{{9, {0}}}});
    out.messages.push_back({{Role::consumer, 0}, Decline{{0}, {0}}});
    out.chunks.emplace_back().chunk.sequence = 5;
    out.open_places.push_back({3});
    rig.notice(scheduler_rank, make_notice(Notice::Kind::complete, scheduler_rank, 0, {}));
    rig.loop.run();
    REQUIRE(rig.transport.calls.size() >= 5);
    rig.transport.calls.resize(5);
    CHECK(rig.transport.calls ==
          std::vector<std::string>{"open 3", "chunk 5", "packet 1", "packet 2", "close"});
    const auto messages = rig.transport.sent_to<ControlMessage>(scheduler_rank, PacketKind::control);
    REQUIRE_FALSE(messages.empty());
    CHECK(std::get<Offer>(messages[0]).offered.events == 9);
}

TEST_CASE("What arrives reaches the node with the part that its rank plays") {
    Rig rig(consumer_rank);
    rig.transport.receive(producer_rank, PacketKind::control, ControlMessage{Decline{{0}, {3}}});
    weir::transport::ChunkArrived& chunk = rig.transport.arriving.emplace_back();
    chunk.place = {1};
    chunk.source = {producer_rank};
    chunk.header_intact = false;
    chunk.chunk.sequence = 7;
    rig.notice(scheduler_rank, make_notice(Notice::Kind::complete, scheduler_rank, 0, {}));
    rig.loop.run();
    REQUIRE(rig.node.messages.size() == 1);
    CHECK(rig.node.messages[0].first == NodeId{Role::producer, 0});
    CHECK(std::get<Decline>(rig.node.messages[0].second).place == PlaceId{3});
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
    rig.notice(scheduler_rank, make_notice(Notice::Kind::complete, scheduler_rank, 0, {}));
    rig.loop.run();
    using Sent = FakeState::Sent;
    CHECK(rig.node.sent == std::vector<Sent>{{{2}, 8, 3}, {{1}, 11, 1}, {{1}, 0, 1}, {{1}, 2, 1}});
}

TEST_CASE("Reports of rows go to the leader and are collected there") {
    LiveSample report;
    report.node = {Role::consumer, 0};
    report.moved = {12345};
    Rig consumer(consumer_rank);
    consumer.loop.send_report(report);
    const auto sent = consumer.transport.sent_to<LiveSample>(scheduler_rank, PacketKind::report);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].moved == Bytes{12345});

    Rig scheduler(scheduler_rank);
    scheduler.transport.receive(consumer_rank, PacketKind::report, sent[0]);
    scheduler.each_poll = [&] { scheduler.node.over = scheduler.polls > 2; };
    scheduler.loop.run();
    REQUIRE(scheduler.collector.latest({Role::consumer, 0}) != nullptr);
    CHECK(scheduler.collector.latest({Role::consumer, 0})->moved == Bytes{12345});
    report.node = scheduler_node();
    scheduler.loop.send_report(report);
    CHECK(scheduler.collector.latest(scheduler_node()) != nullptr);
}

TEST_CASE("Ranks send heartbeats and the scheduler's carry the time without credit") {
    Rig consumer(consumer_rank);
    consumer.notice(scheduler_rank, make_notice(Notice::Kind::complete, scheduler_rank, 0, {}));
    consumer.loop.run();
    const auto from_consumer =
        consumer.transport.sent_to<ControlMessage>(scheduler_rank, PacketKind::control);
    REQUIRE(from_consumer.size() == 1);
    CHECK(std::holds_alternative<Heartbeat>(from_consumer[0]));

    Rig scheduler(scheduler_rank);
    scheduler.node.over = true;
    scheduler.loop.run();
    for (const int rank : {producer_rank, consumer_rank}) {
        const auto to_rank = scheduler.transport.sent_to<ControlMessage>(rank, PacketKind::control);
        REQUIRE(to_rank.size() == 1);
        CHECK(std::get<Heartbeat>(to_rank[0]).no_credit == Duration{4711});
    }
}

TEST_CASE("Heartbeats carry when they left, and the leader's when it received the rank's last one") {
    const std::int64_t before_ns = monotonic_ns();
    Rig consumer(consumer_rank);
    consumer.notice(scheduler_rank, make_notice(Notice::Kind::complete, scheduler_rank, 0, {}));
    consumer.loop.run();
    const auto from_consumer =
        consumer.transport.sent_to<ControlMessage>(scheduler_rank, PacketKind::control);
    REQUIRE_FALSE(from_consumer.empty());
    const std::int64_t left_ns = std::get<Heartbeat>(from_consumer[0]).left_ns;
    CHECK(left_ns >= before_ns);
    CHECK(left_ns <= monotonic_ns());

    Rig scheduler(scheduler_rank);
    scheduler.transport.receive(consumer_rank, PacketKind::control, from_consumer[0]);
    scheduler.each_poll = [&] { scheduler.node.over = scheduler.polls > 1; };
    scheduler.loop.run();
    const auto to_consumer = scheduler.transport.sent_to<ControlMessage>(consumer_rank, PacketKind::control);
    REQUIRE_FALSE(to_consumer.empty());
    const auto& answer = std::get<Heartbeat>(to_consumer[0]);
    CHECK(answer.other_left_ns == left_ns);
    CHECK(answer.other_arrived_ns >= left_ns);
    CHECK(answer.left_ns >= answer.other_arrived_ns);
}

TEST_CASE("A node has a turn when its time has come or something is found, and is left alone otherwise") {
    constexpr int polls = 1000;
    const bool due = GENERATE(false, true);
    const bool finds = GENERATE(false, true);
    Rig rig(scheduler_rank);
    int turns = 0;
    rig.node.at_time = [&](Instant, Actions&) { ++turns; };
    rig.node.deadline = due ? long_ago : Instant::never();
    rig.each_poll = [&] {
        if (finds) {
            rig.transport.receive(consumer_rank, PacketKind::control, ControlMessage{Heartbeat{}});
        }
        rig.node.over = rig.polls == polls;
    };
    CHECK(rig.loop.run().kind == Kind::complete);
    if (due || finds) {
        CHECK(turns == polls);
    } else {
        // At first, when a second ends, and for each gap between turns that is longer than those before.
        CHECK(turns >= 1);
        CHECK(turns < polls / 2);
    }
}

TEST_CASE("A fault in the data is listed and the run goes on") {
    Rig rig(scheduler_rank);
    rig.node.at_time = [](Instant, Actions& out) {
        for (int fault = 0; fault < 60; ++fault) {
            out.faults.push_back({.kind = Fault::Kind::duplicate_chunk, .sequence = 3});
        }
    };
    rig.node.deadline = long_ago;
    rig.each_poll = [&] { rig.node.over = rig.polls == 3; };
    CHECK(rig.loop.run().kind == Kind::complete);
    CHECK(rig.loop.fault_count() == 180);
    REQUIRE(rig.loop.faults().size() == weir::show::RunRecord::listed_max);
    CHECK(rig.loop.faults()[0].sequence == 3);
}

TEST_CASE("All other ranks are ordered to leave with the same status") {
    Rig rig(scheduler_rank);
    rig.loop.order_all_to_leave(143);
    for (const int rank : {producer_rank, consumer_rank}) {
        const auto notices = rig.transport.sent_to<Notice>(rank, PacketKind::notice);
        REQUIRE(notices.size() == 1);
        CHECK(notices[0].kind == Notice::Kind::leave);
        CHECK(notices[0].detail == 143);
    }
    CHECK(rig.transport.packets.size() == 2);
}
