// DCQCN in its steady state, beside the fixed point of the fluid model.
#include <fmt/core.h>

#include <cmath>

#include "cases.hpp"
#include "dcqcn_run.hpp"
#include "rig.hpp"

namespace weir::switch_model {

namespace {

struct Column {
    std::string name;
    std::int64_t rate = 0;
    double all_above = 0;
    double probability = 0;
};
const Column narrow_40g{"40g", 40 * giga, 200e3, 0.01};
const Column wide_40g{"40g-wide", 40 * giga, 2000e3, 0.1};
const Column narrow_100g{"100g", 100 * giga, 200e3, 0.01};

/// Solves the fixed point of DCQCN for the probability that a packet is marked (Zhu, Ghobadi, Misra, Padhye,
/// "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016), and returns the queue in
/// bytes.
double fixed_point_queue(std::uint32_t flows, const Column& column) {
    constexpr double tau = 50e-6;
    constexpr double timer = 55e-6;
    constexpr double stages = 5;
    constexpr double counter = 10e6 / 1000;
    constexpr double increase = 40e6 / 8000;
    const double rate = static_cast<double>(column.rate) / 8000 / flows;  // packets of 1000 B per second
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
    const double queue = none_below + low / column.probability * (column.all_above - none_below);
    return low <= column.probability ? queue : column.all_above;
}

/// A packet program of ours, KB: mean, 5th and 95th percentile (0: not known).
struct Program {
    double mean = 0;
    double p5 = 0;
    double p95 = 0;
};

std::vector<Value> steady_state(std::uint32_t flows, const Column& column, double published,
                                const Program& program) {
    const double expected = fixed_point_queue(flows, column) / 1e3;
    const bool below_top = expected * 1e3 < column.all_above;
    DcqcnRun run;
    run.flows = flows;
    run.rate = column.rate;
    run.ecn.all_above = {static_cast<std::int64_t>(column.all_above)};
    run.ecn.probability_at_top = column.probability;
    const DcqcnStatistics found = run_dcqcn(run);
    run.begin = millisecond * 1000;
    const DcqcnStatistics later = run_dcqcn(run);
    std::vector<Value> values{
        {"mean queue, KB", fmt::format("{:.2f}", expected), 'F', expected * (below_top ? 1.0 : 0.85),
         expected * (below_top ? 1.45 : 1.02), found.mean / 1e3},
        {"mean queue if all begins a second later / that", "1", 'F', 0.9999, 1.0001, later.mean / found.mean},
        {"use of the link", "at least 0.99", 'F', 0.99, 1.0, found.use},
        {"a flow's largest distance from its share", "at most 0.08", 'F', 0, 0.08, found.worst_flow},
    };
    if (published > 0) {
        values.push_back({"the fixed point as solved here, KB", fmt::format("{}", published), 'P',
                          published * 0.99, published * 1.01, expected});
    }
    if (program.mean > 0) {
        values.push_back({"mean queue, KB", fmt::format("{}", program.mean), 'M', program.mean * 0.9,
                          program.mean * 1.1, found.mean / 1e3});
    }
    if (program.p95 > 0) {
        values.push_back({"5 % of the time the queue is below, KB", fmt::format("{}", program.p5), 'M',
                          program.p5 - 15, program.p5 + 15, found.p5 / 1e3});
        values.push_back({"5 % of the time the queue is above, KB", fmt::format("{}", program.p95), 'M',
                          program.p95 - 15, program.p95 + 15, found.p95 / 1e3});
    }
    return values;
}

void add(std::vector<Case>& cases, std::uint32_t flows, const Column& column, double published = 0,
         const Program& program = {}) {
    cases.push_back(
        {fmt::format("dcqcn-{}-{}", column.name, flows), "DCQCN: fixed points",
         fmt::format("{} flows into one port of {} Gb/s, Kmax {:.0f} KB, Pmax {:.0f} %, loop 4 us", flows,
                     column.rate / giga, column.all_above / 1e3, column.probability * 100),
         [=] { return steady_state(flows, column, published, program); }});
}

}  // namespace

void add_dcqcn(std::vector<Case>& cases) {
    add(cases, 2, narrow_40g, 0, {24.9, 1, 62});
    add(cases, 4, narrow_40g, 0, {53.2, 3, 107});
    add(cases, 8, narrow_40g, 0, {113.8, 28, 190});
    add(cases, 10, narrow_40g, 0, {142, 74, 194});
    add(cases, 16, narrow_40g, 0, {185.8, 161, 200});
    add(cases, 64, narrow_40g, 0, {193.8, 185, 202});
    add(cases, 2, wide_40g, 20.501);
    add(cases, 4, wide_40g, 42.66);
    add(cases, 8, wide_40g, 95.81);
    add(cases, 10, wide_40g, 125.34);
    add(cases, 16, wide_40g, 221.9);
    add(cases, 32, wide_40g, 516.1);
    add(cases, 64, wide_40g, 1183.1);
    add(cases, 2, narrow_100g, 0, {10.9, 0, 0});
    add(cases, 4, narrow_100g);
    add(cases, 8, narrow_100g, 0, {41.4, 0, 0});
    add(cases, 14, narrow_100g, 0, {78.7, 0, 0});
    add(cases, 16, narrow_100g);
    add(cases, 32, narrow_100g);
    add(cases, 72, narrow_100g, 0, {178.7, 0, 0});
}

}  // namespace weir::switch_model
