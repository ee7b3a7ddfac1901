// How the loop of a rank ends when something fails: silence, dead processes, a broken network, what cannot be
// read.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "catch.hpp"
#include "host/signals.hpp"
#include "rank_loop_rig.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::ending;
using namespace weir::job;
using namespace weir::loop;
using namespace weir::loop::test;

TEST_CASE("A silent leader is lost") {
    Rig rig(consumer_rank, Duration::milliseconds(250));
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::leader_lost);
    CHECK(end.failure.rank == scheduler_rank);
    CHECK(end.failure.host == "eb00");
    CHECK(contains(end.failure.what, "rank 1 (scheduler on eb00) has not responded"));
    CHECK(rig.clock.now() >= Instant{} + Duration::milliseconds(250));
}

TEST_CASE("A leader that sends something now and then is not lost") {
    Rig rig(consumer_rank, Duration::milliseconds(250));
    rig.each_poll = [&] {
        if (rig.clock.now() > Instant{} + Duration::milliseconds(600)) {
            rig.notice(scheduler_rank, make_notice(Notice::Kind::leave, scheduler_rank, 0, {}));
        } else {
            rig.heartbeat(scheduler_rank);
        }
    };
    CHECK(rig.loop.run().kind == Kind::leave);
}

TEST_CASE("Of several ranks the leader names the silent one") {
    Rig rig(scheduler_rank, Duration::milliseconds(250));
    rig.each_poll = [&] { rig.heartbeat(producer_rank); };
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.status == exit_failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.role == "consumer 0");
    CHECK(end.failure.host == "eb02");
    CHECK(contains(end.failure.what, "rank 2 (consumer 0 on eb02) has not responded"));
}

TEST_CASE("The loop of a leader to which all other hosts are silent ends") {
    Rig rig(scheduler_rank, Duration::milliseconds(250));
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == scheduler_rank);
    CHECK(end.failure.host == "eb00");
    CHECK(contains(end.failure.what, "receives nothing from other hosts"));
}

TEST_CASE("The leader notes when a rank begins to be missed and when none is any more") {
    Rig rig(scheduler_rank, Duration::seconds(1));
    rig.each_poll = [&] {
        // A poll hands out one packet.
        rig.heartbeat(rig.missed_ranks.empty() || rig.polls % 2 == 0 ? producer_rank : consumer_rank);
        rig.node.over = rig.missed_ranks.size() > 1;
    };
    CHECK(rig.loop.run().kind == Kind::complete);
    CHECK(rig.missed_ranks == std::vector<int>{consumer_rank, -1});
}

TEST_CASE("A packet that cannot be read is a failure") {
    const Packet garbage{producer_rank, std::vector<std::byte>(5)};
    Packet cut{producer_rank, {}};
    encode_packet(PacketKind::control, std::span<const ControlMessage>(std::vector<ControlMessage>(2)),
                  cut.bytes);
    cut.bytes.pop_back();
    Packet cut_notice{producer_rank, {}};
    const Notice notice;
    encode_packet(PacketKind::notice, std::span(&notice, 1), cut_notice.bytes);
    cut_notice.bytes.pop_back();
    Packet unknown{producer_rank, {}};
    encode_packet(static_cast<PacketKind>(77), std::span<const ControlMessage>{}, unknown.bytes);
    Packet of_another{producer_rank, {}};
    LiveSample report;
    report.node = {Role::consumer, 0};
    encode_packet(PacketKind::report, std::span<const LiveSample>(&report, 1), of_another.bytes);
    for (const Packet& packet : {garbage, cut, cut_notice, unknown, of_another}) {
        Rig scheduler(scheduler_rank);
        scheduler.transport.inbox.push_back(packet);
        const RunEnd end = scheduler.loop.run();
        CHECK(end.kind == Kind::failed);
        CHECK(contains(end.failure.what, "from rank 0 (producer 0 on eb01)"));

        Rig consumer(consumer_rank);
        consumer.transport.inbox.push_back(packet);
        consumer.answer_failures();
        CHECK(consumer.loop.run().kind == Kind::leave);
        CHECK(consumer.only_notice().kind == Notice::Kind::failure);
        CHECK(consumer.only_notice().rank == consumer_rank);
        CHECK(contains(consumer.only_notice().text, "rank 2 (consumer 0 on eb02): "));
        CHECK(contains(consumer.only_notice().text, "from rank 0 (producer 0 on eb01)"));
        CHECK(consumer.node.messages.empty());
    }
}

TEST_CASE("A report to a rank that collects none is a failure") {
    Rig rig(consumer_rank);
    rig.transport.receive(producer_rank, PacketKind::report, LiveSample{});
    rig.answer_failures();
    CHECK(rig.loop.run().kind == Kind::leave);
    CHECK(rig.only_notice().kind == Notice::Kind::failure);
}

TEST_CASE("Notices that make no sense are a failure") {
    for (const Notice& wrong :
         {make_notice(Notice::Kind::failure, 3, 0, {}), make_notice(Notice::Kind::complete, -1, 0, {}),
          make_notice(static_cast<Notice::Kind>(77), 0, 0, {})}) {
        Rig rig(scheduler_rank);
        rig.notice(producer_rank, wrong);
        const RunEnd end = rig.loop.run();
        CHECK(end.kind == Kind::failed);
        CHECK(contains(end.failure.what, "a notice"));
    }
}

TEST_CASE("A text without end in a notice is cut") {
    Rig rig(scheduler_rank);
    Notice notice = make_notice(Notice::Kind::failure, consumer_rank, 0, {});
    std::fill(std::begin(notice.text), std::end(notice.text), 'x');
    rig.notice(consumer_rank, notice);
    CHECK(rig.loop.run().failure.what == std::string(sizeof notice.text, 'x'));
}

TEST_CASE("The leader names the rank that reports that it cannot go on") {
    Rig rig(scheduler_rank);
    rig.notice(consumer_rank,
               make_notice(Notice::Kind::failure, consumer_rank, 0, "rank 2: the disk is full"));
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.status == exit_failed);
    CHECK(end.failure.what == "rank 2: the disk is full");
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.role == "consumer 0");
    CHECK(end.failure.host == "eb02");
}

TEST_CASE("Only the leader concludes that another rank has failed") {
    Rig rig(consumer_rank);
    rig.notice(producer_rank, make_notice(Notice::Kind::failure, producer_rank, 0, "no"));
    rig.notice(scheduler_rank, make_notice(Notice::Kind::leave, scheduler_rank, 3, {}));
    CHECK(rig.loop.run().kind == Kind::leave);
}

TEST_CASE("The process of a peer that is gone ends the run") {
    RunSettings run = rig_settings(never_silent);
    const pid_t child = start_child();
    run.set_locations({{"here", 0, {}, 0}, {"here", getpid(), {}, 0}, {"here", child, {}, 0}});
    Rig rig(scheduler_rank, run);
    end_child(child);
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(contains(end.failure.what, "rank 2 (consumer 0 on here) is gone"));
}

TEST_CASE("The death of a peer is reported to the leader") {
    RunSettings run = rig_settings(never_silent);
    const pid_t child = start_child();
    run.set_locations({{"here", child, {}, 0}, {"there", 0, {}, 0}, {"here", getpid(), {}, 0}});
    Rig rig(consumer_rank, run);
    end_child(child);
    rig.answer_failures();
    CHECK(rig.loop.run().kind == Kind::leave);
    CHECK(rig.only_notice().kind == Notice::Kind::failure);
    CHECK(rig.only_notice().rank == producer_rank);
}

TEST_CASE("A leader whose process is gone is lost at once") {
    RunSettings run = rig_settings(never_silent);
    const pid_t child = start_child();
    run.set_locations({{"there", 0, {}, 0}, {"here", child, {}, 0}, {"here", getpid(), {}, 0}});
    Rig rig(consumer_rank, run);
    end_child(child);
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::leader_lost);
    CHECK(end.failure.rank == scheduler_rank);
    CHECK(contains(end.failure.what, "is gone"));
}

TEST_CASE("A network that breaks ends the run on every rank") {
    const auto break_it = [](Rig& rig) {
        rig.each_poll = [] { throw weir::transport::TransportError("MPI_Testsome", {0}, "out of order"); };
    };
    Rig scheduler(scheduler_rank);
    break_it(scheduler);
    const RunEnd failed = scheduler.loop.run();
    CHECK(failed.kind == Kind::failed);
    CHECK(failed.failure.rank == producer_rank);
    CHECK(failed.failure.host == "eb01");
    CHECK(failed.failure.what ==
          "rank 1 (scheduler on eb00) and rank 0 (producer 0 on eb01) cannot reach each other: "
          "MPI_Testsome with rank 0: out of order");

    Rig consumer(consumer_rank);
    break_it(consumer);
    const RunEnd lost = consumer.loop.run();
    CHECK(lost.kind == Kind::leader_lost);
    CHECK(lost.failure.rank == producer_rank);
    CHECK(consumer.only_notice().kind == Notice::Kind::failure);
    CHECK(consumer.only_notice().rank == producer_rank);
    CHECK(
        contains(consumer.only_notice().text, "rank 2 (consumer 0 on eb02) and rank 0 (producer 0 on eb01)"));
}

TEST_CASE("A network that breaks because a peer has died is the death of that peer") {
    RunSettings run = rig_settings(never_silent);
    const pid_t child = start_child();
    run.set_locations({{"here", 0, {}, 0}, {"here", getpid(), {}, 0}, {"here", child, {}, 0}});
    Rig rig(scheduler_rank, run);
    end_child(child);
    rig.each_poll = [] { throw weir::transport::TransportError("MPI_Isend", {2}, "connection reset"); };
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(contains(end.failure.what, "is gone"));
}

TEST_CASE("A rank that failed because a peer has died is not the one to be named") {
    RunSettings run = rig_settings(never_silent);
    const pid_t child = start_child();
    run.set_locations({{"there", 0, {}, 0}, {"here", getpid(), {}, 0}, {"here", child, {}, 0}});
    Rig rig(scheduler_rank, run);
    end_child(child);
    rig.notice(producer_rank, make_notice(Notice::Kind::failure, producer_rank, 0, "MPI_Rput with rank 2"));
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(contains(end.failure.what, "is gone"));
}

TEST_CASE("What a rank said before it ended is the cause, though its end is seen first") {
    RunSettings run = rig_settings(never_silent);
    const pid_t child = start_child();
    run.set_locations({{"there", 0, {}, 0}, {"here", getpid(), {}, 0}, {"here", child, {}, 0}});
    Rig rig(scheduler_rank, run);
    end_child(child);
    rig.each_poll = [&] {
        if (rig.polls == 2) {  // the loop has looked for dead processes after the first
            rig.notice(consumer_rank, make_notice(Notice::Kind::failure, consumer_rank, 0, "disk full"));
        }
    };
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.what == "disk full");
}

TEST_CASE("A rank whose own network breaks does not name the leader") {
    Rig rig(consumer_rank);
    rig.each_poll = [] { throw weir::transport::TransportError("MPI_Testsome", {-1}, "out of order"); };
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::leader_lost);
    CHECK(end.failure.what == "rank 2 (consumer 0 on eb02): MPI_Testsome: out of order");
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.host == "eb02");
}

TEST_CASE("A violation of the protocol ends the run") {
    Actions violation;
    violation.faults.push_back({.source = {Role::producer, 0}, .detail = "that cannot be"});
    Rig scheduler(scheduler_rank);
    scheduler.node.at_start = violation;
    const RunEnd end = scheduler.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(contains(end.failure.what, "that cannot be"));
    CHECK(scheduler.loop.fault_count() == 1);

    Rig consumer(consumer_rank);
    consumer.node.at_start = violation;
    consumer.answer_failures();
    CHECK(consumer.loop.run().kind == Kind::leave);
    CHECK(contains(consumer.only_notice().text, "that cannot be"));
}

TEST_CASE("A log that cannot be written ends the run") {
    Rig rig(consumer_rank);
    REQUIRE(rig.log.open("/dev/full", Role::consumer, {}));
    rig.output.put(weir::record::ConsumerRow{}, {});
    rig.answer_failures();
    CHECK(rig.loop.run().kind == Kind::leave);
    CHECK(rig.only_notice().kind == Notice::Kind::failure);
    CHECK(contains(rig.only_notice().text, "cannot write /dev/full: No space left on device"));
}
