// What the loop of a rank does with --on-failure continue when a consumer is lost, and when it is back.
#include <algorithm>

#include "catch.hpp"
#include "rank_loop_rig.hpp"

namespace loop_rank_loop_losses_test_file {

using namespace weir::core;
using namespace weir::participant;
using namespace weir::ending;
using namespace weir::job;
using namespace weir::loop;
using namespace weir::loop::test;

namespace {

class FakeNews final : public JobNews {
  public:
    std::vector<JobEvent> look() override { return std::exchange(events, {}); }
    [[nodiscard]] bool is_awaited() const override { return !events.empty(); }
    std::uint32_t take_out(int rank) override {
        taken_out.push_back(rank);
        return static_cast<std::uint32_t>(taken_out.size());
    }
    [[nodiscard]] std::string last_words_of(int /*rank*/) override { return last_words; }
    void know(int rank) override { known.push_back(rank); }

    std::vector<JobEvent> events;
    std::string last_words;
    std::vector<int> taken_out;
    std::vector<int> known;
};

RunSettings outliving(Duration silence = never_silent) {
    RunSettings settings = rig_settings(silence);
    settings.plan.outlives_consumers = true;
    return settings;
}

bool called(const Rig& rig, const std::string& call) {
    return std::find(rig.transport.calls.begin(), rig.transport.calls.end(), call) !=
           rig.transport.calls.end();
}

}  // namespace

TEST_CASE("A consumer whose process ends is given up, and the run goes on") {
    FakeNews news;
    Rig rig(scheduler_rank, outliving(), &news);
    news.events.push_back(
        {.kind = JobEvent::Kind::gone, .rank = consumer_rank, .why = "it has closed its connection"});
    rig.each_poll = [&] { rig.node.over = rig.polls > 20; };
    CHECK(rig.loop.run().kind == Kind::complete);
    CHECK(news.taken_out == std::vector{consumer_rank});
    CHECK(called(rig, "disconnect 2"));
    REQUIRE(rig.loop.silences().size() == 1);
    CHECK(rig.loop.silences()[0].first == NodeId{Role::consumer, 0});
    REQUIRE(rig.losses.size() == 1);
    CHECK(contains(rig.losses[0], "rank 2 (consumer 0 on eb02)"));
    CHECK(contains(rig.losses[0], "the run goes on without it"));
}

TEST_CASE("What a process said of its own end is told") {
    FakeNews news;
    Rig rig(scheduler_rank, outliving(), &news);
    news.events.push_back({.kind = JobEvent::Kind::gone, .rank = consumer_rank, .why = ""});
    news.last_words = "it was ended by abort(), as UCX";
    rig.each_poll = [&] { rig.node.over = rig.polls > 20; };
    CHECK(rig.loop.run().kind == Kind::complete);
    REQUIRE(rig.losses.size() == 1);
    CHECK(contains(rig.losses[0], "it was ended by abort(), as UCX"));
}

TEST_CASE("A consumer that is silent is given up once") {
    FakeNews news;
    Rig rig(scheduler_rank, outliving(Duration::milliseconds(250)), &news);
    rig.each_poll = [&] {
        rig.heartbeat(producer_rank);
        rig.node.over = rig.clock.now() > Instant{} + Duration::milliseconds(900);
    };
    CHECK(rig.loop.run().kind == Kind::complete);
    CHECK(news.taken_out == std::vector{consumer_rank});
    CHECK(rig.detector.is_given_up(consumer_rank));
}

TEST_CASE("A producer that is lost ends a run that outlives consumers") {
    FakeNews news;
    Rig rig(scheduler_rank, outliving(), &news);
    news.events.push_back(
        {.kind = JobEvent::Kind::gone, .rank = producer_rank, .why = "it has closed its connection"});
    const RunEnd end = rig.loop.run();
    CHECK(end.kind == Kind::failed);
    CHECK(end.failure.rank == producer_rank);
    CHECK(news.taken_out.empty());
}

TEST_CASE("A process that takes a lost consumer's place is connected and watched again") {
    FakeNews news;
    Rig rig(scheduler_rank, outliving(), &news);
    news.events.push_back({.kind = JobEvent::Kind::gone, .rank = consumer_rank, .why = "gone"});
    rig.each_poll = [&] {
        if (rig.polls == 10) {
            JobEvent back{.kind = JobEvent::Kind::back, .rank = consumer_rank};
            back.address.life = 1;
            back.host = "eb09";
            news.events.push_back(back);
        }
        rig.node.over = rig.polls > 20;
    };
    CHECK(rig.loop.run().kind == Kind::complete);
    CHECK_FALSE(rig.detector.is_given_up(consumer_rank));
    CHECK(called(rig, "reconnect 2"));
    CHECK(news.known == std::vector{consumer_rank});
    CHECK(rig.losses.back() == "rank 2 (consumer 0 on eb02) is back");
}

TEST_CASE("A producer disconnects a consumer that the scheduler has given up") {
    FakeNews news;
    Rig rig(producer_rank, outliving(), &news);
    rig.transport.receive(scheduler_rank, PacketKind::control, ControlMessage{Revoke{.consumer = {0}}});
    rig.each_poll = [&] {
        if (rig.polls == 5) {
            rig.notice(scheduler_rank, make_notice(Notice::Kind::leave, scheduler_rank, 0, {}));
        }
    };
    CHECK(rig.loop.run().kind == Kind::leave);
    CHECK(called(rig, "disconnect 2"));
}

TEST_CASE("A producer that finds a consumer broken off informs the leader, and goes on") {
    FakeNews news;
    Rig rig(producer_rank, outliving(), &news);
    rig.each_poll = [&] {
        if (rig.polls == 2 || rig.polls == 4) {
            throw weir::transport::TransportError("ucp_put_nbx", {consumer_rank}, "reset");
        }
        if (rig.polls == 8) {
            rig.notice(scheduler_rank, make_notice(Notice::Kind::leave, scheduler_rank, 0, {}));
        }
    };
    CHECK(rig.loop.run().kind == Kind::leave);
    CHECK(rig.only_notice().kind == Notice::Kind::failure);
    CHECK(rig.only_notice().rank == consumer_rank);
}

TEST_CASE("A consumer that was given up while it stood still leaves the run to begin again") {
    FakeNews news;
    Rig rig(consumer_rank, outliving(), &news);
    news.events.push_back({.kind = JobEvent::Kind::taken_out, .rank = consumer_rank});
    CHECK(rig.loop.run().kind == Kind::taken_out);
}

}  // namespace loop_rank_loop_losses_test_file
