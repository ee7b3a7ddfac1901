// DCQCN: where packets are marked, long loops, how flows begin, converge and recover; thresholds.
#include <fmt/core.h>

#include <cmath>

#include "cases.hpp"
#include "dcqcn_run.hpp"
#include "packet/dcqcn.hpp"
#include "rig.hpp"

namespace weir::switch_model {

namespace {

DcqcnRun ten_flows() {
    DcqcnRun run;
    run.flows = 10;
    run.rate = 40 * giga;
    return run;
}

std::vector<Value> marked_at_enqueue() {
    DcqcnRun run = ten_flows();
    run.ecn.at_enqueue = true;
    const DcqcnStatistics found = run_dcqcn(run);
    return {{"mean queue, KB", "65", 'M', 65 * 0.85, 65 * 1.15, found.mean / 1e3},
            {"use of the link", "0.977", 'M', 0.967, 0.987, found.use}};
}

std::vector<Value> loop_of(double microseconds) {
    DcqcnRun run = ten_flows();
    run.loop = {static_cast<std::int64_t>(microseconds * 1000)};
    const DcqcnStatistics found = run_dcqcn(run);
    if (microseconds > 80) {
        return {{"use of the link", "0.936 (M), 0.950 (F)", 'F', 0.92, 0.96, found.use}};
    }
    return {{"use of the link (stable: the queue does not run empty)", "at least 0.99", 'F', 0.99, 1.0,
             found.use}};
}

double start_peak(std::uint32_t flows, std::uint64_t seed, Picoseconds begin) {
    core::SwitchPlan switches = plain_switch();
    switches.ecn.on = true;
    core::NicPlan nics = plain_nic();
    nics.dcqcn.on = true;
    Rig rig(flows + 1, 40 * giga, core::Duration::microseconds(4), switches, nics, {}, seed);
    for (std::uint32_t source = 0; source < flows; ++source) {
        rig.stream(source, flows, begin);
    }
    rig.run_to(begin + millisecond * 2);
    return static_cast<double>(rig.counts(Rig::down(flows)).peak_queue_bytes);
}

/// Peak = Kmax + C ((N-1) D + tau sum over k >= 1 of max(0, N / 2^k - 1)), before the first CNPs have acted.
std::vector<Value> start_burst(std::uint32_t flows, double program) {
    constexpr double bytes_per_s = 40e9 / 8;
    double sum = 0;
    for (double left = flows / 2.0; left > 1; left /= 2) {
        sum += left - 1;
    }
    const double expected = (200e3 + bytes_per_s * ((flows - 1) * 4e-6 + 50e-6 * sum)) / 1e3;
    const auto median_peak = [flows](Picoseconds begin) {
        std::vector<double> peaks;
        for (std::uint64_t seed = 1; seed <= 9; ++seed) {
            peaks.push_back(start_peak(flows, seed, begin) / 1e3);
        }
        return median(peaks);
    };
    const double found = median_peak({});
    const std::string formula = fmt::format("{:.0f}", expected);
    return {{"peak queue, median of 9 seeds, KB", formula, 'F', expected * 0.9, expected * 1.1, found},
            {"peak queue, all begins 17 ms later, KB", formula, 'F', expected * 0.9, expected * 1.1,
             median_peak(millisecond * 17)},
            {"peak queue, all begins 1 s later, KB", formula, 'F', expected * 0.9, expected * 1.1,
             median_peak(millisecond * 1000)},
            {"peak queue, median of 9 seeds, KB", fmt::format("{:.0f}", program), 'M', program * 0.9,
             program * 1.1, found}};
}

std::vector<Value> recovery_slope() {
    core::DcqcnPlan settings;
    settings.on = true;
    packet::ReactionPoint point(settings, {40 * giga});
    for (int notification = 0; notification < 200; ++notification) {
        point.on_notification(microsecond * 50 * notification);
    }
    // After fast recovery, one step of Rai per timer period.
    const Picoseconds period = microsecond * 55;
    const Picoseconds from = microsecond * 50 * 199 + period * 20;
    const double before = point.rate(from);
    const double slope = (point.rate(from + period * 20) - before) / 1.1e-3 / 1e9;
    return {
        {"rate without marks, Mb/s per ms", "727 (Rai / T)", 'F', 727 * 0.99, 727 * 1.01, slope},
        {"rate without marks, Mb/s per ms", "680 (ns-3 of the authors)", 'P', 680 * 0.9, 680 * 1.1, slope}};
}

/// One flow joins those that have converged. Until its rate in 5 ms is within 10 % of the share from the mean
/// of the others.
double convergence_time_s(std::uint32_t flows, std::uint64_t seed) {
    core::SwitchPlan switches = plain_switch();
    switches.ecn.on = true;
    core::NicPlan nics = plain_nic();
    nics.dcqcn.on = true;
    Rig rig(flows + 1, 40 * giga, core::Duration::microseconds(4), switches, nics, {}, seed);
    std::vector<FlowIndex> all;
    for (std::uint32_t source = 0; source + 1 < flows; ++source) {
        all.push_back(rig.stream(source, flows));
    }
    const Picoseconds start = millisecond * 100;
    rig.run_to(start);
    all.push_back(rig.stream(flows - 1, flows));
    for (int window = 1; window <= 40; ++window) {
        std::vector<double> packets = arrivals(rig, all, start + millisecond * 5 * window);
        const double joined = packets.back();
        double others = 0;
        for (const double count : packets) {
            others += count;
        }
        const double share = others / flows;
        others = (others - joined) / (flows - 1);
        if (std::abs(joined - others) < 0.1 * share) {
            return 0.005 * window;
        }
    }
    return 1;
}

std::vector<Value> convergence(std::uint32_t flows, double bound_s) {
    std::vector<double> times;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        times.push_back(convergence_time_s(flows, seed));
    }
    return {{"until the rates are equal within 10 %, median of 5 seeds, ms",
             fmt::format("at most {:.1f}", bound_s * 1e3), 'P', 0, bound_s * 1e3, median(times) * 1e3}};
}

/// What a (port, priority) of the switch of the DCQCN paper may hold before it is paused.
double held_before_pause(double alpha, double fixed_threshold) {
    core::SwitchPlan plan;
    plan.pool = {12'000'000};
    plan.lossless = 0xff;
    plan.headroom_at_100g = {56'000};  // 22.4 KB at 40 Gb/s
    plan.ingress_alpha = alpha;
    plan.ingress_threshold = {static_cast<std::int64_t>(fixed_threshold)};
    packet::SharedBuffer buffer(plan, std::vector<core::BitRate>(32, {40 * giga}));
    if (alpha == 0) {
        return static_cast<double>(buffer.sharable()) / (8 * 32);
    }
    double held = 0;
    for (; !buffer.must_pause(0, 0); held += 100) {
        if (!buffer.admit(0, 0, 100, 0)) {
            break;
        }
    }
    return held;
}

std::vector<Value> thresholds() {
    return {{"t_PFC: share of each of 32 ports x 8 classes, KB", "24.47", 'P', 24.46, 24.48,
             held_before_pause(0, 1e6) / 1e3},
            {"t_ECN: 1/256 of what may be held before a pause with beta 8, KB", "21.75", 'P', 21.74, 21.77,
             held_before_pause(8, 0) / 256e3}};
}

}  // namespace

void add_dcqcn_dynamics(std::vector<Case>& cases) {
    const std::string section = "DCQCN: dynamics and thresholds";
    const std::string ten = "10 flows into one port of 40 Gb/s, Kmax 200 KB, Pmax 1 %, ";
    cases.push_back({"marked-at-enqueue", section, ten + "loop 4 us, marked at enqueue", marked_at_enqueue});
    for (const double loop : {4.0, 50.0, 85.0}) {
        cases.push_back({fmt::format("loop-{:.0f}us", loop), section,
                         ten + fmt::format("loop {:.0f} us", loop), [loop] { return loop_of(loop); }});
    }
    const std::vector<std::pair<std::uint32_t, double>> bursts{
        {2, 212}, {4, 512}, {8, 1397}, {10, 1881}, {16, 3454}};
    for (const auto& [flows, program] : bursts) {
        cases.push_back({fmt::format("start-burst-{}", flows), section,
                         fmt::format("{} flows at 40 Gb/s begin at once, no pauses, loop 4 us", flows),
                         [flows = flows, program = program] { return start_burst(flows, program); }});
    }
    cases.push_back(
        {"recovery-slope", section, "one flow at 40 Gb/s after 200 notifications", recovery_slope});
    const std::vector<std::pair<std::uint32_t, double>> bounds{{4, 0.063592}, {6, 0.049369}, {10, 0.035894}};
    for (const auto& [flows, bound] : bounds) {
        cases.push_back(
            {fmt::format("convergence-{}", flows), section,
             fmt::format("one flow at 40 Gb/s joins {} that have converged; rates in windows of 5 ms",
                         flows - 1),
             [flows = flows, bound = bound] { return convergence(flows, bound); }});
    }
    cases.push_back({"thresholds", section,
                     "12 MB, 32 ports of 40 Gb/s, 8 lossless classes, headroom 22.4 KB", thresholds});
}

}  // namespace weir::switch_model
