#include "small_plan.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/policies/policy_table.hpp"

namespace weir::fuzz {

namespace {

void choose_protocol(FuzzInput& input, core::Plan& plan) {
    plan.pattern = static_cast<core::Pattern>(input.below(2));
    plan.policy = static_cast<core::PolicyKind>(input.below(core::policy_table.size()));
    plan.initiation = static_cast<core::Initiation>(input.below(2));
    plan.order = static_cast<core::SendOrder>(input.below(2));
    if (plan.consumers_grant()) {
        plan.pattern = core::Pattern::distribute;
        plan.initiation = core::Initiation::push;
    }
    plan.transport = input.below(2) == 0 ? core::TransportKind::send : core::TransportKind::datagram;
    plan.fragment_timeout = core::Duration::milliseconds(5);
    plan.reasks = plan.lossy() ? input.below(3) : 0;
    plan.requests = 1 + input.below(4);
    plan.assigned_events = plan.builds() ? input.below(4) : 0;
    // With what config lets pass beside it; the rest of the plan heeds it.
    plan.outlives_consumers =
        input.below(2) == 1 && !plan.builds() && !plan.pulls() && !plan.consumers_grant() && !plan.lossy();
}

void choose_sizes(FuzzInput& input, core::Plan& plan) {
    plan.interval = core::Duration::milliseconds(10);
    plan.rate = {std::int64_t{1 + input.below(8)} * 800000};  // 1 to 8 kB in a set
    plan.generation = static_cast<core::Generation>(input.below(3));
    plan.event_size = {.kind = core::DistributionKind::fixed,
                       .mean = static_cast<double>(250 + input.below(250))};
    plan.slot_size = {500};
    plan.chunk_size = {std::int64_t{100 + input.below(200)}};
    plan.buffer = {std::int64_t{1 + input.below(4)} * 2000};
    plan.overflow = static_cast<core::Overflow>(input.below(2));
    if (!plan.consumers_grant() && !plan.outlives_consumers && input.below(3) == 1) {
        plan.result_size = {.kind = core::DistributionKind::fixed, .mean = 40};
    }
}

void choose_times(FuzzInput& input, core::Plan& plan) {
    if (input.below(3) == 1) {
        plan.busy = {.kind = core::DistributionKind::fixed, .mean = 2e6};
    }
    plan.duration = plan.interval * (1 + input.below(4));
    plan.warmup = plan.interval * input.below(2);
    plan.drain = core::Duration::milliseconds(20);
    switch (plan.outlives_consumers ? 0 : input.below(6)) {
        case 1:
            plan.shaping.kind = core::ShapingKind::bucket;
            plan.shaping.rate = {8000000};
            plan.shaping.burst = {300};
            break;
        case 2:
            plan.shaping.kind = core::ShapingKind::in_step;
            plan.shaping.grid = core::Duration::milliseconds(1);
            plan.shaping.tick = core::Duration::milliseconds(5);
            break;
        default:
            break;
    }
}

void choose_addresses(FuzzInput& input, core::Plan& plan) {
    std::vector<core::TrafficPlan::Entry> entries;
    for (std::uint32_t from = 0; from < plan.producers; ++from) {
        for (std::uint32_t to = 0; to < plan.consumers; ++to) {
            if (input.below(2) == 0) {
                entries.push_back({{from}, {.at = {}, .to = {to}, .bytes = {500}}});
            }
        }
    }
    if (entries.empty()) {
        return;
    }
    std::vector<core::Dependency> dependencies;
    for (std::uint32_t transfer = 1; transfer < entries.size(); ++transfer) {
        for (std::uint32_t earlier = 0; earlier < transfer; ++earlier) {
            if (entries[earlier].transfer.to.value == entries[transfer].from.value && !plan.lossy() &&
                input.below(4) == 1) {
                dependencies.push_back({transfer, earlier, core::Duration::microseconds(input.below(3))});
            }
        }
    }
    plan.traffic = std::make_shared<const core::TrafficPlan>(
        plan.producers, plan.consumers, std::vector<core::TrafficPhase>{{"all", {}, plan.interval}}, entries,
        false, dependencies);
    plan.pattern = core::Pattern::distribute;
    plan.generation = core::Generation::sets;
    plan.set_phase = core::SetPhase::same;
    plan.duration = plan.interval * std::max<std::int64_t>(1, plan.duration.ns / plan.interval.ns);
    plan.slots = std::max(plan.slots, plan.producers);
    if (plan.policy == core::PolicyKind::random) {
        plan.policy = core::PolicyKind::longest_queue;
    }
}

}  // namespace

core::Plan small_plan(FuzzInput& whole) {
    const auto bytes = whole.take<std::array<std::uint8_t, plan_bytes>>();
    FuzzInput input(bytes.data(), bytes.size());
    core::Plan plan;
    plan.producers = 1 + input.below(4);
    plan.consumers = 1 + input.below(4);
    plan.slots = 1 + input.below(4);
    plan.streams = 1 + input.below(3);
    plan.window = 1 + input.below(4);
    plan.high_water = input.below(4) == 1 ? plan.slots : 0;
    plan.low_water = plan.high_water > 0 ? plan.high_water - 1 : 0;
    choose_protocol(input, plan);
    choose_sizes(input, plan);
    choose_times(input, plan);
    plan.set_phase = static_cast<core::SetPhase>(input.below(3));
    if (!plan.outlives_consumers && input.below(4) == 1) {
        choose_addresses(input, plan);
    }
    return plan;
}

}  // namespace weir::fuzz
