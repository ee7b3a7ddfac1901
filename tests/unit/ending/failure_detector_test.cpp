// Who is named as the cause, and what each rank does about it, by the time that the test sets.
#include "ending/failure_detector.hpp"

#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "catch.hpp"
#include "participant/exit_status.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::ending;
using namespace weir::host;
using namespace weir::job;

namespace {

constexpr int leader_rank = 0;
using Found = Evidence::Kind;
using End = RunEnd::Kind;
const std::vector<std::string> own_hosts{"ctl01", "eb01", "fn01", "fn02"};

Instant after_s(double seconds) {
    return Instant{} + Duration{static_cast<std::int64_t>(seconds * 1e9)};
}

/// A scheduler, a producer, and consumers on the other `hosts`. The silence time-out is 5 s.
RunSettings settings_of_hosts(const std::vector<std::string>& hosts) {
    RunSettings settings;
    settings.plan.producers = 1;
    settings.plan.consumers = static_cast<std::uint32_t>(hosts.size() - 2);
    std::vector<NodeId> nodes{scheduler_node(), {Role::producer, 0}};
    std::vector<RankLocation> locations;
    for (const std::string& host : hosts) {
        locations.push_back({host, 0, {}, 0});
    }
    for (std::uint32_t index = 0; index + 2 < hosts.size(); ++index) {
        nodes.push_back({Role::consumer, index});
    }
    settings.roles = RoleMap(nodes);
    settings.set_locations(locations);
    settings.silence_timeout = Duration::seconds(5);
    return settings;
}

/// A detector in the loop, which begins at second 0 and turns every 100 ms.
struct Rank {
    explicit Rank(const std::vector<std::string>& hosts = own_hosts, int self = leader_rank,
                  std::vector<int> watched = {}, TransportKind transport = TransportKind::send)
        : settings(std::make_unique<RunSettings>(settings_of_hosts(hosts))) {
        settings->plan.transport = transport;
        detector.emplace(*settings, self, std::move(watched));
        detector->begin_loop({});
    }

    /// The loop turns until `seconds`, and `ranks` send something in its last turn.
    void heard_at(double seconds, const std::vector<int>& ranks) {
        turn_until(seconds);
        for (const int rank : ranks) {
            detector->heard(rank);
        }
    }
    void turn_until(double seconds) {
        while (now < after_s(seconds)) {
            now = std::min(now + Duration::milliseconds(100), after_s(seconds));
            detector->begin_turn(now);
        }
    }
    Decision look_at(double seconds) {
        turn_until(seconds);
        return detector->look(now);
    }
    Decision judge(const Evidence& evidence) { return detector->judge(evidence, now); }

    std::unique_ptr<RunSettings> settings;
    std::optional<FailureDetector> detector;
    Instant now;
};

/// The failure with which the run ends as `kind`.
weir::show::Failure failure_of_end(const Decision& decision, End kind = End::failed) {
    REQUIRE(decision.end);
    CHECK(decision.end->kind == kind);
    CHECK(decision.end->status == exit_failed);
    return decision.end->failure;
}

bool is_nothing(const Decision& decision) {
    return !decision.report && !decision.end && !decision.signal_ends_run;
}

}  // namespace

TEST_CASE("The one silent rank is the cause") {
    Rank leader;
    leader.heard_at(4.9, {1, 2});
    CHECK(is_nothing(leader.look_at(5)));
    const auto failure = failure_of_end(leader.look_at(5.1));
    CHECK(failure.rank == 3);
    CHECK(failure.what == "rank 3 (consumer 1 on fn02) has not responded for 5 s");
    CHECK(failure.role == "consumer 1");
    CHECK(failure.host == "fn02");
}

TEST_CASE("Of two silent ranks the one that is silent for longer is the cause") {
    Rank leader;
    leader.heard_at(3, {1});
    leader.heard_at(4, {2});
    leader.heard_at(8.9, {3});
    CHECK(failure_of_end(leader.look_at(9.1)).rank == 1);
}

TEST_CASE("Ranks that are silent as well are counted with their hosts") {
    Rank leader({"ctl01", "eb01", "fn01", "fn01", "fn02"});
    leader.heard_at(0.1, {3});
    leader.heard_at(2, {4});
    leader.heard_at(5, {1});
    CHECK(failure_of_end(leader.look_at(5.1)).what ==
          "rank 2 (consumer 0 on fn01) has not responded for 5 s; nor have 2 more ranks on fn01 and fn02");
}

TEST_CASE("Of many silent hosts some are named and the others counted") {
    Rank leader({"ctl01", "eb01", "fn01", "fn02", "fn03", "fn04", "fn05", "fn06"});
    leader.heard_at(5, {1});
    CHECK(failure_of_end(leader.look_at(5.1)).what ==
          "rank 2 (consumer 0 on fn01) has not responded for 5 s; nor have 5 more ranks on fn02, fn03, "
          "fn04, fn05 and fn06");
}

TEST_CASE("A leader to which all other hosts are silent names its own") {
    Rank leader;
    leader.heard_at(0.4, {2});
    const auto failure = failure_of_end(leader.look_at(5.1));
    CHECK(failure.rank == leader_rank);
    CHECK(
        failure.what ==
        "rank 0 (scheduler on ctl01) receives nothing from other hosts: none of the 3 ranks there for 4.7 s");
}

TEST_CASE("Of two hosts that are silent to each other the other one is named") {
    CHECK(failure_of_end(Rank({"ctl01", "fn01", "fn01"}).look_at(5.1)).rank == 1);
}

TEST_CASE("A rank that is silent on the own host does not cut that off") {
    CHECK(failure_of_end(Rank({"ctl01", "eb01", "fn01", "ctl01"}).look_at(5.1)).rank == 1);
}

TEST_CASE("With put a consumer is named before the ranks that fell silent with it") {
    const auto producer_ended = [](TransportKind transport) {
        // Consumer 0 stops; the producer, whose last heartbeat came a little earlier, waits for it.
        Rank leader(own_hosts, leader_rank, {}, transport);
        leader.heard_at(1, {1});
        leader.heard_at(1.15, {2});
        leader.heard_at(6, {3});
        return leader;
    };
    Rank leader = producer_ended(TransportKind::put);
    CHECK(is_nothing(leader.look_at(6.1)));  // over for rank 1 only
    CHECK(failure_of_end(leader.look_at(6.2)).rank == 2);
    CHECK(failure_of_end(producer_ended(TransportKind::send).look_at(6.1)).rank == 1);

    // A rank that fell silent long before a consumer is the cause itself.
    Rank another(own_hosts, leader_rank, {}, TransportKind::put);
    another.heard_at(1, {1});
    another.heard_at(3, {2});
    another.heard_at(6, {3});
    CHECK(failure_of_end(another.look_at(6.1)).rank == 1);
}

TEST_CASE("A rank that was stopped for more than a second waits anew") {
    Rank leader;
    leader.turn_until(1);
    leader.now = after_s(3);
    leader.detector->begin_turn(leader.now);
    leader.heard_at(7.9, {2, 3});
    CHECK(is_nothing(leader.look_at(8)));
    CHECK(failure_of_end(leader.look_at(8.1)).rank == 1);
}

TEST_CASE("What a rank that was stopped finds in the others does not count for a while") {
    Rank leader;
    leader.turn_until(1);
    leader.now = after_s(4);  // more than half the silence time-out
    leader.detector->begin_turn(leader.now);
    leader.turn_until(6.9);
    for (const Found kind : {Found::process_gone, Found::failure_reported, Found::signal_reported}) {
        CHECK(is_nothing(leader.judge({.kind = kind, .rank = 2, .signal = SIGTERM})));
    }
    leader.turn_until(7);
    CHECK(leader.judge({.kind = Found::process_gone, .rank = 2}).end);
    // Stopped within the turn, after it began: seen by the clock after the evidence was taken.
    CHECK(is_nothing(
        leader.detector->judge({.kind = Found::process_gone, .rank = 2}, leader.now + Duration::seconds(3))));
}

TEST_CASE("A rank that wakes to a signal leaves and reports nothing") {
    for (const int self : {leader_rank, 2}) {
        Rank rank(own_hosts, self);
        rank.now = after_s(3);
        rank.detector->begin_turn(rank.now);
        const Decision decision = rank.judge({.kind = Found::signal, .signal = SIGTERM});
        CHECK_FALSE(decision.report);
        REQUIRE(decision.end);
        CHECK(decision.end->kind == End::leave);
        CHECK(decision.end->status == exit_failed);
    }
}

TEST_CASE("The leader notes which rank is missed, and when none is any more") {
    Rank leader;
    leader.heard_at(1.5, {1, 3});
    CHECK_FALSE(leader.look_at(2).missed);
    CHECK(leader.look_at(2.1).missed == 2);
    CHECK_FALSE(leader.look_at(2.2).missed);
    leader.heard_at(2.3, {2});
    CHECK(leader.look_at(2.3).missed == -1);
}

TEST_CASE("After a signal the rank that fell silent is named") {
    Rank leader;
    leader.heard_at(9.9, {1, 2, 3});
    leader.turn_until(10);
    CHECK(is_nothing(leader.judge({.kind = Found::signal, .signal = SIGTERM})));
    leader.heard_at(10.05, {1, 3});
    CHECK(is_nothing(leader.look_at(10.09)));
    CHECK(leader.look_at(10.1).signal_ends_run);
    CHECK(is_nothing(leader.look_at(10.2)));
    CHECK(is_nothing(leader.look_at(10.5)));
    const auto failure = failure_of_end(leader.look_at(10.6));
    CHECK(failure.rank == 2);
    CHECK(failure.what ==
          "rank 2 (consumer 0 on fn01) fell silent, and signal 15 (Terminated) ended the run");
}

TEST_CASE("After a signal no rank is named if none is silent, all are, or their processes exist") {
    const auto ends_interrupted = [](Rank leader, const std::vector<int>& heard) {
        leader.heard_at(9.9, {1, 2, 3});
        leader.turn_until(10);
        CHECK(is_nothing(leader.judge({.kind = Found::signal_reported, .signal = SIGTERM})));
        leader.heard_at(10.05, heard);
        const Decision decision = leader.look_at(10.1);
        REQUIRE(decision.end);
        CHECK(decision.end->kind == End::interrupted);
        CHECK(decision.end->signal == SIGTERM);
        CHECK(decision.end->status == 128 + SIGTERM);
    };
    ends_interrupted(Rank(), {1, 2, 3});
    ends_interrupted(Rank(), {});
    ends_interrupted(Rank({"ctl01", "eb01", "ctl01", "fn01"}, leader_rank, {2}), {1, 3});
}

TEST_CASE("After a signal a leader to which all other hosts are silent for long names its own") {
    Rank leader;
    leader.heard_at(7, {1, 2, 3});
    leader.turn_until(10);
    CHECK(is_nothing(leader.judge({.kind = Found::signal, .signal = SIGTERM})));
    const auto failure = failure_of_end(leader.look_at(10.2));
    CHECK(failure.rank == leader_rank);
    CHECK(
        failure.what ==
        "rank 0 (scheduler on ctl01) receives nothing from other hosts: none of the 3 ranks there for 3.2 s; "
        "signal 15 (Terminated) ended the run");
}

TEST_CASE("Only the first signal counts") {
    Rank leader;
    CHECK(is_nothing(leader.judge({.kind = Found::signal, .signal = SIGINT})));
    CHECK(is_nothing(leader.judge({.kind = Found::signal_reported, .signal = SIGTERM})));
    CHECK(leader.detector->signal() == SIGINT);
    Rank other(own_hosts, 2);
    CHECK(other.judge({.kind = Found::signal, .signal = SIGINT}).report);
    CHECK(is_nothing(other.judge({.kind = Found::signal, .signal = SIGTERM})));
}

TEST_CASE("A transfer that fails is the peer's failure while other hosts are not silent") {
    Rank leader;
    leader.heard_at(9, {3});
    leader.turn_until(10);
    const Evidence evidence{.kind = Found::network_failed, .rank = 1, .text = "broken"};
    const auto peer = failure_of_end(leader.judge(evidence));
    CHECK(peer.rank == 1);
    CHECK(peer.what ==
          "rank 0 (scheduler on ctl01) and rank 1 (producer 0 on eb01) cannot reach each other: broken");
    leader.turn_until(12);
    const auto own = failure_of_end(leader.judge(evidence));
    CHECK(own.rank == leader_rank);
    CHECK(own.what ==
          "rank 0 (scheduler on ctl01) receives nothing from other hosts: none of the 3 ranks there for 3 s; "
          "broken");
    for (const int no_peer : {-1, leader_rank, 4}) {
        CHECK(failure_of_end(leader.judge({.kind = Found::network_failed, .rank = no_peer, .text = "broken"}))
                  .what == "rank 0 (scheduler on ctl01): broken");
    }
}

TEST_CASE("What the kernel says of a process that is gone is in the cause") {
    Rank rank(own_hosts, 2);
    const Decision decision =
        rank.judge({.kind = Found::process_gone, .rank = 3, .hint = "the kernel killed it"});
    REQUIRE(decision.report);
    CHECK(text_of(*decision.report) ==
          "rank 3 (consumer 1 on fn02) is gone: its process does not exist any more; the kernel killed it");
}

TEST_CASE("A rank reports one failure, and waits for the leader's order") {
    Rank rank(own_hosts, 2);
    const Decision decision = rank.judge({.kind = Found::process_gone, .rank = 3});
    CHECK_FALSE(decision.end);
    REQUIRE(decision.report);
    CHECK(decision.report->kind == Notice::Kind::failure);
    CHECK(decision.report->rank == 3);
    CHECK(text_of(*decision.report) ==
          "rank 3 (consumer 1 on fn02) is gone: its process does not exist any more");
    CHECK(is_nothing(rank.judge({.kind = Found::cannot_continue, .rank = 2, .text = "no"})));

    rank.heard_at(2.9, {leader_rank});
    CHECK(is_nothing(rank.look_at(2.9)));
    const auto failure = failure_of_end(rank.look_at(3), End::leader_lost);
    CHECK(failure.rank == leader_rank);
    CHECK(failure.what == "rank 0 (scheduler on ctl01) did not answer when the run had to end");
}

TEST_CASE("A rank that reports a signal waits less") {
    Rank rank(own_hosts, 2);
    const Decision decision = rank.judge({.kind = Found::signal, .signal = SIGTERM});
    REQUIRE(decision.report);
    CHECK(decision.report->kind == Notice::Kind::signal);
    CHECK(decision.report->detail == SIGTERM);
    CHECK(is_nothing(rank.look_at(0.6)));
    CHECK(failure_of_end(rank.look_at(0.7), End::leader_lost).what ==
          "signal 15 (Terminated) came, and rank 0 (scheduler on ctl01) did not answer; if another rank has "
          "died, the launcher names it");
}

TEST_CASE("A rank whose network fails reports the first cause and gives up the leader") {
    Rank rank(own_hosts, 2);
    CHECK(rank.judge({.kind = Found::transfer_failed, .rank = 1, .text = "no route"}).report);
    const Decision decision = rank.judge({.kind = Found::network_failed, .rank = 0, .text = "broken"});
    CHECK_FALSE(decision.report);
    CHECK(failure_of_end(decision, End::leader_lost).rank == 1);
    const Decision at_once = Rank(own_hosts, 2).judge({.kind = Found::network_failed, .text = "broken"});
    CHECK(at_once.report);
    CHECK(failure_of_end(at_once, End::leader_lost).what == "rank 2 (consumer 0 on fn01): broken");
}

TEST_CASE("Ranks that do not answer the roll call are named") {
    const RunSettings settings = settings_of_hosts({"ctl01", "eb01", "fn01", "fn02", "fn03", "fn04", "fn05"});
    const auto named = [&](int self, int about, const std::vector<int>& missing) {
        FailureDetector detector(settings, self, {});
        return failure_of_end(
            detector.judge(
                {.kind = Found::exchange_timeout, .rank = about, .text = "waited", .missing = missing}),
            about == leader_rank ? End::leader_lost : End::failed);
    };
    CHECK(
        named(leader_rank, -1, {2}).what ==
        "rank 2 (consumer 0 on fn01) does not answer; rank 0 (scheduler on ctl01) waited; if small messages "
        "come through and large ones do not, an MTU on the way is too small (`ping -M do -s 8972 fn01` with "
        "jumbo frames, -s 1472 without)");
    const auto many = named(leader_rank, -1, {2, 3, 4, 5, 6});
    CHECK(many.rank == 2);
    CHECK(many.what.starts_with(
        "rank 2 (consumer 0 on fn01), rank 3 (consumer 1 on fn02), rank 4 (consumer 2 on fn03), rank 5 "
        "(consumer 3 on fn04) and rank 6 (consumer 4 on fn05) do not answer; rank 0 (scheduler on ctl01) "
        "waited; if small "));
    const auto all = named(leader_rank, -1, {1, 2, 3, 4, 5, 6});
    CHECK(all.rank == leader_rank);
    CHECK(all.what == "rank 0 (scheduler on ctl01) reaches no other rank any more; it waited");
    const auto none = named(leader_rank, -1, {});
    CHECK(none.rank == leader_rank);
    CHECK(none.what.starts_with("rank 0 (scheduler on ctl01) waited, although all ranks answer now"));
    CHECK(named(2, leader_rank, {leader_rank})
              .what.starts_with("rank 0 (scheduler on ctl01) does not answer; rank 2 (consumer 0 on fn01) "
                                "waited; if small "));
    const RunSettings here = settings_of_hosts({"a", "a", "a"});
    FailureDetector detector(here, leader_rank, {});
    CHECK(failure_of_end(
              detector.judge({.kind = Found::exchange_timeout, .rank = -1, .text = "waited", .missing = {2}}),
              End::failed)
              .what == "rank 2 (consumer 0 on a) does not answer; rank 0 (scheduler on a) waited");
}

TEST_CASE("Whatever is found out in an exchange ends the run, on every rank") {
    const RunSettings settings = settings_of_hosts(own_hosts);
    for (const FailureRule& rule : failure_rules) {
        if (rule.stage != Stage::exchange || rule.evidence == Found::no_answer) {
            continue;
        }
        for (const int self : {0, 1, 2}) {
            for (const int about : {0, 3}) {
                FailureDetector detector(settings, self, {});
                const Evidence evidence{
                    .kind = rule.evidence, .rank = about, .signal = SIGTERM, .text = "why"};
                const Decision decision = detector.judge(evidence);
                CHECK(decision.end.has_value() != decision.report.has_value());
                const Decision after =
                    decision.end ? decision : detector.judge({.kind = Found::no_answer, .rank = 0});
                REQUIRE(after.end);
                CHECK(end_rule(after.end->kind, part_of(settings, self)).end == after.end->kind);
                CHECK((decision.end || after.end->failure.what == text_of(*decision.report)));
            }
        }
    }
}

TEST_CASE("There is one rule for each evidence in the loop, and an end for each part") {
    for (const FailureRule& rule : failure_rules) {
        CHECK(&failure_rule(rule.evidence, rule.stage) == &rule);
    }
    for (const Part part : {Part::leader, Part::deputy, Part::others}) {
        for (const End end : {End::leave, End::failed, End::interrupted}) {
            CHECK(end_rule(end, part).end == end);
        }
    }
    CHECK(end_rule(End::leader_lost, Part::deputy).record == EndRule::Record::if_leader_did_not);
    CHECK(end_rule(End::report_in_vain, Part::deputy).prints_cause);
}

TEST_CASE("The deputy is on another host than the leader, if there is one") {
    CHECK(deputy_rank(settings_of_hosts({"ctl01", "ctl01", "fn01", "fn02"})) == 2);
    CHECK(deputy_rank(settings_of_hosts(own_hosts)) == 1);
    CHECK(deputy_rank(settings_of_hosts({"here", "here", "here"})) == 1);
    CHECK(part_of(settings_of_hosts(own_hosts), 0) == Part::leader);
    CHECK(part_of(settings_of_hosts(own_hosts), 1) == Part::deputy);
    CHECK(part_of(settings_of_hosts(own_hosts), 2) == Part::others);
}

namespace {

/// With --on-failure continue.
Rank outliving(int self = leader_rank) {
    Rank rank(own_hosts, self);
    rank.settings->plan.outlives_consumers = true;
    return rank;
}

Evidence about(int rank, Found kind, const std::string& text = {}) {
    return {.kind = kind, .rank = rank, .text = text};
}

Notice notice_about(int rank, int life) {
    return make_notice(Notice::Kind::failure, rank, life, "why");
}

}  // namespace

TEST_CASE("A run that outlives consumers gives them up, and ends with any other rank") {
    for (const Found kind :
         {Found::process_gone, Found::silence, Found::transfer_failed, Found::failure_reported}) {
        Rank leader = outliving();
        const Decision decision = leader.judge(about(3, kind, "why"));
        REQUIRE(decision.lost);
        CHECK(decision.lost->rank == 3);
        CHECK_FALSE(decision.end);
        CHECK(failure_of_end(leader.judge(about(1, kind, "why"))).rank == 1);
    }
    Rank not_outliving;
    CHECK(failure_of_end(not_outliving.judge(about(3, Found::process_gone))).rank == 3);
}

TEST_CASE("A consumer that was given up counts again when it is back") {
    Rank leader = outliving();
    leader.heard_at(4.9, {1, 2});
    CHECK(leader.look_at(5.1).lost->rank == 3);
    leader.detector->given_up(3);
    CHECK(is_nothing(leader.look_at(5.2)));
    CHECK_FALSE(leader.judge(about(3, Found::process_gone)).lost);
    leader.heard_at(9, {1, 2});
    CHECK(is_nothing(leader.look_at(9)));
    leader.detector->returned(3, 1);
    leader.heard_at(13.9, {1, 2});
    CHECK(is_nothing(leader.look_at(13.9)));
    CHECK(leader.look_at(14.1).lost->rank == 3);
}

TEST_CASE("What others report of an earlier life of a consumer does not count") {
    Rank leader = outliving();
    CHECK(leader.detector->judge(notice_about(3, 0), 1, leader.now).lost->rank == 3);
    leader.detector->given_up(3);
    leader.detector->returned(3, 1);
    CHECK(is_nothing(leader.detector->judge(notice_about(3, 0), 1, leader.now)));
    CHECK_FALSE(leader.detector->judge(notice_about(3, 0), 1, leader.now).lost);
    CHECK(leader.detector->judge(notice_about(3, 1), 1, leader.now).lost->rank == 3);
}

TEST_CASE("A consumer that reports that it cannot go on ends the run") {
    Rank leader = outliving();
    const Decision decision = leader.detector->judge(notice_about(3, 0), 3, leader.now);
    CHECK_FALSE(decision.lost);
    CHECK(failure_of_end(decision).rank == 3);
}

TEST_CASE("Another rank reports a lost consumer once in its life, and waits for no answer") {
    Rank producer = outliving(1);
    const Decision first = producer.judge(about(2, Found::transfer_failed, "reset"));
    REQUIRE(first.report);
    CHECK(first.report->rank == 2);
    CHECK(first.report->detail == 0);
    CHECK(is_nothing(producer.judge(about(2, Found::process_gone))));
    producer.heard_at(4.5, {0});
    CHECK(is_nothing(producer.look_at(4.6)));
    producer.detector->returned(2, 3);
    const Decision again = producer.judge(about(2, Found::transfer_failed, "reset"));
    REQUIRE(again.report);
    CHECK(again.report->detail == 3);
}

TEST_CASE("A leader to which all hosts are silent is cut off itself, also when it could outlive consumers") {
    Rank leader = outliving();
    const Decision decision = leader.look_at(5.1);
    CHECK_FALSE(decision.lost);
    CHECK(failure_of_end(decision).rank == leader_rank);
}
