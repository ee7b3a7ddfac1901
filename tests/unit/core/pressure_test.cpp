// Whether a plan can see a setting of the switch: closed forms. tests/unit/simulation/pressure_test.cpp holds
// them against packets.
#include "core/pressure.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "core/network_plan.hpp"

using namespace weir::core;

namespace {

using Limit = Pressure::Limit;
using Port = Pressure::Port;
using Setting = Pressure::Setting;

constexpr std::int64_t mebibyte = 1 << 20;

Plan incast(std::uint32_t producers, std::int64_t event_bytes) {
    Plan plan;
    plan.producers = producers;
    plan.consumers = 1;
    plan.generation = Generation::saturate;
    plan.event_size = {
        .kind = DistributionKind::fixed, .mean = static_cast<double>(event_bytes), .trace = {}};
    plan.slot_size = {event_bytes};
    plan.chunk_size = {std::min(event_bytes, mebibyte)};
    plan.window = 4;
    plan.slots = plan.streams = 4;
    plan.rate = {10'000'000'000};
    plan.interval = Duration::seconds(1);
    return plan;
}

/// Bytes on the wire are those of the payload: numbers of tests are then round.
NetworkPlan bare_network() {
    NetworkPlan network;
    network.model = NetworkModel::packet;
    network.framing = Framing::none;
    network.producer_link = network.consumer_link = {100'000'000'000};
    network.mtu = {4096};
    network.fabric.switches.headroom_at_100g = {};
    return network;
}

const Pressure::Acting& of(const Pressure& pressure, Setting setting) {
    for (const Pressure::Acting& acting : pressure.settings) {
        if (acting.setting == setting) {
            return acting;
        }
    }
    FAIL("the setting is not there");
    return pressure.settings.front();
}

bool near(double value, double expected) {
    return std::abs(value - expected) <= 1e-6 * std::abs(expected);
}

}  // namespace

TEST_CASE("Under way into a port: the least of slots, streams, requests and outstanding events") {
    Plan plan = incast(32, mebibyte);
    Pressure pressure = measured_pressure(plan, 1, {});
    CHECK(pressure.transfers == 4);
    CHECK(pressure.transfer == Bytes{mebibyte});
    CHECK(pressure.under_way == Bytes{4 * mebibyte});
    CHECK(pressure.limit == Limit::slots);
    CHECK_FALSE(pressure.window_bound);
    CHECK(pressure.unknown == Pressure::Unknown::real_switch);
    CHECK(pressure.settings.empty());
    // Two consumers behind one link have slots each.
    CHECK(measured_pressure(plan, 2, {}).under_way == Bytes{8 * mebibyte});
    // With policy none they give the same slots.
    plan.policy = PolicyKind::none;
    CHECK(measured_pressure(plan, 1, {}).under_way == Bytes{4 * mebibyte});

    plan = incast(3, mebibyte);
    plan.streams = 1;
    pressure = measured_pressure(plan, 1, {});
    CHECK(pressure.limit == Limit::streams);
    CHECK(pressure.under_way == Bytes{3 * mebibyte});

    // High water does not take back credits.
    plan = incast(32, mebibyte);
    plan.high_water = 1;
    CHECK(measured_pressure(plan, 1, {}).transfers == 4);
}

TEST_CASE("Under way into a port with fragments of all producers, and by requests") {
    Plan plan = incast(8, mebibyte);
    plan.pattern = Pattern::build;
    CHECK(measured_pressure(plan, 1, {}).transfers == 32);
    plan.assigned_events = 2;
    Pressure pressure = measured_pressure(plan, 1, {});
    CHECK(pressure.limit == Limit::outstanding);
    CHECK(pressure.transfers == 16);
    plan.initiation = Initiation::pull;
    plan.requests = 5;
    pressure = measured_pressure(plan, 1, {});
    CHECK(pressure.limit == Limit::requests);
    CHECK(pressure.under_way == Bytes{5 * mebibyte});
}

TEST_CASE("Of an event no more is under way than the window lets, but for datagrams") {
    Plan plan = incast(32, 16 * mebibyte);
    Pressure pressure = measured_pressure(plan, 1, {});
    CHECK(pressure.window_bound);
    CHECK(pressure.under_way == Bytes{16 * mebibyte});
    plan.window = 2;
    CHECK(measured_pressure(plan, 1, {}).under_way == Bytes{8 * mebibyte});
    plan.transport = TransportKind::datagram;
    plan.chunk_size = {1472};
    pressure = measured_pressure(plan, 1, {});
    CHECK_FALSE(pressure.window_bound);
    CHECK(pressure.under_way == Bytes{64 * mebibyte});
}

TEST_CASE("The largest event counts: of drawn sizes, of a set, of what is sent to the fullest consumer") {
    Plan plan = incast(32, mebibyte);
    plan.slot_size = plan.chunk_size = {8 * mebibyte};
    plan.event_size.kind = DistributionKind::mixture;
    plan.event_size.large = 2.0 * mebibyte;
    CHECK(measured_pressure(plan, 1, {}).transfer == Bytes{2 * mebibyte});
    plan.generation = Generation::sets;
    plan.rate = {8 * mebibyte};
    CHECK(measured_pressure(plan, 1, {}).transfer == Bytes{mebibyte});

    plan = incast(3, mebibyte);
    plan.consumers = 2;
    const auto entry = [](std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
        return TrafficPlan::Entry{{from}, {.at = {}, .to = {to}, .phase = 0, .bytes = {bytes}}};
    };
    plan.traffic = std::make_shared<TrafficPlan>(
        3, 2, std::vector<TrafficPhase>{{"all", {}, Duration::seconds(1)}},
        std::vector{entry(0, 0, 500'000), entry(1, 1, 9'000'000), entry(2, 1, 9'000'000)});
    plan.streams = 1;
    const Pressure pressure = measured_pressure(plan, 1, {});
    CHECK(pressure.limit == Limit::streams);
    CHECK(pressure.under_way == Bytes{2 * mebibyte});
}

TEST_CASE("A measured run: what is said of its switch against all that is under way") {
    const Plan plan = incast(32, mebibyte);
    // With the headers of TCP at an MTU of 1500: 1538 bytes for 1448.
    const double waiting = 4.0 * mebibyte * 1538 / 1448;
    const Pressure pressure = measured_pressure(plan, 1, Bytes{2'000'000});
    REQUIRE(pressure.settings.size() == 1);
    CHECK(pressure.settings[0].setting == Setting::given);
    CHECK(pressure.settings[0].queue == Bytes{static_cast<std::int64_t>(std::ceil(waiting))});
    CHECK(pressure.settings[0].acts_at == Bytes{2'000'000});
    CHECK(near(pressure.settings[0].pressure, waiting / 2e6));
    CHECK(pressure.unknown == Pressure::Unknown::nothing);
    CHECK_FALSE(measured_pressure(plan, 1, Bytes{5'000'000}).settings[0].can_act());
}

TEST_CASE("Thresholds that move: pauses by sender, drops by queue, both with what is free") {
    const Plan plan = incast(32, mebibyte);
    NetworkPlan network = bare_network();
    network.fabric.switches.pool = {16'000'000};
    network.fabric.switches.lossless = mask_of(network.fabric.data_priority);
    // A chunk has a header of 64 bytes. While the last of four is sent, the port sends as much as one.
    const double transfer = mebibyte + 64.0;
    const double queue = 3 * transfer + 2 * 4096;
    Pressure pressure = simulated_pressure(plan, network, false);
    REQUIRE(pressure.settings.size() == 1);
    CHECK(of(pressure, Setting::pause).queue == Bytes{static_cast<std::int64_t>(queue)});
    const double expected = transfer / (0.125 * 16e6) + queue / 16e6;
    CHECK(near(of(pressure, Setting::pause).pressure, expected));
    CHECK(of(pressure, Setting::pause).acts_at == Bytes{std::llround(queue / expected)});
    // Where it acts, the fixed point holds: one sender's part is alpha x what is free.
    const double at = 1 / expected;
    CHECK(near(transfer * at, 0.125 * (16e6 - queue * at)));

    network.fabric.switches.lossless = 0;
    pressure = simulated_pressure(plan, network, false);
    CHECK(near(of(pressure, Setting::drop).pressure, queue / 16e6 + queue / 16e6));  // alpha 1
    network.fabric.switches.egress_threshold = {1'000'000};
    CHECK(near(of(simulated_pressure(plan, network, false), Setting::drop).pressure, queue / 1e6));
}

TEST_CASE("Fixed thresholds, ECN in proportion to the port, and the pool's headroom") {
    const Plan plan = incast(32, mebibyte);
    NetworkPlan network = bare_network();
    SwitchPlan& switches = network.fabric.switches;
    switches.lossless = mask_of(network.fabric.data_priority);
    switches.ingress_threshold = {500'000};
    switches.headroom_at_100g = {100'000};
    CHECK(largest_headroom(network, 32, 1) == Bytes{3'400'000});
    switches.ecn.on = true;
    switches.ecn.none_below = {100'000};
    switches.ecn.of_rate = {25'000'000'000};
    const Pressure pressure = simulated_pressure(plan, network, false);
    REQUIRE(pressure.settings.size() == 2);
    CHECK(near(of(pressure, Setting::pause).pressure, (mebibyte + 64) / 500e3));
    CHECK(of(pressure, Setting::mark).acts_at == Bytes{400'000});
    // A fixed threshold that is never reached: then the pool is.
    switches.ingress_threshold = switches.pool = {6'600'000};
    CHECK(near(of(simulated_pressure(plan, network, false), Setting::pause).pressure,
               (3 * (mebibyte + 64) + 2 * 4096) / 3.2e6));
}

TEST_CASE(
    "One sender on a link of the port's speed makes no queue; a faster one, or a disturbed port, does") {
    const Plan plan = incast(1, mebibyte);
    NetworkPlan network = bare_network();
    network.fabric.switches.egress_threshold = {100'000};
    const auto queue = [&](bool disturbed) {
        return static_cast<double>(
            of(simulated_pressure(plan, network, disturbed), Setting::drop).queue.count);
    };
    CHECK(near(queue(false), 2 * 4096));
    CHECK(near(queue(true), 4 * (mebibyte + 64.0) + 2 * 4096));
    network.producer_link = {400'000'000'000};
    CHECK(near(queue(false), std::ceil(3 * (mebibyte + 64.0)) + 2 * 4096));
}

TEST_CASE("Pressure grows in proportion to events, and one that several consumers share counts them all") {
    NetworkPlan network = bare_network();
    network.fabric.switches.lossless = mask_of(network.fabric.data_priority);
    double last = 0;
    for (const std::int64_t bytes : {mebibyte / 2, mebibyte, 2 * mebibyte, 4 * mebibyte}) {
        const double pressure =
            of(simulated_pressure(incast(32, bytes), network, false), Setting::pause).pressure;
        if (last > 0) {
            CHECK(std::abs(pressure / last - 2) < 0.01);
        }
        last = pressure;
    }
    // Four ports that fill at a time leave less of the pool.
    Plan plan = incast(32, mebibyte);
    const double one = of(simulated_pressure(plan, network, false), Setting::pause).pressure;
    plan.consumers = 4;
    CHECK(of(simulated_pressure(plan, network, false), Setting::pause).pressure > 2 * one);
}

TEST_CASE("A cable between switches: all that its leaf sends, or with packets in turn their part of it") {
    // Scheduler and eight producers at one leaf, eight consumers at the other: 32 transfers are under way.
    Plan plan = incast(8, mebibyte);
    plan.consumers = 8;
    NetworkPlan network = bare_network();
    network.fabric.topology = {.kind = TopologyKind::leaf_spine, .leaves = 2, .spines = 4};
    const auto at_uplink = [&](BalancingKind kind, bool disturbed = false) {
        network.fabric.switches.balancing.kind = kind;
        const Pressure::Acting acting = of(simulated_pressure(plan, network, disturbed), Setting::drop);
        CHECK(acting.port == Port::uplink);
        return acting.queue.count;
    };
    constexpr std::int64_t transfers = 32;
    CHECK(at_uplink(BalancingKind::ecmp) == transfers * (mebibyte + 64));
    CHECK(at_uplink(BalancingKind::adaptive) == transfers * (mebibyte + 64));
    // A chunk is 257 packets: 63 rounds of four ways, and one packet at each end.
    constexpr std::int64_t packet = 4096;
    CHECK(at_uplink(BalancingKind::spray) == transfers * 65 * packet);
    CHECK(at_uplink(BalancingKind::spray, true) == transfers * (mebibyte + 64));
    network.fabric.switches.balancing.gap = {};
    CHECK(at_uplink(BalancingKind::flowlets) == transfers * 65 * packet);
    // Two cables to each of two spines are four ways, too. A spine has 130 packets for two ways.
    network.fabric.topology.spines = network.fabric.topology.uplinks = 2;
    CHECK(at_uplink(BalancingKind::spray) == transfers * (128 / 2 + 2) * packet);
    // With half of the streams there are half of the transfers; slots for fewer are the limit, too.
    plan.streams = 2;
    CHECK(at_uplink(BalancingKind::ecmp) == transfers / 2 * (mebibyte + 64));
    plan.streams = 4;
    plan.slots = 1;
    CHECK(at_uplink(BalancingKind::ecmp) == transfers / 4 * (mebibyte + 64));
}

TEST_CASE("What is not known is said, and other ports count") {
    Plan plan = incast(32, mebibyte);
    NetworkPlan network = bare_network();
    network.model = NetworkModel::fluid;
    CHECK(simulated_pressure(plan, network, false).unknown == Pressure::Unknown::no_switch);
    network.model = NetworkModel::packet;
    network.fabric.background.rate = {1};
    CHECK(simulated_pressure(plan, network, false).unknown == Pressure::Unknown::other_traffic);
    network.fabric.background.rate = {};

    plan.result_size = {.kind = DistributionKind::fixed, .mean = 2e6, .trace = {}};
    CHECK(of(simulated_pressure(plan, network, false), Setting::drop).port == Port::scheduler);
    network.separate_control = true;
    CHECK(of(simulated_pressure(plan, network, false), Setting::drop).port == Port::consumer);
    network.separate_control = false;
    // Results have the class of control messages.
    network.fabric.control_priority = 6;
    SwitchPlan& switches = network.fabric.switches;
    switches.ecn.on = true;
    switches.own_ecn[6].emplace().on = false;
    switches.lossless = mask_of(6);
    const Pressure pressure = simulated_pressure(plan, network, false);
    CHECK(of(pressure, Setting::pause).port == Port::scheduler);
    CHECK(of(pressure, Setting::drop).port == Port::consumer);
    CHECK(of(pressure, Setting::mark).port == Port::consumer);
    network.separate_control = true;
    network.fabric.topology.kind = TopologyKind::leaf_spine;
    CHECK(of(simulated_pressure(plan, network, false), Setting::drop).port == Port::uplink);
}
