// Connections over a network that loses, delays and swaps packets: every message arrives exactly once and in
// order, and the sender is informed of each of them, whatever happens on the way.
#include <algorithm>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"
#include "packet/credits.hpp"
#include "packet/queue_pair.hpp"
#include "packet/tcp_connection.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

constexpr Picoseconds microsecond = Picoseconds::nanoseconds(1000);

/// How bad the network is, both ways.
struct Weather {
    std::uint64_t loss_percent = 0;
    std::uint64_t marked_percent = 0;
    Picoseconds least_delay = microsecond * 5;
    Picoseconds more_delay;  ///< up to so much more for each packet
    bool in_order = true;
};

struct UnderWay {
    Picoseconds at;
    Packet packet;
};

class Channel {
  public:
    Channel(const Weather& weather, std::uint64_t seed) : weather_(weather), random_(seed, 1) {}

    void send(Packet packet, Picoseconds now) {
        if (random_.below(100) < weather_.loss_percent) {
            return;
        }
        packet.marked = packet.marked || random_.below(100) < weather_.marked_percent;
        const auto more = static_cast<std::uint64_t>(weather_.more_delay.count) + 1;
        Picoseconds at =
            now + weather_.least_delay + Picoseconds{static_cast<std::int64_t>(random_.below(more))};
        if (weather_.in_order) {
            at = latest_ = std::max(latest_, at);
        }
        under_way_.push_back({at, packet});
    }
    [[nodiscard]] Picoseconds next() const {
        Picoseconds first = Picoseconds::never();
        for (const UnderWay& one : under_way_) {
            first = std::min(first, one.at);
        }
        return first;
    }
    Packet receive() {
        const auto first = std::min_element(under_way_.begin(), under_way_.end(),
                                            [](const UnderWay& a, const UnderWay& b) { return a.at < b.at; });
        const Packet packet = first->packet;
        under_way_.erase(first);
        return packet;
    }

  private:
    Weather weather_;
    core::Random random_;
    Picoseconds latest_;
    std::vector<UnderWay> under_way_;
};

/// The receiver gives what is wanted, at once.
void give_credits(CreditDemand& demand, const Packet& heard, Channel& back, Picoseconds now) {
    demand.hear(heard);
    if (!demand.wants() && heard.kind != Packet::Kind::ask) {
        return;
    }
    demand.give(20'000);
    Packet credit{.flow = {}, .to = {}, .kind = Packet::Kind::credit};
    demand.fill(credit);
    back.send(credit, now);
}

/// Runs until all `messages` are through on both sides; false if nothing more happens or it takes too long.
bool all_delivered(Flow& flow, const Weather& weather, std::uint64_t seed, std::uint64_t messages) {
    core::Random random(seed, 2);
    Channel there(weather, seed * 2);
    Channel back(weather, seed * 2 + 1);
    Picoseconds now;
    std::vector<MessageHandle> arrived;
    std::vector<MessageHandle> sent;
    std::uint64_t posted = 0;
    for (int step = 0; step < 1'000'000 && sent.size() < messages; ++step) {
        if (posted < messages && random.below(4) == 0) {
            flow.post(posted++, {static_cast<std::int64_t>(1 + random.below(20'000))});
        }
        const Picoseconds sending =
            flow.has_packet() ? std::max(now, flow.next_send()) : Picoseconds::never();
        const Picoseconds next = std::min({sending, there.next(), back.next(), flow.timeout_at()});
        if (next == Picoseconds::never()) {
            if (posted == messages) {
                return false;
            }
            continue;
        }
        now = std::max(now, next);
        if (there.next() <= now) {
            const Packet packet = there.receive();
            if (flow.demand != nullptr) {
                give_credits(*flow.demand, packet, back, now);
            }
            if (packet.kind == Packet::Kind::ask) {
                continue;
            }
            const Flow::Replies replies = flow.on_data(packet, now, arrived);
            if (replies.acknowledge || replies.negative) {
                back.send({.flow = {},
                           .to = {},
                           .sequence = flow.expected(),
                           .detail = packet.sequence,
                           .kind = replies.negative ? Packet::Kind::nak : Packet::Kind::ack,
                           .marked = replies.echo},
                          now);
            }
            if (replies.notify) {
                back.send({.flow = {}, .to = {}, .kind = Packet::Kind::cnp}, now);
            }
        } else if (back.next() <= now) {
            flow.on_reply(back.receive(), now, sent);
        } else if (flow.timeout_at() <= now) {
            flow.on_timeout(now);
        } else {
            there.send(flow.send(now), now);
        }
        // In order and each once.
        const auto in_order = [](const std::vector<MessageHandle>& handles) {
            return handles.empty() || handles.back() == handles.size() - 1;
        };
        if (!in_order(arrived) || !in_order(sent) || sent.size() > arrived.size()) {
            return false;
        }
    }
    return sent.size() == messages && arrived.size() == messages;
}

Weather draw_weather(core::Random& random) {
    Weather weather;
    weather.loss_percent = random.below(3) == 0 ? 0 : random.below(30);
    weather.marked_percent = random.below(2) == 0 ? 0 : random.below(100);
    weather.in_order = random.below(3) != 0;
    // Often longer than the time-outs below.
    weather.more_delay =
        microsecond * static_cast<std::int64_t>(random.below(2) == 0 ? 0 : random.below(3000));
    return weather;
}

constexpr core::BitRate line{10'000'000'000};

}  // namespace

TEST_CASE("A queue pair delivers each message once and in order, whatever happens to its packets") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{81}));
    CAPTURE(seed);
    core::Random random(seed, 0);
    core::NicPlan plan;
    plan.payload = {1000};
    plan.recovery = seed % 2 == 0 ? core::LossRecovery::go_back_n : core::LossRecovery::selective;
    plan.packets_per_ack = static_cast<std::uint32_t>(1 + random.below(20));
    plan.ack_timeout = core::Duration::microseconds(static_cast<std::int64_t>(20 + random.below(1000)));
    plan.window = {static_cast<std::int64_t>(random.below(3) == 0 ? 0 : 1 + random.below(30'000))};
    plan.dcqcn.on = random.below(2) == 0;
    plan.control = static_cast<core::PairControl>(seed % 3);
    plan.credits.unasked = {static_cast<std::int64_t>(random.below(2) == 0 ? 0 : random.below(100'000))};
    plan.swift.target = core::Duration::microseconds(static_cast<std::int64_t>(5 + random.below(100)));
    QueuePair flow(plan, {{0}, {0}, {1}, 0, line});
    CHECK(all_delivered(flow, draw_weather(random), seed, 30));
}

TEST_CASE("A TCP connection delivers each message once and in order, whatever happens to its packets") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{91}));
    CAPTURE(seed);
    core::Random random(seed, 0);
    core::TcpPlan plan;
    constexpr core::CongestionControl controls[] = {
        core::CongestionControl::newreno, core::CongestionControl::cubic, core::CongestionControl::dctcp};
    plan.control = controls[seed % 3];
    plan.ecn = seed % 3 == 2 || random.below(2) == 0;
    plan.most_packets = static_cast<std::uint32_t>(1 + random.below(random.below(2) == 0 ? 8 : 500));
    plan.least_timeout = core::Duration::microseconds(static_cast<std::int64_t>(20 + random.below(5000)));
    plan.most_timeout = core::Duration::milliseconds(100);
    TcpConnection flow(plan, {{0}, {0}, {1}, 0, line});
    CHECK(all_delivered(flow, draw_weather(random), seed, 30));
}
