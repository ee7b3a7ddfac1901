// The simulated run: the same again from the same seed, closed forms where there are any, disturbances.
#include "simulation/simulated_run.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "core/plan.hpp"
#include "one_to_one.hpp"
#include "ranks_in_order.hpp"
#include "show/run_record.hpp"
#include "temporary_directory.hpp"

using namespace weir::core;
using namespace weir::simulation;
using weir::show::RunRecord;
using weir::simulation::test::one_to_one;
using weir::simulation::test::result_of;

namespace {

/// Datagrams, through a switch whose ports hold so much each.
void use_datagrams(SimulatedRun& run, std::int64_t port_buffer) {
    run.run.plan.transport = TransportKind::datagram;
    run.network.model = NetworkModel::packet;
    run.network.separate_control = true;
    run.network.fabric.switches.pool = {std::int64_t{1} << 40};
    run.network.fabric.switches.egress_threshold = {port_buffer};
}

bool sustained(SimulatedRun& run) {
    const SimulationResult result = result_of(run);
    INFO(result.end.what);
    CHECK(result.end.kind == SimulationEnd::Kind::regular);
    CHECK(result.record.ledger_differences.empty());
    return result.record.verdict.judged && result.record.verdict.sustained;
}

}  // namespace

TEST_CASE("A simulated run whose traffic cannot be written has failed, also in the record") {
    SimulatedRun run = one_to_one();
    const TemporaryDirectory directory;
    std::filesystem::create_directories(directory / "traffic.csv");  // the place is taken
    run.run.directory = directory.path().string();
    const SimulationResult result = result_of(run);
    CHECK(result.exit_status == 1);
    CHECK(result.cannot_write.find("cannot rename to " + run.run.directory + "/traffic.csv: ") == 0);
    CHECK(result.record.status == weir::show::RunStatus::failed);
    REQUIRE(result.record.failure);
    CHECK(result.record.failure->what == result.cannot_write);
    CHECK(std::filesystem::exists(directory / "run.json"));
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
        CHECK(entry.path().extension() != ".tmp");
    }
}

TEST_CASE("The same seed gives the same record, another one does not") {
    SimulatedRun run = one_to_one();
    run.run.plan.busy = {.kind = DistributionKind::exponential, .mean = 1e8, .trace = {}};
    run.disturbances = {parse_disturbance(
        "delay:extra=1", [](std::string_view) { return Duration::milliseconds(1); }, nullptr)};
    const auto text = [&](std::uint64_t seed) {
        run.run.plan.seed = seed;
        return weir::show::to_json(result_of(run).record).dump();
    };
    const std::string first = text(1);
    CHECK(first == text(1));
    CHECK_FALSE(first == text(2));
}

TEST_CASE("Without a scheduler a saturated link carries what it can") {
    SimulatedRun run = one_to_one();
    run.run.plan.generation = Generation::saturate;
    run.run.plan.policy = PolicyKind::none;
    const SimulationResult result = result_of(run);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    const auto& consumer = result.record.ranks[2].summary;
    CHECK(static_cast<double>(consumer.throughput().bits_per_second) == Approx(80e6).epsilon(0.005));
}

TEST_CASE("Without a scheduler producers with few streams do not all send to the same consumer") {
    // N producers, of which each sends to one of N consumers at a time, are N customers of N queues: with
    // random turns, N / (2 N - 1) of the queues are busy. Here each has its own order of turns for ever,
    // which may be a little worse. In step it would be 1 / N.
    constexpr std::uint32_t nodes = 8;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        SimulatedRun run = one_to_one();
        run.run.plan.producers = run.run.plan.consumers = run.run.plan.slots = nodes;
        run.run.plan.streams = 1;
        run.run.plan.generation = Generation::saturate;
        run.run.plan.policy = PolicyKind::none;
        run.run.plan.seed = seed;
        weir::simulation::test::assign_ranks(run);
        const SimulationResult result = result_of(run);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        double sum = 0;
        for (const auto& rank : result.record.ranks) {
            sum += rank.summary.node.role == Role::consumer
                       ? static_cast<double>(rank.summary.throughput().bits_per_second)
                       : 0;
        }
        const double used = sum / nodes / 80e6;
        CAPTURE(seed, used);
        CHECK(used >= 0.9 * nodes / (2.0 * nodes - 1));
        CHECK(used <= 1.005);
    }
}

TEST_CASE("A rate just below the link is sustained, just above is not") {
    SimulatedRun run = one_to_one();
    run.run.plan.duration = Duration::seconds(60);
    run.run.plan.buffer = {5000000};
    run.run.plan.rate = {79000000};
    CHECK(sustained(run));
    run.run.plan.rate = {82000000};
    CHECK_FALSE(sustained(run));
}

TEST_CASE("Consumers that take a fixed time bear what their number divided by it is") {
    SimulatedRun run = one_to_one();
    run.run.plan.consumers = 3;
    run.run.plan.duration = Duration::seconds(60);
    // 3 consumers with 700 ms per event of 1 MB: 4.286 events/s, 34.3 Mb/s.
    run.run.plan.busy = {.kind = DistributionKind::fixed, .mean = 7e8, .trace = {}};
    run.run.plan.rate = {33500000};
    CHECK(sustained(run));
    run.run.plan.rate = {39000000};
    CHECK_FALSE(sustained(run));
}

TEST_CASE("Waiting for an exponential server is as queueing theory has it") {
    // Events at fixed intervals, one slot, exponential service: D/M/1. With s = exp(-(1 - s) / load) the wait
    // exceeds t with probability s exp(-(1 - s) t / mean) (Kleinrock, Queueing Systems I, section 6.4). The
    // slot is held while the event arrives too (0.1 ms here) and is given back after two latencies, so the
    // load is that much higher.
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    plan.event_size.mean = 1000;
    plan.slot_size = {1000};
    plan.chunk_size = {1000};
    plan.rate = {80000};  // 10 events/s
    plan.slots = 1;
    plan.busy = {.kind = DistributionKind::exponential, .mean = 5e7, .trace = {}};
    plan.buffer = {1000000};
    plan.duration = Duration::seconds(5000);
    const SimulationResult result = result_of(run);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    const double mean_s = 0.0501;
    const double load = 10 * mean_s;
    double s = 0.5;
    for (int i = 0; i < 100; ++i) {
        s = std::exp(-(1 - s) / load);
    }
    const auto quantile_us = [&](double p) { return 1e6 * mean_s / (1 - s) * std::log(s / (1 - p)); };
    CHECK(result.record.latencies.offer_to_grant.p90_us == Approx(quantile_us(0.9)).epsilon(0.05));
    CHECK(result.record.latencies.offer_to_grant.p99_us == Approx(quantile_us(0.99)).epsilon(0.08));
}

TEST_CASE("Chunks count at the first tick after they have left") {
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    // One transfer of 30 s at 80 Mb/s: a chunk of 150 kB takes 15 ms, so one leaves in each tick or in none.
    plan.generation = Generation::sets;
    plan.interval = Duration::seconds(40);
    plan.rate = {60000000};
    plan.event_size.mean = 3e8;
    plan.slot_size = {300000000};
    plan.buffer = {300000000};
    plan.chunk_size = {150000};
    plan.duration = Duration::seconds(40);
    const SimulationResult result = result_of(run);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    for (const std::size_t rank : {std::size_t{1}, std::size_t{2}}) {
        CAPTURE(rank);
        const auto& summary = result.record.ranks[rank].summary;
        CHECK(summary.peak_10ms == BitRate{150000 * 8 * 100});
        // 66 or 67 chunks in each of 30 seconds, with the part of the next one that has passed by its end:
        // what the link carries, but for the byte that is cut at either end. None in the last ten.
        CHECK(summary.fastest.bits_per_second >= 80000000);
        CHECK(summary.fastest.bits_per_second <= 80000008);
        CHECK(summary.slowest == BitRate{0});
        CHECK(summary.run.moved(summary.node.role).bytes == Bytes{300000000});
    }
}

TEST_CASE("An event of one chunk is received while it is on its way, and its bytes count as they come") {
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    // A set of 20 MB every 4 s is one event, which is one chunk: 2 s at 80 Mb/s, over two seconds' ends.
    plan.generation = Generation::sets;
    plan.interval = Duration::seconds(4);
    plan.rate = {40000000};
    plan.event_size.mean = 2e7;
    plan.slot_size = plan.buffer = plan.chunk_size = {20000000};
    plan.streams = 1;
    plan.duration = Duration::seconds(8);
    const SimulationResult result = result_of(run);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    const auto& producer = result.record.ranks[1].summary;
    const auto& consumer = result.record.ranks[2].summary;
    CHECK(consumer.time.receiving.in_seconds() == Approx(4).margin(0.01));
    CHECK(consumer.time.receiving + consumer.time.waiting_for_data == consumer.covered);
    CHECK(producer.time.transferring.in_seconds() == Approx(4).margin(0.01));
    for (const auto* summary : {&producer, &consumer}) {
        CHECK(summary->fastest.bits_per_second == Approx(80e6).epsilon(1e-3));
        CHECK(summary->run.moved(summary->node.role).bytes == Bytes{40000000});
    }
}

TEST_CASE("A node that is lost ends the run and is named") {
    SimulatedRun run = one_to_one();
    run.disturbances.push_back(
        {.kind = Disturbance::Kind::die, .node = {Role::consumer, 0}, .at = {3000000000}});
    const SimulationResult result = result_of(run);
    CHECK(result.end.kind == SimulationEnd::Kind::node_died);
    CHECK(result.record.status == weir::show::RunStatus::failed);
    REQUIRE(result.record.failure);
    CHECK(result.record.failure->what.find("rank 2 (consumer 0)") != std::string::npos);
    CHECK(result.exit_status == 1);
}

TEST_CASE("A pause holds up data, and what it held up is delivered") {
    SimulatedRun run = one_to_one();
    run.run.plan.buffer = {2000000};
    CHECK(sustained(run));
    for (const NodeId node : {NodeId{Role::consumer, 0}, NodeId{Role::producer, 0}, scheduler_node()}) {
        run.disturbances = {{.kind = Disturbance::Kind::pause,
                             .node = node,
                             .at = {2000000000},
                             .length = Duration::milliseconds(1500)}};
        const SimulationResult result = result_of(run);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        CHECK_FALSE(result.record.verdict.sustained);
        CHECK(result.record.ledger_differences.empty());
        CHECK(weir::show::totals_of(result.record).lost.events == 0);
    }
}

TEST_CASE("Datagrams that stood before a link go on when it does") {
    SimulatedRun run = one_to_one();
    run.run.plan.chunk_size = {50000};
    run.run.plan.fragment_timeout = Duration::milliseconds(500);
    run.run.plan.window = 64;
    const auto lost_with = [&](const Disturbance& disturbance, std::int64_t port_buffer) {
        use_datagrams(run, port_buffer);
        run.disturbances = {disturbance};
        const SimulationResult result = result_of(run);
        INFO(result.end.what);
        CHECK(result.end.kind == SimulationEnd::Kind::regular);
        CHECK(result.record.ledger_differences.empty());
        const auto totals = weir::show::totals_of(result.record);
        CHECK(totals.received.events + totals.lost.events == totals.generated.events);
        return totals.lost.events;
    };
    const Disturbance pause{.kind = Disturbance::Kind::pause,
                            .node = {Role::consumer, 0},
                            .at = {2000000000},
                            .length = Duration::milliseconds(100)};
    const Disturbance degrade{.kind = Disturbance::Kind::degrade,
                              .node = {Role::producer, 0},
                              .at = {2000000000},
                              .length = Duration::milliseconds(100),
                              .factor = 0};
    // A megabyte comes in 100 ms at the most.
    CHECK(lost_with(pause, 1100000) == 0);
    // An event is sent in 100 ms, the next one begins 200 ms after it: the pause meets two, or the end of
    // one.
    const std::uint64_t lost = lost_with(pause, 100000);
    CHECK(lost >= 1);
    CHECK(lost <= 2);
    // Nothing is dropped before the producer's own link.
    CHECK(lost_with(degrade, 100000) == 0);
}

TEST_CASE("A clock that drifts is as far from the grid as it gets between two ticks") {
    SimulatedRun run = one_to_one();
    run.run.plan.chunk_size = {50000};
    run.run.plan.fragment_timeout = Duration::milliseconds(500);
    use_datagrams(run, 10000000);
    run.run.plan.shaping.kind = weir::core::ShapingKind::in_step;
    run.run.plan.shaping.grid = Duration::milliseconds(10);
    run.run.plan.shaping.tick = Duration::milliseconds(1000);
    run.disturbances = {{.kind = Disturbance::Kind::drift, .node = {Role::producer, 0}, .ppm = -100}};
    const SimulationResult result = result_of(run);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    CHECK(weir::show::totals_of(result.record).lost.events == 0);
    // 100 ppm of a second; the last event of a second begins 200 ms before its end.
    CHECK(result.record.latencies.pacing_error.max_us > 80);
    CHECK(result.record.latencies.pacing_error.max_us < 100);
}

TEST_CASE("The socket of a consumer that stands still fills, and drops what does not fit") {
    SimulatedRun run = one_to_one();
    run.run.plan.chunk_size = {50000};
    run.run.plan.window = 64;
    run.run.plan.fragment_timeout = Duration::milliseconds(500);
    use_datagrams(run, 10000000);
    run.network.fabric.hosts.socket_buffer = {200000};
    // A second is five events of a megabyte: 200 kB of them fit.
    run.disturbances = {{.kind = Disturbance::Kind::pause,
                         .node = {Role::consumer, 0},
                         .at = {2000000000},
                         .length = Duration::seconds(1)}};
    const SimulationResult result = result_of(run);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    REQUIRE(result.record.datagrams);
    const weir::record::DatagramAccount& account = *result.record.datagrams;
    CHECK(account.explained.socket > 0);
    CHECK(account.unexplained() == 0);

    const auto totals = weir::show::totals_of(result.record);
    CHECK(totals.received.events + totals.lost.events == totals.generated.events);
    CHECK(totals.lost.events > 0);
}

TEST_CASE("Traffic of others slows data down, and a run ends without waiting for it") {
    SimulatedRun run = one_to_one();
    run.network.model = NetworkModel::packet;
    run.network.framing = Framing::roce;
    CHECK(sustained(run));
    // Half of the link at least is for data, of which 40 Mb/s come; the rest is for others.
    run.network.fabric.background = {.rate = {30000000}, .packet = {1538}, .priority = 1};
    CHECK(sustained(run));
    run.network.fabric.background = {.rate = {79000000}, .packet = {1538}, .priority = 5};
    run.network.fabric.switches.strict = run.network.fabric.nics.strict = mask_of(5);
    const SimulationResult result = result_of(run);
    CHECK(result.end.kind != SimulationEnd::Kind::stuck);
    CHECK_FALSE(result.record.verdict.sustained);
}

TEST_CASE("A link that carries less, a consumer that is slow and a slow scheduler each show") {
    SimulatedRun run = one_to_one();
    run.run.plan.buffer = {2000000};
    run.run.plan.busy = {.kind = DistributionKind::fixed, .mean = 1e8, .trace = {}};
    CHECK(sustained(run));
    run.disturbances = {{.kind = Disturbance::Kind::degrade, .node = {Role::producer, 0}, .factor = 0.3}};
    CHECK_FALSE(sustained(run));
    run.disturbances = {
        {.kind = Disturbance::Kind::slow, .node = {Role::consumer, 0}, .at = {4000000000}, .factor = 5}};
    const SimulationResult slow = result_of(run);
    CHECK_FALSE(slow.record.verdict.sustained);
    CHECK(slow.record.verdict.first_overflow_second >= 4);
    run.disturbances = {{.kind = Disturbance::Kind::slow, .node = scheduler_node(), .factor = 200000}};
    CHECK_FALSE(sustained(run));
}

TEST_CASE("A scheduler that was slow goes on in order, and as fast as it is meanwhile") {
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    plan.producers = plan.consumers = 4;
    plan.rate = {40000000};
    plan.interval = Duration::milliseconds(100);
    plan.event_size.mean = 10000;
    plan.slot_size = {10000};
    plan.chunk_size = {10000};
    plan.buffer = {500000};  // a set
    plan.duration = Duration::seconds(2);
    // A message takes 10 ms for a while, and 3 of each of 2000 events a second come.
    const auto time = Duration::milliseconds(10);
    run.disturbances = {{.kind = Disturbance::Kind::slow,
                         .node = scheduler_node(),
                         .at = {200000000},
                         .length = Duration::milliseconds(500),
                         .factor = 1e4}};
    for (const bool instant : {false, true}) {
        INFO("instant " << instant);
        run.network.scheduler_time = instant ? Duration{} : Duration::microseconds(1);
        run.disturbances[0].factor = static_cast<double>(time.ns) / (instant ? 1 : 1000);
        const SimulationResult result = result_of(run);
        INFO(result.end.what);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        // Half a second of data is 5 sets; links of twice the rate take another half a second to move them,
        // in which nothing more gathers.
        for (std::size_t rank = 1; rank <= plan.producers; ++rank) {
            const double occupancy = result.record.ranks[rank].summary.max_occupancy;
            CHECK(occupancy > 4);
            CHECK(occupancy < 5.5);
        }
    }
}

TEST_CASE("What comes at the instant at which a pause ends comes behind what was held up") {
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    plan.producers = 2;
    plan.interval = Duration::milliseconds(1);
    plan.event_size.mean = 500;
    plan.slot_size = {500};
    plan.duration = Duration::milliseconds(100);
    plan.generation = Generation::sets;
    // A message takes 100 us and 2 ns: what is offered at whole milliseconds is there at this instant, and
    // the answers come so many steps later.
    run.network.producer_link = run.network.consumer_link = {1000000000000};
    run.network.latency = Duration::microseconds(100);
    run.network.scheduler_time = {};
    constexpr Duration step = Duration::nanoseconds(100002);
    for (const NodeId node : {NodeId{Role::consumer, 0}, NodeId{Role::producer, 0}, scheduler_node()}) {
        for (std::int64_t steps = 1; steps <= 6; ++steps) {
            run.disturbances = {{.kind = Disturbance::Kind::pause,
                                 .node = node,
                                 .at = {20000000},
                                 .length = Duration::milliseconds(30) + step * steps}};
            const SimulationResult result = result_of(run);
            INFO(result.end.what);
            CHECK(result.end.kind == SimulationEnd::Kind::regular);
            CHECK(result.record.status == weir::show::RunStatus::complete);
            CHECK(result.record.ledger_differences.empty());
        }
    }
}

TEST_CASE("An event is sent at once when there is room for it, a grant and a stream") {
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    use_datagrams(run, 10000000);
    plan.policy = PolicyKind::none;
    plan.generation = Generation::saturate;
    plan.chunk_size = {50000};
    plan.buffer = {2000000};
    plan.streams = plan.slots = 20;  // more than there is room for events
    plan.duration = Duration::seconds(2);
    plan.fragment_timeout = Duration::milliseconds(500);
    for (const std::uint32_t reasks : {0U, 1U}) {
        INFO("asks again " << reasks << " times");
        plan.reasks = reasks;
        const SimulationResult result = result_of(run);
        INFO(result.end.what);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        CHECK(result.record.latencies.offer_to_grant.count > 5);
        CHECK(result.record.latencies.grant_to_first_byte.max_us == 0);
        // The first events wait for the first grants: 10 us, and 128 bytes at 80 Mb/s.
        CHECK(result.record.latencies.offer_to_grant.max_us <= 22.8);
    }
}

TEST_CASE("What is on its way when the time is over breaks no rule") {
    SimulatedRun run = one_to_one();
    run.run.plan.duration = Duration::seconds(2);
    run.run.plan.drain = {};
    run.network.consumer_link = {1600000};  // an event takes 5 s
    run.network.latency = Duration::milliseconds(400);
    const SimulationResult result = result_of(run);
    INFO(result.end.what);
    CHECK(result.end.kind == SimulationEnd::Kind::regular);
}

TEST_CASE("A run that was stopped is recorded as interrupted") {
    SimulatedRun run = one_to_one();
    weir::simulation::test::assign_ranks(run);
    const SimulationResult result = simulate(
        run, {.second = {}, .interruption = [](Instant now) { return now.ns > 3000000000 ? 2 : 0; }});
    CHECK(result.record.status == weir::show::RunStatus::interrupted);
    CHECK(result.exit_status == 130);
    CHECK(weir::show::seconds_of(result.record) >= 2);
}
