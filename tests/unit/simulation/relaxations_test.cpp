// Which limits of a plan can be relaxed, and how.
#include "simulation/relaxations.hpp"

#include <algorithm>

#include "catch.hpp"
#include "core/network_plan.hpp"
#include "ranks_in_order.hpp"

using namespace weir::core;
using namespace weir::simulation;
using weir::judge::CauseKind;

namespace {

SimulatedRun plain_run() {
    SimulatedRun run;
    Plan& plan = run.run.plan;
    plan.producers = 2;
    plan.consumers = 4;
    plan.interval = Duration::seconds(1);
    plan.rate = {800'000'000};
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 10e6, .trace = {}};
    plan.slot_size = {10'000'000};
    plan.chunk_size = {1'000'000};
    plan.buffer = {100'000'000};
    plan.window = 4;
    plan.slots = 4;
    plan.streams = 4;
    run.network.producer_link = run.network.consumer_link = {1'000'000'000};
    run.network.mtu = {4096};
    run.network.latency = Duration::microseconds(5);
    run.network.scheduler_time = Duration::microseconds(1);
    return run;
}

const Relaxation* find(const std::vector<Relaxation>& table, CauseKind what,
                       std::optional<NodeId> where = std::nullopt) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Relaxation& one) {
        return one.what == what && one.where == where;
    });
    return found == table.end() ? nullptr : &*found;
}

SimulatedRun widest(const SimulatedRun& run, const Relaxation* relaxation) {
    REQUIRE(relaxation != nullptr);
    SimulatedRun changed = run;
    relaxation->steps.back().apply(changed);
    return changed;
}

Disturbance fault(Disturbance::Kind kind, NodeId node) {
    Disturbance disturbance;
    disturbance.kind = kind;
    disturbance.node = node;
    return disturbance;
}

}  // namespace

TEST_CASE("A plan offers what it limits, and nothing else") {
    const SimulatedRun run = plain_run();
    const auto table = relaxations_of(run);
    for (const CauseKind what :
         {CauseKind::slots, CauseKind::streams, CauseKind::buffer, CauseKind::scheduler,
          CauseKind::control_latency, CauseKind::producer_links, CauseKind::consumer_links}) {
        CHECK(find(table, what) != nullptr);
    }
    // 10 events of each of 2 producers are 5 for each of 4 consumers.
    CHECK(table.size() == 7);
    CHECK(widest(run, find(table, CauseKind::slots)).run.plan.slots == 64);
    CHECK(find(table, CauseKind::slots)->steps.front().with == "with 5 slots instead of 4");
    CHECK(find(table, CauseKind::slots)->steps.front().remedy == "use --slots 5 instead of 4");
    CHECK(find(table, CauseKind::slots)->steps.front().options ==
          std::vector<judge::RemedyOption>{{"slots", "5"}});
    CHECK(widest(run, find(table, CauseKind::consumer_links)).network.consumer_link.bits_per_second ==
          100'000'000'000);
    CHECK(find(table, CauseKind::consumer_links)->steps.front().with ==
          "with consumers' links of 1.1 Gb/s instead of 1 Gb/s");
    CHECK(widest(run, find(table, CauseKind::scheduler)).network.scheduler_time < Duration::nanoseconds(10));
}

TEST_CASE("Options that hold data back can be left out") {
    SimulatedRun run = plain_run();
    Plan& plan = run.run.plan;
    plan.pattern = Pattern::build;
    plan.initiation = Initiation::pull;
    plan.requests = 1;
    plan.assigned_events = 3;
    plan.high_water = 3;
    plan.low_water = 2;
    plan.shaping = {
        .kind = ShapingKind::bucket, .rate = {900'000'000}, .burst = {1'000'000}, .grid = {}, .tick = {}};
    plan.busy = {.kind = DistributionKind::exponential, .mean = 1e6, .trace = {}};
    plan.busy_consumers = {2};
    const auto table = relaxations_of(run);
    CHECK(widest(run, find(table, CauseKind::requests)).run.plan.requests == 64);
    CHECK(widest(run, find(table, CauseKind::outstanding)).run.plan.assigned_events == 64);
    CHECK(widest(run, find(table, CauseKind::high_water)).run.plan.high_water == 0);
    CHECK(widest(run, find(table, CauseKind::shaping)).run.plan.shaping == Shaping{});
    CHECK(widest(run, find(table, CauseKind::window)).run.plan.window == 64);
    CHECK(widest(run, find(table, CauseKind::processing, NodeId{Role::consumer, 2})).run.plan.busy.mean ==
          1e4);
}

TEST_CASE("More slots are no remedy for consumers that cannot keep up") {
    SimulatedRun run = plain_run();  // 20 events in a second for 4 consumers
    run.run.plan.busy = {.kind = DistributionKind::exponential, .mean = 190e6, .trace = {}};
    CHECK(find(relaxations_of(run), CauseKind::slots) != nullptr);
    run.run.plan.busy.mean = 200e6;
    CHECK(find(relaxations_of(run), CauseKind::slots) == nullptr);
    CHECK(find(relaxations_of(run), CauseKind::processing) != nullptr);
    SECTION("nor for one of them whose share cannot go elsewhere") {
        run.run.plan.busy_consumers = {1};
        CHECK(find(relaxations_of(run), CauseKind::slots) != nullptr);
        run.run.plan.policy = PolicyKind::round_robin;
        CHECK(find(relaxations_of(run), CauseKind::slots) == nullptr);
    }
    SECTION("nor for one that has become slow") {
        run.run.plan.busy.mean = 150e6;
        run.run.plan.policy = PolicyKind::round_robin;
        CHECK(find(relaxations_of(run), CauseKind::slots) != nullptr);
        run.disturbances = {fault(Disturbance::Kind::slow, {Role::consumer, 2})};
        run.disturbances[0].factor = 1.4;
        CHECK(find(relaxations_of(run), CauseKind::slots) == nullptr);
    }
}

TEST_CASE("Events that do not divide evenly can be made to") {
    SimulatedRun run = plain_run();
    run.run.plan.event_size.mean = 30e6;  // 4 of a set of 100 MB: 8 of both, 2 for each consumer
    const auto table = relaxations_of(run);
    CHECK(widest(run, find(table, CauseKind::event_size)).run.plan.event_size.mean == 25e6);
    run.run.plan.producers = 3;
    run.run.plan.event_size.mean = 50e6;  // 2 of each of 3: 6 for 4 consumers; 4 of 25 MB are 12
    CHECK(widest(run, find(relaxations_of(run), CauseKind::event_size)).run.plan.event_size.mean == 25e6);
}

TEST_CASE("A rank whose link is slower than the others' stands alone") {
    SimulatedRun run = plain_run();
    run.network.own_consumer_links = {{1, 1, {100'000'000}}, {2, 3, {2'000'000'000}}};
    const auto table = relaxations_of(run);
    const SimulatedRun changed =
        widest(run, find(table, CauseKind::consumer_links, NodeId{Role::consumer, 1}));
    CHECK(changed.network.own_consumer_links[0].rate.bits_per_second == 300'000'000'000);
    CHECK(changed.network.own_consumer_links[1].rate.bits_per_second == 2'000'000'000);
    CHECK(changed.network.consumer_link == run.network.consumer_link);
    const SimulatedRun all = widest(run, find(table, CauseKind::consumer_links));
    CHECK(all.network.own_consumer_links[0].rate.bits_per_second == 10'000'000'000);
}

TEST_CASE("A fault is relaxed by leaving it out, those of one node together") {
    SimulatedRun run = plain_run();
    const NodeId producer{Role::producer, 1};
    const NodeId consumer{Role::consumer, 0};
    using Kind = Disturbance::Kind;
    run.disturbances = {fault(Kind::pause, producer),         fault(Kind::pause, producer),
                        fault(Kind::pause, consumer),         fault(Kind::pause, scheduler_node()),
                        fault(Kind::degrade, consumer),       fault(Kind::slow, scheduler_node()),
                        fault(Kind::delay, scheduler_node()), fault(Kind::die, consumer)};
    const auto table = relaxations_of(run);
    CHECK(widest(run, find(table, CauseKind::stalled_rank, producer)).disturbances.size() == 6);
    CHECK(widest(run, find(table, CauseKind::stalled_rank, consumer)).disturbances.size() == 7);
    CHECK(widest(run, find(table, CauseKind::stalled_rank, scheduler_node())).disturbances.size() == 7);
    CHECK(widest(run, find(table, CauseKind::stalled_rank)).disturbances.size() == 4);
    CHECK(widest(run, find(table, CauseKind::consumer_links, consumer)).disturbances.size() == 7);
    CHECK(widest(run, find(table, CauseKind::scheduler, scheduler_node())).disturbances.size() == 7);
    CHECK(widest(run, find(table, CauseKind::lost_consumers, consumer)).disturbances.size() == 7);
    CHECK(find(table, CauseKind::stalled_rank, consumer)->steps.front().with ==
          "if consumer 0 had not stood still");
}

TEST_CASE("Receive rings and sockets of hosts are relaxed apart, each with its own option") {
    SimulatedRun run = plain_run();
    run.network.model = NetworkModel::packet;
    HostPlan& hosts = run.network.fabric.hosts;
    hosts.ring_packets = 64;
    CHECK(find(relaxations_of(run), CauseKind::host_loss) == nullptr);  // no packet waits in it
    hosts.receive_time = Duration::microseconds(5);
    auto table = relaxations_of(run);
    const Relaxation* ring = find(table, CauseKind::host_loss);
    REQUIRE(ring != nullptr);
    CHECK(ring->steps.front().with ==
          "with room for 128 packets in the receive rings of hosts instead of 64");
    CHECK(ring->steps.front().remedy.find("ring-packets") != std::string::npos);
    CHECK(widest(run, ring).network.fabric.hosts.ring_packets == 4096);
    hosts.ring_packets = 0;
    hosts.socket_buffer = {1000};
    table = relaxations_of(run);
    CHECK(find(table, CauseKind::host_loss)->steps.front().remedy ==
          "use sockets that hold 2 kB instead of 1 kB (--socket-buffer)");
}

TEST_CASE("Faults of one cause that are relaxed together are all named") {
    using Kind = Disturbance::Kind;
    const auto together = [](std::vector<Disturbance> faults, CauseKind what) {
        SimulatedRun run = plain_run();
        run.disturbances = std::move(faults);
        const auto table = fault_relaxations(run.disturbances);
        const Relaxation& last = table.back();
        CHECK(last.what == what);
        CHECK(widest(run, &last).disturbances.empty());
        return last.steps.front();
    };
    const NodeId consumer{Role::consumer, 1};
    const RelaxedStep still = together({fault(Kind::pause, scheduler_node()), fault(Kind::pause, consumer)},
                                       CauseKind::stalled_rank);
    CHECK(still.with == "if the scheduler and consumer 1 had not stood still");
    CHECK(still.remedy == "keep the scheduler and consumer 1 running");
    CHECK(still.options.empty());
    const RelaxedStep links =
        together({fault(Kind::degrade, {Role::producer, 2}), fault(Kind::degrade, {Role::producer, 0})},
                 CauseKind::producer_links);
    CHECK(links.with == "with full links of producers 0 and 2");
    CHECK(links.remedy == "repair the links of producers 0 and 2");
    const RelaxedStep lost =
        together({fault(Kind::die, consumer), fault(Kind::cut, consumer)}, CauseKind::lost_consumers);
    CHECK(lost.remedy == "keep consumer 1 from being lost");
    std::vector<Disturbance> different{fault(Kind::storm, {}), fault(Kind::errors, {}),
                                       fault(Kind::errors, {})};
    different[0].place = "consumer-1";
    different[1].place = "producer-2:switch-0";
    different[2].place = "producer-3:switch-0";
    const RelaxedStep network = together(different, CauseKind::network_failure);
    CHECK(network.with ==
          "if consumer-1 had not paused the switch, and without errors of links producer-2:switch-0 and "
          "producer-3:switch-0");
    CHECK(network.remedy ==
          "replace the NIC of consumer-1 and repair links producer-2:switch-0 and producer-3:switch-0");
}

TEST_CASE("A switch whose ports have queues of their own is relaxed by these") {
    SimulatedRun run = plain_run();
    run.network.model = NetworkModel::packet;
    SwitchPlan& switches = run.network.fabric.switches;
    switches.pool = endless_pool;
    switches.egress_threshold = {256 * 1024};
    const auto table = relaxations_of(run);
    const RelaxedStep& step = find(table, CauseKind::switch_loss)->steps[1];
    CHECK(step.with == "with 1MiB for each queue of a switch port instead of 256KiB");
    CHECK(step.remedy == "use --port-buffer 1MiB instead of 256KiB");
    SimulatedRun changed = run;
    step.apply(changed);
    CHECK(changed.network.fabric.switches.egress_threshold == Bytes{1024 * 1024});
    CHECK(changed.network.fabric.switches.pool == endless_pool);
}

TEST_CASE("A switch can be relaxed as far as it limits") {
    SimulatedRun run = plain_run();
    run.network.model = NetworkModel::packet;
    CHECK(find(relaxations_of(run), CauseKind::pfc) == nullptr);
    run.network.fabric.switches.lossless = mask_of(3);
    run.network.fabric.switches.ecn.on = run.network.fabric.nics.dcqcn.on = true;
    run.network.fabric.hosts.socket_buffer = {1000};
    const auto table = relaxations_of(run);
    CHECK(widest(run, find(table, CauseKind::pfc)).network.fabric.switches.lossless == 0);
    CHECK_FALSE(widest(run, find(table, CauseKind::ecn)).network.fabric.switches.ecn.on);
    CHECK(find(table, CauseKind::ecn)->steps.front().remedy == "switch ECN off (--ecn off)");
    run.network.fabric.switches.ecn.on = false;  // losses are notified
    CHECK(find(relaxations_of(run), CauseKind::ecn)->steps.front().remedy.find("notify-losses") !=
          std::string::npos);
    CHECK(widest(run, find(table, CauseKind::switch_loss)).network.fabric.switches.pool ==
          run.network.fabric.switches.pool * 100);
    CHECK(widest(run, find(table, CauseKind::host_loss)).network.fabric.hosts.socket_buffer == Bytes{64'000});
    const auto windows = [&run] {
        const auto relaxations = relaxations_of(run);
        return std::count_if(relaxations.begin(), relaxations.end(),
                             [](const Relaxation& one) { return one.what == CauseKind::window; });
    };
    const auto without_control = windows();
    const auto control = GENERATE(PairControl::swift, PairControl::credits);
    NicPlan& nics = run.network.fabric.nics;
    nics.control = control;
    nics.dcqcn.on = false;
    CHECK(windows() == without_control + 1);
    SimulatedRun relaxed = run;
    for (const Relaxation& one : relaxations_of(run)) {
        if (one.what == CauseKind::window) {
            one.steps.back().apply(relaxed);
        }
    }
    CHECK(relaxed.network.fabric.nics.control == PairControl::dcqcn);
    CHECK_FALSE(relaxed.network.fabric.nics.dcqcn.on);
    // Marks, on which nothing acts.
    CHECK(find(relaxations_of(run), CauseKind::ecn) == nullptr);
    // Neither TCP nor datagrams have it.
    run.network.framing = Framing::tcp;
    CHECK(windows() == without_control);
    run.network.framing = Framing::roce;
    run.run.plan.transport = TransportKind::datagram;
    CHECK(windows() == without_control);
}

TEST_CASE("Faster links take their headroom from nothing that ports share") {
    SimulatedRun run = plain_run();
    run.network.model = NetworkModel::packet;
    run.network.producer_link = run.network.consumer_link = {25'000'000'000};
    SwitchPlan& switches = run.network.fabric.switches;
    switches.lossless = 1U << 3U;
    const auto shared = [](const SimulatedRun& of) {
        return of.network.fabric.switches.pool.count -
               largest_headroom(of.network, of.run.plan.producers, of.run.plan.consumers).count;
    };
    switches.pool = largest_headroom(run.network, 2, 4);
    switches.pool.count += 1000;
    const auto table = relaxations_of(run);
    for (const CauseKind what : {CauseKind::producer_links, CauseKind::consumer_links}) {
        CHECK(shared(widest(run, find(table, what))) == 1000);
        CHECK(widest(run, find(table, what)).network.fabric.switches.pool > switches.pool);
    }
}
