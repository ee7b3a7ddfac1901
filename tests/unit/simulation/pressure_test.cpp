// The pressure of a plan (core/pressure.hpp) against packets: below 1 a setting never acts, and no queue is
// longer than computed.
#include "core/pressure.hpp"

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "packet_run.hpp"
#include "simulation/simulated_run.hpp"

namespace simulation_pressure_test_file {

using namespace weir::core;
using namespace weir::simulation;
using Setting = Pressure::Setting;
using test::turn_on_pfc;

namespace {

constexpr std::int64_t kibibyte = 1024;

/// At full load, with the default options of weir and its switch `shallow`.
SimulatedRun saturated(std::uint32_t producers, std::uint32_t consumers, std::int64_t event_bytes) {
    SimulatedRun run = test::packet_run(producers, consumers, {100'000'000'000}, event_bytes,
                                        std::min(event_bytes, 1024 * kibibyte));
    Plan& plan = run.run.plan;
    plan.generation = Generation::saturate;
    plan.interval = Duration::seconds(1);
    plan.rate = {10'000'000'000};
    plan.buffer = {2 * event_bytes};
    plan.duration = Duration::milliseconds(10);
    plan.drain = Duration::seconds(1);
    return run;
}

Pressure pressure_of(const SimulatedRun& run) {
    return simulated_pressure(run.run.plan, run.network, false);
}

/// Over all ports; the queue is that of consumers' ports, for only data is in the pressure of a plan.
weir::record::SwitchRow counted(SimulatedRun& run) {
    const SimulationResult result = test::completed(run);
    weir::record::SwitchRow sum = result.record.switches->sum();
    sum.queue_peak = {};
    for (const auto& [key, total] : result.record.switches->ports) {
        if (total.port.leads_to(Role::consumer)) {
            sum.queue_peak = std::max(sum.queue_peak, total.row.queue_peak);
        }
    }
    return sum;
}

std::uint64_t acts(const weir::record::SwitchRow& sum, Setting setting) {
    return setting == Setting::pause  ? sum.pauses_sent
           : setting == Setting::mark ? sum.marked_packets
                                      : sum.dropped_packets;
}

}  // namespace

TEST_CASE("32 to 1 at full load with PFC: with or without pauses by the size of events") {
    struct Case {
        std::int64_t event_kibibytes;
        bool pauses;
    };
    for (const Case& one :
         {Case{512, false}, Case{1024, false}, Case{2048, true}, Case{4096, true}, Case{16384, true}}) {
        SimulatedRun run = saturated(32, 1, one.event_kibibytes * kibibyte);
        turn_on_pfc(run);
        const Pressure pressure = pressure_of(run);
        const auto sum = counted(run);
        INFO("events of " << one.event_kibibytes << " KiB, pressure " << pressure.settings.at(0).pressure
                          << ", " << sum.pauses_sent << " pauses");
        CHECK(pressure.settings.at(0).can_act() == one.pauses);
        CHECK((sum.pauses_sent > 0) == one.pauses);
        CHECK(sum.dropped_packets == 0);
        if (!one.pauses) {
            // What waits is what the formula gives, within what lies on the wire.
            const auto queue = static_cast<double>(pressure.settings.at(0).queue.count);
            const auto longest = static_cast<double>(sum.queue_peak.count);
            CHECK(longest <= queue);
            CHECK(longest > 0.85 * queue);
        }
    }
}

TEST_CASE("Below a pressure of 1 no setting acts, in whatever plan") {
    std::size_t below = 0;
    std::size_t above_and_acted = 0;
    for (const std::uint32_t producers : {2U, 5U, 16U}) {
        for (const std::uint32_t consumers : {1U, 3U}) {
            for (const std::uint32_t slots : {1U, 2U, 5U}) {
                for (const std::int64_t event : {100 * kibibyte, 1000 * kibibyte}) {
                    for (const bool pfc : {false, true}) {
                        SimulatedRun run = saturated(producers, consumers, event);
                        Plan& plan = run.run.plan;
                        plan.slots = slots;
                        plan.duration = Duration::milliseconds(2);
                        plan.policy = producers == 5 ? PolicyKind::none : PolicyKind::balanced;
                        if (producers == 2) {
                            plan.pattern = Pattern::build;
                        }
                        SwitchPlan& switches = run.network.fabric.switches;
                        switches.pool = {4'000'000};
                        switches.ecn.on = run.network.fabric.nics.dcqcn.on = true;
                        switches.ecn.none_below = {400'000};
                        switches.ecn.all_above = {500'000};
                        if (pfc) {
                            turn_on_pfc(run);
                        }
                        const Pressure pressure = pressure_of(run);
                        const auto sum = counted(run);
                        for (const Pressure::Acting& acting : pressure.settings) {
                            INFO(producers << " x " << consumers << ", " << slots << " slots, events of "
                                           << event << (pfc ? ", PFC" : "") << ": setting "
                                           << static_cast<int>(acting.setting) << ", pressure "
                                           << acting.pressure);
                            if (!acting.can_act()) {
                                ++below;
                                CHECK(acts(sum, acting.setting) == 0);
                            } else {
                                above_and_acted += acts(sum, acting.setting) > 0 ? 1U : 0U;
                            }
                            if (sum.dropped_packets == 0) {  // else packets are sent again
                                CHECK(sum.queue_peak.count <= acting.queue.count);
                            }
                        }
                    }
                }
            }
        }
    }
    CHECK(below >= 30);
    CHECK(above_and_acted >= 30);
}

TEST_CASE("Between switches no queue is longer than computed, whichever way packets go") {
    std::size_t below = 0;
    for (const BalancingKind kind : {BalancingKind::ecmp, BalancingKind::spray, BalancingKind::adaptive}) {
        for (const std::uint32_t uplinks : {1U, 2U}) {
            for (const std::int64_t event : {100 * kibibyte, 1000 * kibibyte}) {
                SimulatedRun run = saturated(6, 6, event);
                run.run.plan.duration = Duration::milliseconds(2);
                NetworkPlan& network = run.network;
                network.fabric.topology = {.kind = TopologyKind::leaf_spine,
                                           .leaves = 2,
                                           .spines = 2,
                                           .uplink_rate = {50'000'000'000},
                                           .uplinks = uplinks};
                network.fabric.switches.balancing.kind = kind;
                network.fabric.nics.reorder = {1 << 20};
                network.fabric.nics.may_be_overtaken = true;
                turn_on_pfc(run);
                const Pressure pressure = pressure_of(run);
                double most = 0;
                for (const PortQueue& queue : uplink_queues(run.run.plan, network, {}, false)) {
                    most = std::max(most, queue.queue);
                }
                weir::simulation::test::assign_ranks(run);
                const SimulationResult result = simulate(run);
                REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
                std::int64_t longest = 0;
                for (const auto& [key, total] : result.record.switches->ports) {
                    if (total.port.ranks.empty()) {
                        longest = std::max(longest, total.row.queue_peak.count);
                    }
                }
                INFO(static_cast<int>(kind) << ", " << uplinks << " uplinks, events of " << event
                                            << ": pressure " << pressure.settings.at(0).pressure);
                CHECK(static_cast<double>(longest) <= most + 2 * 4178);
                if (!pressure.settings.at(0).can_act()) {
                    ++below;
                    CHECK(result.record.switches->sum().pauses_sent == 0);
                }
            }
        }
    }
    CHECK(below >= 2);
}

}  // namespace simulation_pressure_test_file
