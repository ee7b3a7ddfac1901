#include "packet/tcp_connection.hpp"

#include <cmath>
#include <deque>

#include "catch.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

/// A path of one round trip: a round sends what the window allows, and brings the acknowledgements.
class Path {
  public:
    explicit Path(const core::TcpPlan& settings)
        : plan(settings), flow(plan, {{0}, {0}, {1}, 0, {100'000'000'000}}) {}

    /// One round. `lost` and `marked`: from a packet's place in the round. Returns how many were sent.
    template <typename Lost, typename Marked>
    std::size_t round(Lost lost, Marked marked) {
        std::deque<Packet> replies;
        std::size_t sent = 0;
        for (; flow.has_packet(); ++sent) {
            Packet packet = flow.send(now);
            if (lost(sent)) {
                continue;
            }
            packet.marked = marked(sent);
            const Flow::Replies answer = flow.on_data(packet, now, arrived);
            if (answer.acknowledge || answer.negative) {
                Packet reply;
                reply.kind = answer.negative ? Packet::Kind::nak : Packet::Kind::ack;
                reply.sequence = flow.expected();
                reply.detail = packet.sequence;
                reply.marked = answer.echo;
                replies.push_back(reply);
            }
        }
        now += round_trip;
        for (const Packet& reply : replies) {
            flow.on_reply(reply, now, acknowledged);
        }
        return sent;
    }
    std::size_t round() { return round(never, never); }

    static bool never(std::size_t /*place*/) { return false; }

    Picoseconds round_trip = millisecond;
    core::TcpPlan plan;
    TcpConnection flow;
    Picoseconds now;
    std::vector<MessageHandle> arrived;
    std::vector<MessageHandle> acknowledged;
};

core::TcpPlan tcp(core::CongestionControl control) {
    core::TcpPlan plan;
    plan.control = control;
    plan.ecn = control == core::CongestionControl::dctcp;
    return plan;
}

const auto first = [](std::size_t place) { return place == 0; };

}  // namespace

TEST_CASE("Slow start doubles the window in each round, from 10 segments") {
    const auto control = GENERATE(core::CongestionControl::newreno, core::CongestionControl::cubic,
                                  core::CongestionControl::dctcp);
    Path path(tcp(control));
    path.flow.post(1, {100'000'000});
    CHECK(path.round() == 10);
    CHECK(path.round() == 20);
    CHECK(path.round() == 40);
    CHECK(path.flow.packets_sent_again() == 0);
}

TEST_CASE("NewReno halves the window for a lost segment and then grows by one segment in each round") {
    Path path(tcp(core::CongestionControl::newreno));
    path.flow.post(1, {100'000'000});
    for (int round = 0; round < 4; ++round) {
        path.round();
    }
    const double before = path.flow.window();
    REQUIRE(before == 160);
    path.round(first, Path::never);
    CHECK(path.flow.window() == Approx(before / 2).margin(1));
    path.round();  // sends the lost one again
    CHECK(path.flow.packets_sent_again() == 1);
    const double start = path.flow.window();
    for (int round = 0; round < 20; ++round) {
        path.round();
    }
    CHECK(path.flow.window() - start == Approx(20).margin(2));
    CHECK(path.flow.reductions() == 1);
}

TEST_CASE("CUBIC keeps 0.7 of the window and is back after the cube root of 0.3 W / 0.4 seconds") {
    Path path(tcp(core::CongestionControl::cubic));
    // Long: on short paths CUBIC grows as NewReno does (RFC 9438, 4.3).
    path.round_trip = millisecond * 100;
    path.flow.post(1, {4'000'000'000});
    for (int round = 0; round < 6; ++round) {
        path.round();
    }
    const double before = path.flow.window();
    REQUIRE(before == 640);
    path.round(first, Path::never);
    CHECK(path.flow.window() == Approx(before * 0.7).margin(1));
    const Picoseconds from = path.now;
    while (path.flow.window() < before) {
        path.round();
        REQUIRE((path.now - from).seconds() < 20);
    }
    CHECK((path.now - from).seconds() == Approx(std::cbrt(0.3 * before / 0.4)).epsilon(0.03));
}

TEST_CASE("DCTCP stays close to the mark: its alpha is the smoothed share of marked segments") {
    Path path(tcp(core::CongestionControl::dctcp));
    path.flow.post(1, {400'000'000});
    // All segments of a round are marked if there are more than 100.
    const auto beyond = [&path](std::size_t) { return path.flow.window() > 100; };
    double lowest = 1e9;
    double highest = 0;
    for (int round = 0; round < 400; ++round) {
        path.round(Path::never, beyond);
        if (round >= 200) {
            lowest = std::min(lowest, path.flow.window());
            highest = std::max(highest, path.flow.window());
        }
    }
    // Alizadeh et al. 2010: alpha is about sqrt(2 / W), one reduction W alpha / 2: 7 segments.
    CHECK(highest > 100);
    CHECK(highest < 106);
    CHECK(highest - lowest > 4);
    CHECK(highest - lowest < 14);
}

TEST_CASE("TCP retransmits after its time-out and doubles that; one segment starts anew") {
    Path path(tcp(core::CongestionControl::newreno));
    path.flow.post(1, {1000 * 1448});
    path.round();
    path.round();
    const auto all = [](std::size_t) { return true; };
    path.round(all, Path::never);
    CHECK_FALSE(path.flow.has_packet());
    const Picoseconds least = Picoseconds::of(path.plan.least_timeout);
    CHECK(path.flow.timeout_at() - path.now <= least);
    path.now = path.flow.timeout_at();
    path.flow.on_timeout(path.now);
    CHECK(path.flow.window() == 1);
    CHECK(path.round(all, Path::never) == 1);
    const Picoseconds from = path.now;
    path.now = path.flow.timeout_at();
    CHECK((path.now - from).seconds() == Approx(2 * least.seconds()).epsilon(0.01));
    path.flow.on_timeout(path.now);
    for (int round = 0; round < 100 && path.acknowledged.empty(); ++round) {
        path.round();
    }
    CHECK(path.acknowledged == std::vector<MessageHandle>{1});
    CHECK(path.arrived == std::vector<MessageHandle>{1});
}

TEST_CASE("Three segments behind a missing one make it lost, two do not") {
    Path path(tcp(core::CongestionControl::newreno));
    path.flow.post(1, {100'000'000});
    path.round();
    const double before = path.flow.window();
    const auto all_but_two = [](std::size_t place) { return place == 0 || place > 2; };
    path.round(all_but_two, Path::never);
    CHECK(path.flow.window() == before);
    CHECK(path.flow.reductions() == 0);
}
