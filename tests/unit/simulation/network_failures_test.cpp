// Disturbances of the network in simulated runs: names, what is refused, and what the record tells.
#include "simulation/network_failures.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "ranks_in_order.hpp"
#include "show/run_record.hpp"
#include "simulation/device_names.hpp"
#include "simulation/simulated_run.hpp"
#include "small_fabric.hpp"

using namespace weir::core;
using namespace weir::simulation;

namespace {

/// 2 MB from each producer in 10 ms, and routes that follow a failure after 3 ms.
SimulatedRun fabric_run() {
    SimulatedRun run =
        test::small_fabric({1'600'000'000}, Duration::milliseconds(50), Duration::milliseconds(300));
    run.network.fabric.switches.convergence = Duration::milliseconds(3);
    return run;
}

Disturbance fault(Disturbance::Kind kind, std::string place, std::int64_t at_ms, std::int64_t length_ms) {
    Disturbance made;
    made.kind = kind;
    made.text = "fault of " + place;
    made.place = std::move(place);
    made.at = Instant{} + Duration::milliseconds(at_ms);
    made.length = Duration::milliseconds(length_ms);
    return made;
}

std::string objection_to(const SimulatedRun& run) {
    try {
        check_network_failures(run.run.plan, run.network, run.disturbances);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

using Kind = Disturbance::Kind;

}  // namespace

TEST_CASE("Devices and cables are found by the names that files have") {
    const SimulatedRun run = fabric_run();
    const Placement placement(run.network, 3, 4, 1);
    const auto topology = topology_of(run.run.plan, run.network, placement);
    const DeviceNames names = device_names(topology, run.network, placement);
    CHECK(names.name(*names.find("leaf-1")) == "switch-1");
    CHECK(names.name(*names.find("spine-1")) == "switch-5");
    CHECK(names.name(*names.find("consumer-3")) == "consumer-3");
    CHECK_FALSE(names.find("spine-2"));
    CHECK_FALSE(names.find("core-0"));
    CHECK(names.cables("leaf-0:spine-1") == names.cables("switch-5:switch-0"));
    CHECK(names.cables("leaf-0:spine-1/0") == names.cables("leaf-0:spine-1"));
    CHECK(names.link_name(2 * names.cables("spine-1:leaf-0").front()) == "switch-0:switch-5");
    CHECK(names.cables(*names.find("spine-0")).size() == 4);
    for (const char* wrong : {"leaf-0", "leaf-0:leaf-1", "leaf-0:spine-9", "leaf-0:spine-1/1", "a:b", ""}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(names.cables(wrong), std::invalid_argument);
    }
}

TEST_CASE("A failure that cannot be simulated is refused with what would be right") {
    SimulatedRun run = fabric_run();
    const auto objection = [&](const Disturbance& disturbance) {
        run.disturbances = {disturbance};
        return objection_to(run);
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(objection(fault(Kind::cut_link, "leaf-0:spine-1", 10, 10)) == "accepted");
    CHECK(objection(fault(Kind::cut_switch, "spine-0", 10, 10)) == "accepted");
    CHECK(
        has(objection(fault(Kind::cut_link, "leaf-0:spine-7", 10, 10)), "there is no 'spine-7'; there are"));
    CHECK(has(objection(fault(Kind::cut_switch, "consumer-0", 10, 10)), "there is no switch 'consumer-0'"));
    CHECK(has(objection(fault(Kind::storm, "leaf-0", 10, 10)), "there is no host 'leaf-0'"));
    CHECK(has(objection(fault(Kind::storm, "consumer-0", 10, 10)), "needs --pfc on"));
    CHECK(has(objection(fault(Kind::cut_switch, "leaf-3", 10, 10)), "without a way to scheduler"));
    Disturbance wanted = fault(Kind::cut_switch, "leaf-3", 10, 10);
    wanted.disconnects = true;
    CHECK(objection(wanted) == "accepted");
    Disturbance fast = fault(Kind::degrade_link, "leaf-0:spine-1", 10, 10);
    fast.to = {20'000'000'000};
    CHECK(has(objection(fast), "to= is above the 10"));
    // Both uplinks of a leaf, one after the other and at once.
    run.disturbances = {fault(Kind::cut_link, "leaf-0:spine-0", 10, 10),
                        fault(Kind::cut_link, "leaf-0:spine-1", 20, 10)};
    CHECK(objection_to(run) == "accepted");
    run.disturbances[1].at = run.disturbances[1].at - Duration::milliseconds(1);
    CHECK(has(objection_to(run), "without a way"));
    run.network.model = NetworkModel::fluid;
    CHECK(has(objection_to(run), "needs --network packet"));
    run.network.fluid_fabric = true;
    CHECK(has(objection_to(run), "without a way"));
    CHECK(objection(fault(Kind::cut_link, "leaf-0:spine-1", 10, 10)) == "accepted");
    CHECK(has(objection(fault(Kind::storm, "consumer-0", 10, 10)), "needs --network packet"));
}

TEST_CASE("Cuts that make packets turn back at a leaf are named before the run, with flow control") {
    SimulatedRun run = fabric_run();
    run.disturbances = {fault(Kind::cut_link, "leaf-0:spine-1", 10, 50),
                        fault(Kind::cut_link, "leaf-1:spine-0", 20, 50)};
    CHECK(possible_deadlocks(run.run.plan, run.network, run.disturbances).empty());
    run.network.fabric.switches.lossless = mask_of(run.network.fabric.data_priority);
    const auto found = possible_deadlocks(run.run.plan, run.network, run.disturbances);
    REQUIRE(found.size() == 1);
    CHECK(found.front().find("after fault of leaf-1:spine-0: with flow control switch-") !=
          std::string::npos);
}

TEST_CASE("A run over a link that is cut delivers everything, and its record has every lost packet") {
    SimulatedRun run = fabric_run();
    const auto kind = GENERATE(Kind::cut_link, Kind::cut_switch, Kind::errors);
    run.disturbances = {fault(kind, kind == Kind::cut_switch ? "spine-1" : "leaf-0:spine-1", 100, 100)};
    run.disturbances[0].factor = 0.001;
    test::assign_ranks(run);
    const SimulationResult result = simulate(run);
    INFO(result.end.what);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    CHECK(result.record.ledger_differences.empty());
    REQUIRE(result.record.switches);
    const weir::record::NetworkFailures& failures = result.record.switches->failures;
    REQUIRE(failures.failures.size() == 1);
    const weir::record::NetworkFailure& failure = failures.failures.front();
    CHECK(failure.begin == Instant{} + Duration::milliseconds(100));
    CHECK(failure.end == Instant{} + Duration::milliseconds(200));
    CHECK(failure.lost().packets > 0);
    CHECK(failure.open_gaps == 0);
    CHECK((failure.by_errors.packets > 0) == (kind == Kind::errors));
    CHECK(result.record.verdict.text.find(failure.fault + " lost ") != std::string::npos);
    std::vector<Instant> converged;
    converged.reserve(failures.events.size());
    for (const weir::record::SwitchEvent& event : failures.events) {
        converged.push_back(event.at);
    }
    if (kind != Kind::errors) {
        CHECK(converged == std::vector<Instant>{Instant{} + Duration::milliseconds(103),
                                                Instant{} + Duration::milliseconds(203)});
    }
    CHECK(result.record.switches->sum().dropped_packets == 0);
}

TEST_CASE("A failure has no part in a run in which nothing uses what fails") {
    SimulatedRun run = fabric_run();
    const auto text = [&] {
        test::assign_ranks(run);
        SimulationResult result = simulate(run);
        result.record.switches->failures = {};
        return weir::show::to_json(result.record).dump();
    };
    const std::string without = text();
    run.disturbances = {fault(Kind::errors, "leaf-0:spine-1", 350, 100)};
    run.disturbances[0].factor = 0.5;
    CHECK(text() == without);
}

TEST_CASE("Sprayed loads are even again in the row in which routes have followed a cut") {
    SimulatedRun run = fabric_run();
    run.network.fabric.topology.spines = 3;
    run.network.fabric.switches.balancing.kind = BalancingKind::spray;
    run.network.fabric.switches.convergence = Duration::milliseconds(25);
    run.network.fabric.nics.reorder = {1 << 20};
    run.network.fabric.nics.may_be_overtaken = true;
    run.switch_row_length = run.run.plan.interval;
    run.disturbances = {fault(Kind::cut_link, "leaf-0:spine-1", 100, 100),
                        fault(Kind::storm, "consumer-3", 250, 1)};
    test::assign_ranks(run);
    const SimulationResult result = simulate(run);
    INFO(result.end.what);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    const auto& failures = result.record.switches->failures.failures;
    REQUIRE(failures.size() == 2);
    CHECK(failures[0].loads_even_after == Duration::milliseconds(30));
    CHECK_FALSE(failures[1].loads_even_after);
    CHECK(result.record.verdict.text.find("loaded as evenly as before after 30") != std::string::npos);
}
