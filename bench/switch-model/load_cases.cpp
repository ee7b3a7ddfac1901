// Mean completion times of a random load without PFC, beside those with it.
#include <fmt/core.h>

#include <cmath>

#include "cases.hpp"
#include "core/random.hpp"
#include "rig.hpp"

namespace weir::switch_model {

namespace {

constexpr std::uint32_t load_hosts = 16;
constexpr std::int64_t load_rate = 40 * giga;
constexpr std::uint64_t load_flows = 8000;
constexpr double load = 0.7;

/// Half of the messages are of a packet, and 15 % of 0.2 to 3 MB with most of the bytes (the heavy-tailed
/// load of IRN's evaluation).
double draw_bytes(core::Random& random) {
    const double kind = random.uniform();
    if (kind < 0.5) {
        return 32 + 968 * random.uniform();
    }
    return kind < 0.85 ? 1e3 + 199e3 * random.uniform() : 200e3 + 2800e3 * random.uniform();
}

/// Milliseconds. Each message between two random hosts, at a random time, on a queue pair of its own.
double mean_completion(bool pauses, const core::NicPlan& nics) {
    core::SwitchPlan switches = plain_switch();
    switches.pool = {4'000'000};
    switches.lossless = pauses ? core::mask_of(0) : core::PriorityMask{0};
    Rig rig(load_hosts, load_rate, core::Duration::microseconds(8), switches, nics);
    PacketNetwork& network = rig.network();
    core::Random random(1, 42);
    const double mean_bytes = 0.5 * 516 + 0.35 * 100.5e3 + 0.15 * 1600e3;
    const double gap_s = mean_bytes * 8 / (static_cast<double>(load_rate) * load * load_hosts);
    double begin_s = 0;
    double sum_s = 0;
    std::uint64_t arrived = 0;
    const auto advance = [&](Picoseconds until) {
        for (const PacketNetwork::Report& report : network.advance(until)) {
            if (report.kind == PacketNetwork::Report::Kind::arrived) {
                // The instant at which it was posted, in nanoseconds, is what it is called.
                sum_s += report.at.seconds() - static_cast<double>(report.message) * 1e-9;
                ++arrived;
            }
        }
    };
    for (std::uint64_t flow = 0; flow < load_flows; ++flow) {
        begin_s -= std::log(random.uniform_positive()) * gap_s;
        const auto from = static_cast<std::uint32_t>(random.below(load_hosts));
        const auto to = static_cast<std::uint32_t>((from + 1 + random.below(load_hosts - 1)) % load_hosts);
        const auto begin_ns = static_cast<std::int64_t>(begin_s * 1e9);
        const core::Bytes bytes{static_cast<std::int64_t>(draw_bytes(random))};
        const Picoseconds begin = Picoseconds::nanoseconds(begin_ns);
        while (network.next_time() < begin) {
            advance(begin - Picoseconds{1});
        }
        network.post(begin, network.connect({from}, {to}, 0), static_cast<std::uint64_t>(begin_ns), bytes);
    }
    const Picoseconds end = Picoseconds::of(core::Duration::seconds(20));
    while (arrived < load_flows && network.next_time() < end) {
        advance(end);
    }
    return arrived == load_flows ? sum_s / static_cast<double>(load_flows) * 1e3 : 1e9;
}

core::NicPlan nic() {
    core::NicPlan plan = plain_nic();
    plan.overhead = {48};
    return plan;
}

/// Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018: IRN without PFC is faster than RoCE
/// with it, by 6 to 83 %; and its losses cost what time-outs do.
std::vector<Value> irn() {
    core::NicPlan plan = nic();
    const double roce = mean_completion(true, plan);
    plan.recovery = core::LossRecovery::selective;
    plan.window = {100'000};
    const double found = mean_completion(false, plan);
    plan.selective_timeout_low = plan.selective_timeout_high = plan.ack_timeout;
    const double slow = mean_completion(false, plan);
    return {
        {"mean completion time, RoCE with PFC / IRN without", "1.06 to 1.83", 'P', 1.06, 1.83, roce / found},
        {"IRN with a time-out of 67 ms / with its own", "above 1", 'C', 1.5, 10, slow / found}};
}

/// Go-back-N without PFC, with the CNPs for losses that NICs send: what it costs, and which part of that is
/// the time-out of InfiniBand.
std::vector<Value> go_back_n() {
    core::NicPlan plan = nic();
    const double roce = mean_completion(true, plan);
    plan.dcqcn.on = true;
    const double slow = mean_completion(false, plan);
    plan.ack_timeout = core::Duration::microseconds(320);
    const double found = mean_completion(false, plan);
    return {{"mean completion time / that with PFC, time-out 320 us", "above 1", 'C', 1, 3, found / roce},
            {"mean completion time with a time-out of 67 ms / that", "above 1", 'C', 1.2, 5, slow / found}};
}

}  // namespace

void add_loads(std::vector<Case>& cases) {
    const std::string section = "Losses";
    const std::string inputs = fmt::format(
        "{} messages of 32 B to 3 MB between {} hosts of 40 Gb/s at {:.0f} % load, 4 MB, alpha 1/8; ",
        load_flows, load_hosts, load * 100);
    cases.push_back({"load-irn", section, inputs + "selective repeat, 100 KB under way at most", irn});
    cases.push_back(
        {"load-go-back-n", section, inputs + "go-back-N, a CNP for losses, DCQCN of 2015", go_back_n});
}

}  // namespace weir::switch_model
