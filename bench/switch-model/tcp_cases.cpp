// TCP beside theory: the sawtooth of one NewReno flow, the period of CUBIC, the square-root law, DCTCP's
// queue, and shares.
#include <fmt/core.h>

#include <cmath>

#include "cases.hpp"
#include "rig.hpp"

namespace weir::switch_model {

namespace {

constexpr double wire_bytes = 1448 + 90;

core::TcpPlan tcp(core::CongestionControl control, bool ecn = false) {
    core::TcpPlan plan;
    plan.control = control;
    plan.ecn = ecn;
    plan.most_packets = 1U << 16U;
    return plan;
}

/// Flows from a host each into one port; the sources' links are ten times as fast.
class Dumbbell {
  public:
    Dumbbell(std::uint32_t flows, std::int64_t rate, core::Duration loop, const core::SwitchPlan& switches,
             const core::TcpPlan& plan)
        : sink_(flows), rig_(links(flows, rate, loop), switches, plain_nic(), plan) {
        for (std::uint32_t source = 0; source < flows; ++source) {
            flows_.push_back(rig_.stream(source, flows, PacketNetwork::Protocol::tcp));
        }
    }
    [[nodiscard]] Rig& rig() { return rig_; }
    [[nodiscard]] const std::vector<FlowIndex>& flows() const { return flows_; }
    [[nodiscard]] LinkIndex out() const { return Rig::down(sink_); }
    [[nodiscard]] const packet::TcpConnection& connection(std::size_t flow) {
        return dynamic_cast<const packet::TcpConnection&>(rig_.network().flow(flows_[flow]));
    }
    [[nodiscard]] double sent_again() {
        double sum = 0;
        for (const FlowIndex flow : flows_) {
            sum += static_cast<double>(rig_.network().flow(flow).packets_sent_again());
        }
        return sum;
    }

  private:
    static packet::Topology links(std::uint32_t flows, std::int64_t rate, core::Duration loop) {
        std::vector<core::BitRate> rates(flows, {10 * rate});
        rates.push_back({rate});
        return packet::star(rates, {loop.ns / 4});
    }
    std::uint32_t sink_;
    Rig rig_;
    std::vector<FlowIndex> flows_;
};

core::SwitchPlan drop_tail(double bytes) {
    core::SwitchPlan switches = plain_switch();
    switches.egress_threshold = {static_cast<std::int64_t>(bytes)};
    return switches;
}

/// One NewReno flow over 100 Mb/s and 10 ms, with a buffer of `share` of what is under way.
std::vector<Value> sawtooth(double share) {
    constexpr std::int64_t rate = 100'000'000;
    constexpr double window = 100e6 * 0.01 / 8 / wire_bytes;
    const core::SwitchPlan switches = drop_tail(share * window * wire_bytes);
    Dumbbell path(1, rate, core::Duration::milliseconds(10), switches, tcp(core::CongestionControl::newreno));
    Rig& rig = path.rig();
    rig.run_to(millisecond * 5'000);
    const auto before = static_cast<double>(rig.counts(path.out()).bytes);
    double least = 1e9;
    double most = 0;
    for (int sample = 1; sample <= 3'000; ++sample) {
        rig.run_to(millisecond * (5'000 + 10 * sample));
        const double now = path.connection(0).window();
        least = std::min(least, now);
        most = std::max(most, now);
    }
    const double use = (static_cast<double>(rig.counts(path.out()).bytes) - before) / (100e6 * 30 / 8);
    // The window goes from half of 1 + share to all of it, in units of what is under way without a queue;
    // below 1 a round takes the round trip and the link is partly idle, above it the link is full.
    const double top = 1 + share;
    const double below = (1 - top * top / 4) / 2;
    const double above = (top * top - 1) / 2;
    const double expected = top >= 2 ? 1 : (below + above) / ((1 - top / 2) + above);
    return {{"use of the link", fmt::format("{:.3f}", expected), 'F', expected - 0.03,
             std::min(1.0, expected + 0.03), use},
            {"largest window, segments", fmt::format("{:.0f}", window * top), 'F', window * top * 0.93,
             window * top * 1.07, most},
            {"least window / largest", "0.5", 'F', 0.45, 0.55, least / most},
            {"segments sent again", "above 0", 'F', 1, 1e9, path.sent_again()}};
}

/// One CUBIC flow over 100 Mb/s and 100 ms, with a buffer of 3/7 of what is under way.
std::vector<Value> cubic_period() {
    constexpr double window = 100e6 * 0.1 / 8 / wire_bytes;
    const double top = window / 0.7;
    Dumbbell path(1, 100'000'000, core::Duration::milliseconds(100), drop_tail((top - window) * wire_bytes),
                  tcp(core::CongestionControl::cubic));
    Rig& rig = path.rig();
    const double period = std::cbrt(0.3 * top / 0.4);
    rig.run_to(millisecond * 30'000);
    const auto before = static_cast<double>(rig.counts(path.out()).bytes);
    const auto reductions = static_cast<double>(path.connection(0).reductions());
    rig.run_to(millisecond * 330'000);
    const double use = (static_cast<double>(rig.counts(path.out()).bytes) - before) / (100e6 * 300 / 8);
    return {
        {"time between two reductions, s", fmt::format("{:.2f} (RFC 9438: K)", period), 'F', period * 0.85,
         period * 1.15, 300 / (static_cast<double>(path.connection(0).reductions()) - reductions)},
        {"use of the link", "1", 'F', 0.97, 1, use}};
}

/// Four NewReno flows with RED marks at 1 Gb/s: rate = 1.22 MSS / (RTT sqrt(p)), Mathis et al. 1997.
std::vector<Value> square_root_law() {
    core::SwitchPlan switches = plain_switch();
    switches.ecn.on = true;
    switches.ecn.none_below = {0};
    switches.ecn.all_above = {1'000'000};
    switches.ecn.probability_at_top = 0.02;
    constexpr double base_s = 0.002;
    Dumbbell path(4, giga, core::Duration::milliseconds(2), switches,
                  tcp(core::CongestionControl::newreno, true));
    Rig& rig = path.rig();
    rig.run_to(millisecond * 1'000);
    const packet::LinkCounts before = rig.counts(path.out());
    double queue = 0;
    constexpr int samples = 4'000;
    std::vector<double> packets(4);
    for (std::size_t flow = 0; flow < 4; ++flow) {
        packets[flow] = -rig.arrived(path.flows()[flow]);
    }
    for (int sample = 1; sample <= samples; ++sample) {
        rig.run_to(millisecond * (1'000 + sample));
        queue += static_cast<double>(rig.network().queued_bytes(path.out(), 0)) / samples;
    }
    double all = 0;
    for (std::size_t flow = 0; flow < 4; ++flow) {
        packets[flow] += rig.arrived(path.flows()[flow]);
        all += packets[flow];
    }
    const packet::LinkCounts& after = rig.counts(path.out());
    const double marked = static_cast<double>(after.marked - before.marked) /
                          static_cast<double>(after.packets - before.packets);
    const double round_trip = base_s + queue * 8 / 1e9;
    const double law = 1.22 / (round_trip * std::sqrt(marked));
    return {{"rate of a flow / rate of the law", "1", 'F', 0.85, 1.15, all / 4 / 4.0 / law},
            {"Jain's index of the shares", "at least 0.95", 'C', 0.95, 1, fairness_index(packets)}};
}

/// DCTCP with marks beyond 65 packets at 10 Gb/s and 100 us: Alizadeh et al., SIGCOMM 2010, section 3.3.
std::vector<Value> dctcp_queue(std::uint32_t flows) {
    constexpr double mark = 65;
    core::SwitchPlan switches = plain_switch();
    switches.ecn.on = true;
    switches.ecn.at_enqueue = true;
    switches.ecn.none_below = {static_cast<std::int64_t>(mark * wire_bytes)};
    switches.ecn.all_above = {static_cast<std::int64_t>(mark * wire_bytes) + 1};
    switches.ecn.probability_at_top = 1;
    Dumbbell path(flows, 10 * giga, core::Duration::microseconds(100), switches,
                  tcp(core::CongestionControl::dctcp, true));
    Rig& rig = path.rig();
    rig.run_to(millisecond * 100);
    const auto before = static_cast<double>(rig.counts(path.out()).bytes);
    std::vector<double> packets(flows);
    for (std::size_t flow = 0; flow < flows; ++flow) {
        packets[flow] = -rig.arrived(path.flows()[flow]);
    }
    std::vector<double> queue;
    constexpr int samples = 10'000;
    for (int sample = 1; sample <= samples; ++sample) {
        rig.run_to(millisecond * 100 + microsecond * 20 * sample);
        queue.push_back(static_cast<double>(rig.network().queued_bytes(path.out(), 0)) / wire_bytes);
    }
    for (std::size_t flow = 0; flow < flows; ++flow) {
        packets[flow] += rig.arrived(path.flows()[flow]);
    }
    std::sort(queue.begin(), queue.end());
    const double use = (static_cast<double>(rig.counts(path.out()).bytes) - before) / (10e9 * 0.2 / 8);
    const double in_flight = 10e9 * 100e-6 / 8 / wire_bytes;
    const double top = mark + flows;
    const double amplitude = std::sqrt(2.0 * flows * (in_flight + mark)) / 2;
    return {{"largest queue but for 1 %, packets", fmt::format("{:.0f} (K + N)", top), 'F', top * 0.85,
             top * 1.15, queue[samples - samples / 100]},
            {"swing of the queue, 1 to 99 %, packets", fmt::format("{:.1f}", amplitude), 'F', amplitude * 0.5,
             amplitude * 2, queue[samples - samples / 100] - queue[samples / 100]},
            {"use of the link", "at least 0.99", 'F', 0.99, 1, use},
            {"Jain's index of the shares", "at least 0.98", 'C', 0.98, 1, fairness_index(packets)}};
}

/// Eight flows into a drop-tail port with a buffer of what is under way.
std::vector<Value> shares(core::CongestionControl control) {
    constexpr double in_flight = 1e9 * 0.004 / 8;
    Dumbbell path(8, giga, core::Duration::milliseconds(4), drop_tail(in_flight), tcp(control));
    Rig& rig = path.rig();
    rig.run_to(millisecond * 2'000);
    const auto before = static_cast<double>(rig.counts(path.out()).bytes);
    const std::vector<double> packets = arrivals(rig, path.flows(), millisecond * 12'000);
    const double use = (static_cast<double>(rig.counts(path.out()).bytes) - before) / (1e9 * 10 / 8);
    return {{"use of the link", "at least 0.99", 'F', 0.99, 1, use},
            {"Jain's index of the shares", "at least 0.9", 'C', 0.9, 1, fairness_index(packets)},
            {"segments sent again", "above 0", 'F', 1, 1e9, path.sent_again()}};
}

}  // namespace

void add_tcp(std::vector<Case>& cases) {
    const std::string section = "TCP";
    const std::string slow = "one NewReno flow, 100 Mb/s, 10 ms, drop tail; buffer: ";
    cases.push_back({"tcp-sawtooth-full", section, slow + "what is under way", [] { return sawtooth(1); }});
    cases.push_back(
        {"tcp-sawtooth-quarter", section, slow + "a quarter of it", [] { return sawtooth(0.25); }});
    cases.push_back({"tcp-cubic-period", section,
                     "one CUBIC flow, 100 Mb/s, 100 ms, drop tail with 3/7 of what is under way",
                     cubic_period});
    cases.push_back({"tcp-square-root", section,
                     "four NewReno flows with ECN, 1 Gb/s, 2 ms, RED 0 to 1 MB, 2 %; 1 to 5 s",
                     square_root_law});
    cases.push_back({"dctcp-queue-2", section, "2 DCTCP flows, 10 Gb/s, 100 us, K 65 packets",
                     [] { return dctcp_queue(2); }});
    cases.push_back({"dctcp-queue-10", section, "10 DCTCP flows, 10 Gb/s, 100 us, K 65 packets",
                     [] { return dctcp_queue(10); }});
    const std::string eight = " flows, 1 Gb/s, 4 ms, drop tail with what is under way; 2 to 12 s";
    cases.push_back({"tcp-shares-newreno", section, "8 NewReno" + eight,
                     [] { return shares(core::CongestionControl::newreno); }});
    cases.push_back({"tcp-shares-cubic", section, "8 CUBIC" + eight,
                     [] { return shares(core::CongestionControl::cubic); }});
}

}  // namespace weir::switch_model
