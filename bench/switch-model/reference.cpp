// Holds the packet model against published and computed reference values: prints one line for each, with the
// band that it must lie in, and PASS or MISS. See reference.md for where the values come from.
//
//   switch_reference [--csv] [--only TEXT]
//
// Exit status: 0 all values lie in their bands, 1 one does not, 2 bad usage.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "packet/packet_network.hpp"

namespace {

using namespace weir;
using namespace weir::packet;

constexpr std::int64_t giga = 1'000'000'000;
constexpr Picoseconds millisecond = Picoseconds::nanoseconds(1'000'000);
constexpr core::Bytes endless{4'000'000'000};
constexpr Priority urgent = 7;

struct Value {
    std::string name;
    std::string reference;  ///< as it is printed
    double low = 0;
    double high = 0;
    double found = 0;
    [[nodiscard]] bool passes() const { return low <= found && found <= high; }
};

using Values = std::vector<Value>;

/// Sources to one sink, which is the last host; every source is host i.
class Star {
  public:
    Star(std::vector<core::BitRate> hosts, core::Duration delay, const core::SwitchPlan& switches,
         const core::NicPlan& nics, const core::TcpPlan& tcp = {}, std::uint64_t seed = 1)
        : hosts_(static_cast<std::uint32_t>(hosts.size())),
          topology_(star(hosts, delay)),
          network_({.topology = topology_, .switches = switches, .nics = nics, .tcp = tcp, .seed = seed}) {}

    FlowIndex stream(std::uint32_t from, std::uint32_t to, PacketNetwork::Protocol protocol = {}) {
        const FlowIndex flow = network_.connect({from}, {to}, 0, protocol);
        network_.post(network_.now(), flow, 0, endless);
        return flow;
    }
    void run_to(Picoseconds until) {
        while (network_.next_time() <= until) {
            network_.advance(until);
        }
    }
    [[nodiscard]] PacketNetwork& network() { return network_; }
    /// The link from a host to the switch, and the one back.
    [[nodiscard]] static LinkIndex up(std::uint32_t host) { return 2 * host; }
    [[nodiscard]] static LinkIndex down(std::uint32_t host) { return 2 * host + 1; }
    [[nodiscard]] std::uint32_t sink() const { return hosts_ - 1; }

  private:
    std::uint32_t hosts_;
    Topology topology_;
    PacketNetwork network_;
};

std::vector<core::BitRate> equal(std::uint32_t hosts, std::int64_t rate) {
    return std::vector<core::BitRate>(hosts, {rate});
}

/// Packets of 1000 B without headers; acknowledgements and CNPs go first.
core::NicPlan plain_nic() {
    core::NicPlan nic;
    nic.payload = {1000};
    nic.overhead = {0};
    nic.ack_priority = nic.cnp_priority = urgent;
    nic.strict = 1U << urgent;
    return nic;
}

core::SwitchPlan plain_switch() {
    core::SwitchPlan settings;
    settings.pool = {giga};
    settings.strict = 1U << urgent;
    return settings;
}

// DCQCN

struct MarkingCase {
    double all_above = 200e3;
    double probability = 0.01;
};

/// Solves the fixed point of DCQCN for the probability that a packet is marked (Zhu, Ghobadi, Misra, Padhye,
/// "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016), and returns the queue in
/// bytes. `rate` in packets of 1000 B per second.
double fixed_point_queue(double capacity, double flows, const MarkingCase& marking) {
    constexpr double tau = 50e-6;
    constexpr double timer = 55e-6;
    constexpr double stages = 5;
    constexpr double counter = 10e6 / 1000;
    constexpr double increase = 40e6 / 8000;
    const double rate = capacity / flows;
    const auto difference = [&](double p) {
        const double a = 1 - std::pow(1 - p, tau * rate);
        const double big_a = 1 - std::pow(1 - p, timer * rate);
        const double b = p / (std::pow(1 - p, -counter) - 1);
        const double c = b * std::pow(1 - p, stages * counter);
        const double d = p / (std::pow(1 - p, -timer * rate) - 1);
        const double e = d * std::pow(1 - p, stages * timer * rate);
        return a * a * big_a / ((b + d) * (c + e)) - tau * tau * increase * rate;
    };
    double low = 1e-9;
    double high = 0.5;
    for (int step = 0; step < 200; ++step) {
        const double middle = std::sqrt(low * high);
        (difference(middle) < 0 ? low : high) = middle;
    }
    constexpr double none_below = 5e3;
    const double queue = none_below + low / marking.probability * (marking.all_above - none_below);
    return low <= marking.probability ? queue : marking.all_above;
}

struct Statistics {
    double mean = 0;
    double use = 0;
    double worst_flow = 0;  ///< relative to its share
    double peak = 0;
};

Statistics run_dcqcn(std::uint32_t flows, std::int64_t rate, const core::EcnPlan& ecn, double loop_us) {
    core::SwitchPlan switches = plain_switch();
    switches.ecn = ecn;
    switches.ecn.on = true;
    core::NicPlan nics = plain_nic();
    nics.dcqcn.on = true;
    Star star(equal(flows + 1, rate), core::Duration{static_cast<std::int64_t>(loop_us * 250)}, switches,
              nics);
    for (std::uint32_t source = 0; source < flows; ++source) {
        star.stream(source, flows);
    }
    PacketNetwork& network = star.network();
    const LinkIndex out = Star::down(flows);
    star.run_to(millisecond * 100);
    const std::uint64_t before = network.counts(out, 0).bytes;
    std::vector<std::uint64_t> before_each;
    for (std::uint32_t source = 0; source < flows; ++source) {
        before_each.push_back(network.counts(Star::up(source), 0).bytes);
    }
    Statistics found;
    constexpr int samples = 40'000;
    for (int sample = 1; sample <= samples; ++sample) {
        star.run_to(millisecond * 100 + Picoseconds::nanoseconds(10'000) * sample);
        found.mean += static_cast<double>(network.queued_bytes(out, 0)) / samples;
    }
    constexpr double seconds = 0.4;
    const double capacity = static_cast<double>(rate) * seconds / 8;
    found.use = static_cast<double>(network.counts(out, 0).bytes - before) / capacity;
    for (std::uint32_t source = 0; source < flows; ++source) {
        const auto bytes =
            static_cast<double>(network.counts(Star::up(source), 0).bytes - before_each[source]);
        found.worst_flow = std::max(found.worst_flow, std::abs(bytes / (capacity / flows) - 1));
    }
    found.peak = static_cast<double>(network.counts(out, 0).peak_queue_bytes);
    return found;
}

void add_fixed_point(Values& values, std::uint32_t flows, std::int64_t rate) {
    const core::EcnPlan ecn;
    const double expected = fixed_point_queue(static_cast<double>(rate) / 8000, flows, {});
    const bool below_top = expected < static_cast<double>(ecn.all_above.count);
    const Statistics found = run_dcqcn(flows, rate, ecn, 4);
    const std::string name = fmt::format("DCQCN, {} flows at {} Gb/s", flows, rate / giga);
    values.push_back({name + ": mean queue in KB", fmt::format("{:.2f} (fixed point)", expected / 1e3),
                      expected / 1e3 * (below_top ? 1.0 : 0.85), expected / 1e3 * (below_top ? 1.45 : 1.02),
                      found.mean / 1e3});
    values.push_back({name + ": use of the link", "at least 0.99", 0.99, 1.0, found.use});
    values.push_back(
        {name + ": a flow's largest distance from its share", "0.08", 0, 0.08, found.worst_flow});
}

void dcqcn_40g(Values& values) {
    for (const std::uint32_t flows : {2U, 4U, 8U, 10U, 16U, 64U}) {
        add_fixed_point(values, flows, 40 * giga);
    }
}

void dcqcn_100g(Values& values) {
    for (const std::uint32_t flows : {2U, 8U, 14U, 72U}) {
        add_fixed_point(values, flows, 100 * giga);
    }
}

void marking_point(Values& values) {
    core::EcnPlan ecn;
    ecn.at_enqueue = true;
    const Statistics found = run_dcqcn(10, 40 * giga, ecn, 4);
    values.push_back({"marked at enqueue, 10 flows at 40 Gb/s: mean queue in KB", "65", 65 * 0.85, 65 * 1.15,
                      found.mean / 1e3});
    values.push_back({"marked at enqueue: use of the link", "0.977", 0.967, 0.987, found.use});
    const Statistics slow = run_dcqcn(10, 40 * giga, {}, 85);
    values.push_back(
        {"loop of 85 us, 10 flows at 40 Gb/s: use of the link", "0.936 to 0.950", 0.92, 0.96, slow.use});
}

/// Peak = Kmax + C ((N-1) D + tau sum over k >= 1 of max(0, N / 2^k - 1)), before the first CNPs have acted.
void start_burst(Values& values) {
    for (const std::uint32_t flows : {2U, 4U, 8U, 10U, 16U}) {
        const double bytes_per_s = 40e9 / 8;
        double sum = 0;
        for (double left = flows / 2.0; left > 1; left /= 2) {
            sum += left - 1;
        }
        const double expected = 200e3 + bytes_per_s * ((flows - 1) * 4e-6 + 50e-6 * sum);
        core::SwitchPlan switches = plain_switch();
        switches.ecn.on = true;
        core::NicPlan nics = plain_nic();
        nics.dcqcn.on = true;
        Star star(equal(flows + 1, 40 * giga), core::Duration::nanoseconds(1000), switches, nics);
        for (std::uint32_t source = 0; source < flows; ++source) {
            star.stream(source, flows);
        }
        star.run_to(millisecond * 2);
        const auto peak = static_cast<double>(star.network().counts(Star::down(flows), 0).peak_queue_bytes);
        values.push_back({fmt::format("start burst of {} flows at 40 Gb/s: peak queue in KB", flows),
                          fmt::format("{:.0f} (formula)", expected / 1e3), expected / 1e3 * 0.9,
                          expected / 1e3 * 1.1, peak / 1e3});
    }
}

void recovery_slope(Values& values) {
    core::DcqcnPlan settings;
    settings.on = true;
    ReactionPoint point(settings, {40 * giga});
    for (int notification = 0; notification < 200; ++notification) {
        point.on_notification(Picoseconds::nanoseconds(50'000) * notification);
    }
    // After fast recovery, one step of Rai per timer period.
    const Picoseconds from = Picoseconds::nanoseconds(50'000) * 200 + Picoseconds::nanoseconds(55'000) * 12;
    const double before = point.rate(from);
    const double after = point.rate(from + millisecond * 2);
    values.push_back({"recovery without marks: Mb/s per ms", "727 (Rai / T); 680 in ns-3", 640, 740,
                      (after - before) / 2e6});
}

// PFC

core::SwitchPlan pause_at_40_kb() {
    core::SwitchPlan switches = plain_switch();
    switches.lossless = 1;
    switches.pool = {100'000'000};
    switches.ingress_threshold = {40'000};
    switches.headroom_at_100g = {200'000};
    return switches;
}

/// Gb/s of each flow, from 20 to 120 ms.
std::vector<double> goodputs(Star& star, const std::vector<FlowIndex>& flows) {
    star.run_to(millisecond * 20);
    std::vector<double> rates;
    for (const FlowIndex flow : flows) {
        rates.push_back(-static_cast<double>(star.network().flow(flow).expected()));
    }
    star.run_to(millisecond * 120);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        rates[flow] = (rates[flow] + star.network().flow(flows[flow]).expected()) * 8000 / 0.1 / 1e9;
    }
    return rates;
}

void add_fairness(Values& values, const std::vector<std::uint32_t>& flows_of_port) {
    const auto ports = static_cast<std::uint32_t>(flows_of_port.size());
    Star star(equal(ports + 1, 40 * giga), core::Duration::nanoseconds(1000), pause_at_40_kb(), plain_nic());
    std::vector<FlowIndex> flows;
    std::vector<double> expected;
    std::string name = "PFC, flows";
    for (std::uint32_t port = 0; port < ports; ++port) {
        name += fmt::format("{}{}", port == 0 ? " " : "+", flows_of_port[port]);
        for (std::uint32_t flow = 0; flow < flows_of_port[port]; ++flow) {
            flows.push_back(star.stream(port, ports));
            expected.push_back(40.0 / ports / flows_of_port[port]);
        }
    }
    const std::vector<double> found = goodputs(star, flows);
    for (const std::size_t flow : {std::size_t{0}, flows.size() - 1}) {
        values.push_back({fmt::format("{} into one port of 40 Gb/s: flow {} in Gb/s", name, flow),
                          fmt::format("{:.2f}", expected[flow]), expected[flow] * 0.98, expected[flow] * 1.02,
                          found[flow]});
    }
    values.push_back({name + ": packets dropped", "0", 0, 0,
                      static_cast<double>(star.network().counts(Star::down(ports), 0).dropped)});
}

void pfc_fairness(Values& values) {
    add_fairness(values, {3, 1});
    add_fairness(values, {4, 1, 1, 1});
}

void add_head_of_line(Values& values, std::uint32_t others, double measured, double paused) {
    const std::uint32_t shared = others + 1;
    const std::uint32_t idle = others + 2;
    Star star(equal(others + 3, 40 * giga), core::Duration::nanoseconds(1000), pause_at_40_kb(), plain_nic());
    std::vector<FlowIndex> flows{star.stream(0, idle), star.stream(0, shared)};
    for (std::uint32_t other = 1; other <= others; ++other) {
        flows.push_back(star.stream(other, shared));
    }
    const std::vector<double> found = goodputs(star, flows);
    const Picoseconds held = star.network().counts(Star::up(0), 0).paused;
    const double share = 40.0 / (others + 1);
    const std::string name = fmt::format("head of line, {} other ports: ", others);
    values.push_back(
        {name + "victim in Gb/s", fmt::format("{:.2f}", measured), share * 0.85, share, found[0]});
    values.push_back({name + "victim / its neighbour", "1", 0.97, 1.03, found[0] / found[1]});
    values.push_back({name + "share of time paused", fmt::format("{:.2f}", paused), paused - 0.04,
                      paused + 0.04, held.seconds() / 0.12});
}

void head_of_line(Values& values) {
    add_head_of_line(values, 2, 12.22, 0.38);
    add_head_of_line(values, 3, 9.07, 0.54);
    add_head_of_line(values, 7, 4.46, 0.77);
}

/// Four switches in a ring with a host each; flows A-B-C-D and C-D-A-B of hosts at the ring's speed.
struct Ring {
    Topology topology;
    std::vector<NodeIndex> hosts;
    std::vector<LinkIndex> ring;  ///< from switch i to i + 1
};

Values all_values(const std::string& only) {
    const std::vector<std::pair<std::string, std::function<void(Values&)>>> groups{
        {"dcqcn-40g", dcqcn_40g},       {"dcqcn-100g", dcqcn_100g},         {"marking-point", marking_point},
        {"start-burst", start_burst},   {"recovery-slope", recovery_slope}, {"pfc-fairness", pfc_fairness},
        {"head-of-line", head_of_line},
    };
    Values values;
    for (const auto& [name, run] : groups) {
        if (name.find(only) != std::string::npos) {
            run(values);
        }
    }
    return values;
}

}  // namespace

int main(int argc, char** argv) {
    std::string only;
    bool csv = false;
    for (int index = 1; index < argc; ++index) {
        if (std::strcmp(argv[index], "--csv") == 0) {
            csv = true;
        } else if (std::strcmp(argv[index], "--only") == 0 && index + 1 < argc) {
            only = argv[++index];
        } else {
            fmt::print(stderr, "switch_reference: unknown argument {}; known are --csv and --only TEXT\n",
                       argv[index]);
            return 2;
        }
    }
    const Values values = all_values(only);
    int missed = 0;
    for (const Value& value : values) {
        const char* verdict = value.passes() ? "PASS" : "MISS";
        missed += value.passes() ? 0 : 1;
        fmt::print(fmt::runtime(csv ? "{},\"{}\",{:.5g},{:.5g},{:.5g},{}\n"
                                    : "| {} | {} | {:.4g} to {:.4g} | {:.4g} | {} |\n"),
                   value.name, value.reference, value.low, value.high, value.found, verdict);
    }
    if (!csv) {
        fmt::print("\n{} values, {} missed\n", values.size(), missed);
    }
    return missed > 0 || values.empty() ? 1 : 0;
}
