// Who is named when ranks are not heard: the lost host, and not one that merely listens to it.
#include "runtime/silence.hpp"

#include <unistd.h>

#include <csignal>

#include "catch.hpp"
#include "runtime/run_ending.hpp"

using namespace weir::core;
using namespace weir::runtime;

namespace {

constexpr int self_rank = 0;
constexpr Duration missed = Duration::seconds(2);

Instant after_s(double seconds) {
    return Instant{} + Duration{static_cast<std::int64_t>(seconds * 1e9)};
}

/// A scheduler, a producer, and consumers on the other `hosts`.
RunSettings settings_of_hosts(const std::vector<std::string>& hosts) {
    RunSettings settings;
    settings.plan.producers = 1;
    settings.plan.consumers = static_cast<std::uint32_t>(hosts.size() - 2);
    std::vector<NodeId> nodes{scheduler_node(), {Role::producer, 0}};
    std::vector<Place> places;
    for (const std::string& host : hosts) {
        places.push_back({host, 0, {}, 0});
    }
    for (std::uint32_t index = 0; index + 2 < hosts.size(); ++index) {
        nodes.push_back({Role::consumer, index});
    }
    settings.roles = RoleMap(nodes);
    settings.set_places(places);
    settings.silence_timeout = Duration::seconds(5);
    return settings;
}

const std::vector<std::string> own_hosts{"ctl01", "eb01", "fn01", "fn02"};

}  // namespace

TEST_CASE("The one rank that is not heard is the cause") {
    const RunSettings settings = settings_of_hosts(own_hosts);
    PeerWatch watch(settings.places, self_rank, after_s(0));
    for (const int rank : {1, 2}) {
        watch.heard(rank, after_s(4.9));
    }
    const Silence silence = explain_silence(settings, watch, self_rank, 3, after_s(5.1));
    CHECK(silence.rank == 3);
    CHECK(silence.what == "rank 3 (consumer 1 on fn02) has not been heard for 5.0 s");
}

TEST_CASE("Who is silent as well is told with its host") {
    const RunSettings settings = settings_of_hosts({"ctl01", "eb01", "fn01", "fn01", "fn02"});
    PeerWatch watch(settings.places, self_rank, after_s(0));
    watch.heard(1, after_s(5));
    watch.heard(3, after_s(0.1));
    watch.heard(4, after_s(2));
    const Silence silence = explain_silence(settings, watch, self_rank, 2, after_s(5.1));
    CHECK(silence.rank == 2);
    CHECK(silence.what ==
          "rank 2 (consumer 0 on fn01) has not been heard for 5.0 s; nor have 2 more ranks on fn01, fn02");
}

TEST_CASE("Of many silent hosts some are named and the others counted") {
    const RunSettings settings =
        settings_of_hosts({"ctl01", "eb01", "fn01", "fn02", "fn03", "fn04", "fn05", "fn06"});
    PeerWatch watch(settings.places, self_rank, after_s(0));
    watch.heard(1, after_s(5));
    const Silence silence = explain_silence(settings, watch, self_rank, 2, after_s(5.1));
    CHECK(silence.what ==
          "rank 2 (consumer 0 on fn01) has not been heard for 5.0 s; nor have 5 more ranks on fn02, fn03, "
          "fn04, fn05 and 1 other host");
}

TEST_CASE("A scheduler that hears no other host blames its own") {
    const RunSettings settings = settings_of_hosts(own_hosts);
    PeerWatch watch(settings.places, self_rank, after_s(0));
    watch.heard(2, after_s(0.4));
    const Silence silence = explain_silence(settings, watch, self_rank, 1, after_s(5.1));
    CHECK(silence.rank == self_rank);
    CHECK(silence.what ==
          "rank 0 (scheduler on ctl01) hears no other host any more: none of the 3 ranks there for 4.7 s");
}

TEST_CASE("Two hosts that do not hear each other say nothing about whose fault it is") {
    const RunSettings settings = settings_of_hosts({"ctl01", "fn01", "fn01"});
    PeerWatch watch(settings.places, self_rank, after_s(0));
    CHECK(explain_silence(settings, watch, self_rank, 1, after_s(5.1)).rank == 1);
}

TEST_CASE("A silence on the own host is not that of the network") {
    const RunSettings settings = settings_of_hosts({"ctl01", "eb01", "fn01", "ctl01"});
    PeerWatch watch(settings.places, self_rank, after_s(0));
    CHECK(explain_silence(settings, watch, self_rank, 3, after_s(5.1)).rank == 3);
}

TEST_CASE("After a signal the rank that fell silent is named") {
    const RunSettings settings = settings_of_hosts(own_hosts);
    PeerWatch watch(settings.places, self_rank, after_s(9));
    for (const int rank : {1, 3}) {
        watch.heard(rank, after_s(10.1));
    }
    const Silence silence =
        explain_signal(settings, watch, self_rank, SIGTERM, after_s(10), missed, after_s(10.2));
    CHECK(silence.rank == 2);
    CHECK(silence.what ==
          "rank 2 (consumer 0 on fn01) fell silent, and signal 15 (Terminated) ended the run");
}

TEST_CASE("After a signal nobody is blamed if all are heard, or nobody is") {
    const RunSettings settings = settings_of_hosts(own_hosts);
    PeerWatch watch(settings.places, self_rank, after_s(9));
    CHECK(explain_signal(settings, watch, self_rank, SIGTERM, after_s(10), missed, after_s(10.2)).rank == -1);
    for (const int rank : {1, 2, 3}) {
        watch.heard(rank, after_s(10.1));
    }
    CHECK(explain_signal(settings, watch, self_rank, SIGTERM, after_s(10), missed, after_s(10.2)).rank == -1);
}

TEST_CASE("After a signal a scheduler that has not heard any other host for long blames its own") {
    const RunSettings settings = settings_of_hosts(own_hosts);
    const PeerWatch watch(settings.places, self_rank, after_s(7));
    const Silence silence =
        explain_signal(settings, watch, self_rank, SIGTERM, after_s(10), missed, after_s(10.2));
    CHECK(silence.rank == self_rank);
    CHECK(silence.what ==
          "rank 0 (scheduler on ctl01) hears no other host any more: none of the 3 ranks there for 3.2 s; "
          "signal 15 (Terminated) ended the run");
}

TEST_CASE("After a signal ranks whose processes are seen to be there are not blamed") {
    RunSettings settings = settings_of_hosts({"ctl01", "eb01", "ctl01"});
    settings.places[2].pid = getpid();
    PeerWatch watch(settings.places, self_rank, after_s(9));
    watch.heard(1, after_s(10.1));
    CHECK(explain_signal(settings, watch, self_rank, SIGTERM, after_s(10), missed, after_s(10.2)).rank == -1);
}

TEST_CASE("A transfer that fails is the peer's fault while other hosts are heard") {
    const RunSettings settings = settings_of_hosts(own_hosts);
    PeerWatch watch(settings.places, self_rank, after_s(0));
    watch.heard(3, after_s(9));
    const Silence peer =
        explain_failed_transfer(settings, watch, self_rank, 1, "broken", missed, after_s(10));
    CHECK(peer.rank == 1);
    CHECK(peer.what ==
          "rank 0 (scheduler on ctl01) and rank 1 (producer 0 on eb01) cannot talk to each other any more: "
          "broken");
    const Silence own = explain_failed_transfer(settings, watch, self_rank, 1, "broken", missed, after_s(12));
    CHECK(own.rank == self_rank);
    CHECK(own.what ==
          "rank 0 (scheduler on ctl01) hears no other host any more: none of the 3 ranks there for 3.0 s; "
          "broken");
}

TEST_CASE("The deputy is on another host than the scheduler, if there is one") {
    CHECK(deputy_of(settings_of_hosts({"ctl01", "ctl01", "fn01", "fn02"})) == 2);
    CHECK(deputy_of(settings_of_hosts(own_hosts)) == 1);
    CHECK(deputy_of(settings_of_hosts({"here", "here", "here"})) == 1);
}
