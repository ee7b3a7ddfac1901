#include "dcqcn_run.hpp"

#include <cmath>

#include "rig.hpp"

namespace weir::switch_model {

DcqcnStatistics run_dcqcn(const DcqcnRun& run) {
    core::SwitchPlan switches = plain_switch();
    switches.ecn = run.ecn;
    switches.ecn.on = true;
    core::NicPlan nics = plain_nic();
    nics.dcqcn.on = true;
    Rig rig(run.flows + 1, run.rate, run.loop, switches, nics, {}, run.seed);
    for (std::uint32_t source = 0; source < run.flows; ++source) {
        rig.stream(source, run.flows, run.begin);
    }
    const LinkIndex out = Rig::down(run.flows);
    const Picoseconds from = run.begin + millisecond * 100;
    rig.run_to(from);
    const std::uint64_t before = rig.counts(out).bytes;
    std::vector<std::uint64_t> before_each;
    for (std::uint32_t source = 0; source < run.flows; ++source) {
        before_each.push_back(rig.counts(Rig::up(source)).bytes);
    }
    constexpr int samples = 40'000;
    std::vector<double> queue;
    double sum = 0;
    for (int sample = 1; sample <= samples; ++sample) {
        rig.run_to(from + microsecond * 10 * sample);
        queue.push_back(static_cast<double>(rig.network().queued_bytes(out, 0)));
        sum += queue.back();
    }
    DcqcnStatistics found;
    const double capacity = static_cast<double>(run.rate) * 0.4 / 8;
    found.use = static_cast<double>(rig.counts(out).bytes - before) / capacity;
    for (std::uint32_t source = 0; source < run.flows; ++source) {
        const auto bytes = static_cast<double>(rig.counts(Rig::up(source)).bytes - before_each[source]);
        found.worst_flow = std::max(found.worst_flow, std::abs(bytes / (capacity / run.flows) - 1));
    }
    std::sort(queue.begin(), queue.end());
    found.mean = sum / samples;
    found.p5 = queue[samples / 20];
    found.p95 = queue[samples - samples / 20];
    return found;
}

}  // namespace weir::switch_model
