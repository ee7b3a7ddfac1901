// How the loop of a rank ends after a signal, and after the rank itself was stopped.
#include <unistd.h>

#include <csignal>

#include "catch.hpp"
#include "host/signals.hpp"
#include "in_child.hpp"
#include "rank_loop_rig.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::ending;
using namespace weir::host;
using namespace weir::job;
using namespace weir::loop;
using namespace weir::loop::test;

TEST_CASE("A rank that was stopped does not judge the others for a while") {
    Rig rig(scheduler_rank, Duration::milliseconds(300));
    rig.each_poll = [&] {
        rig.heartbeat(producer_rank);
        rig.heartbeat(consumer_rank);
        if (rig.polls == 1) {
            usleep(200000);
            rig.transport.inbox.clear();
            rig.heartbeat(producer_rank);
            rig.notice(consumer_rank, make_notice(Notice::Kind::failure, consumer_rank, 0, "gone meanwhile"));
        }
        rig.node.over = rig.polls > 10;
    };
    CHECK(rig.loop.run().kind == Kind::complete);
}

TEST_CASE("A rank that was stopped within a turn ignores the signal and the death that it wakes to") {
    // What mpirun does to a stopped scheduler whose deputy ended the run: SIGCONT and SIGTERM, while the
    // deputy is gone already.
    const ChildEnd end = in_child([] {
        install_signal_handlers();
        RunSettings run = rig_settings(Duration::milliseconds(300));
        const pid_t deputy = start_child();
        run.set_locations({{"here", deputy, {}, 0}, {"here", getpid(), {}, 0}, {"there", 0, {}, 0}});
        Rig rig(scheduler_rank, run);
        rig.each_poll = [&] {
            rig.heartbeat(consumer_rank);
            if (rig.polls == 3) {
                usleep(200000);
                end_child(deputy);
                raise(SIGTERM);
            }
        };
        return static_cast<int>(rig.loop.run().kind);
    });
    CHECK(end.status == static_cast<int>(Kind::leave));
}

TEST_CASE("A rank that was stopped waits for the SIGTERM that mpirun sends a second after SIGCONT") {
    const ChildEnd end = in_child([] {
        install_signal_handlers();
        RunSettings run = rig_settings(Duration::milliseconds(300));
        const pid_t deputy = start_child();
        run.set_locations({{"here", deputy, {}, 0}, {"here", getpid(), {}, 0}, {"there", 0, {}, 0}});
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
        return static_cast<int>(rig.loop.run().kind);
    });
    CHECK(end.status == static_cast<int>(Kind::leave));
}

TEST_CASE("A signal that another rank reports ends the run after a moment") {
    Rig rig(scheduler_rank);
    rig.notice(consumer_rank, make_notice(Notice::Kind::signal, consumer_rank, SIGINT, {}));
    rig.each_poll = [&] { rig.heartbeat(rig.polls % 2 == 0 ? producer_rank : consumer_rank); };
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::interrupted);
    CHECK(end.signal == SIGINT);
    CHECK(rig.clock.now() >= Instant{} + FailureDetector::signal_wait);
    CHECK(rig.signals.empty());
}

TEST_CASE("A rank on another host that falls silent when a signal comes is the cause of the end") {
    Rig rig(scheduler_rank);
    rig.each_poll = [&] { rig.signal_or_heartbeat(producer_rank); };
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
    CHECK(end.failure.host == "eb02");
    CHECK(contains(end.failure.what, "rank 2 (consumer 0 on eb02) fell silent, and signal 15"));
    CHECK(rig.clock.now() >= Instant{} + FailureDetector::signal_wait + FailureDetector::signal_silence_wait);
    // Told before the wait: whoever sent the signal may not leave the time for it.
    CHECK(rig.signals == std::vector<int>{SIGTERM});
}

TEST_CASE("A rank whose heartbeat is late after a signal is not named") {
    Rig rig(scheduler_rank);
    bool heard = false;
    rig.each_poll = [&] {
        const bool now = !rig.signals.empty() && !heard;
        heard = heard || now;
        rig.signal_or_heartbeat(now ? consumer_rank : producer_rank);
    };
    const RunEnd end = rig.loop.run();
    CHECK(heard);
    CHECK(end.kind == Kind::interrupted);
    CHECK(end.signal == SIGTERM);
}

TEST_CASE("A death that is reported just after a signal is the cause of the end") {
    Rig rig(scheduler_rank);
    rig.notice(producer_rank, make_notice(Notice::Kind::signal, producer_rank, SIGTERM, {}));
    rig.notice(producer_rank, make_notice(Notice::Kind::failure, consumer_rank, 0, "rank 2 is gone"));
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == consumer_rank);
}

TEST_CASE("A signal to this rank is reported to the leader") {
    const auto end_of = [](int rank) {
        return in_child([rank] {
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
                   const RunEnd end = rig.loop.run();
                   const auto notices = rig.transport.sent_to<Notice>(scheduler_rank, PacketKind::notice);
                   const bool passed_on = notices.size() == 1 && notices[0].kind == Notice::Kind::signal &&
                                          notices[0].detail == SIGTERM && notices[0].rank == rank;
                   return static_cast<int>(end.kind) * 2 + (passed_on ? 1 : 0);
               })
            .status;
    };
    CHECK(end_of(scheduler_rank) == static_cast<int>(Kind::interrupted) * 2);
    CHECK(end_of(consumer_rank) == static_cast<int>(Kind::leave) * 2 + 1);
}

TEST_CASE("A rank that reports a signal in vain adds that another rank may have died") {
    const ChildEnd ended = in_child([] {
        install_signal_handlers();
        Rig rig(consumer_rank);
        rig.each_poll = [&] {
            if (rig.polls == 3) {
                raise(SIGTERM);
            }
        };
        const RunEnd end = rig.loop.run();
        const bool as_expected =
            end.kind == Kind::leader_lost && end.failure.rank == scheduler_rank &&
            end.failure.what ==
                "signal 15 (Terminated) came, and rank 1 (scheduler on eb00) did not answer; if "
                "another rank has died, the launcher names it";
        return as_expected ? 0 : 1;
    });
    CHECK(ended.status == 0);
}
