// What a simulation packet by packet records of the network, where the truth is known: the mechanism that
// held data up, who was held up by it, and rows that add up.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "judge/network_advice.hpp"
#include "show/run_record.hpp"
#include "simulation/simulated_run.hpp"
#include "unit/simulation/packet_run.hpp"

using namespace weir::core;
using namespace weir::simulation;
using weir::judge::NetworkMechanism;
using weir::record::CounterSum;
using weir::record::HostCounters;
using weir::show::RunRecord;
using weir::simulation::test::turn_on_pfc;
using Mechanisms = std::vector<NetworkMechanism>;

namespace {

/// Links of 10 Gb/s, events of 1 MB: half a link's worth from each producer if there are four of both roles.
SimulatedRun packet_run(std::uint32_t producers, std::uint32_t consumers, BitRate rate) {
    SimulatedRun run =
        weir::simulation::test::packet_run(producers, consumers, {10'000'000'000}, 1'000'000, 64'000);
    Plan& plan = run.run.plan;
    plan.interval = Duration::milliseconds(100);
    plan.rate = rate;
    plan.generation = Generation::sets;
    plan.buffer = {500'000'000};
    plan.slots = 8;
    plan.warmup = Duration::milliseconds(200);
    plan.duration = Duration::seconds(1);
    plan.drain = Duration::seconds(2);
    SwitchPlan& switches = run.network.fabric.switches;
    switches.headroom_at_100g = {400'000};
    switches.pool = {4'000'000};
    return run;
}

void turn_on_ecn(SimulatedRun& run) {
    run.network.fabric.switches.ecn.on = run.network.fabric.nics.dcqcn.on = true;
}

RunRecord record_of(SimulatedRun& run) {
    return weir::simulation::test::completed(run).record;
}

std::uint64_t counted(const HostCounters& host, std::string_view name) {
    for (const CounterSum& counter : host.sums) {
        if (weir::record::counter_of(counter.column) == name) {
            return counter.sum.value_or(0);
        }
    }
    FAIL("no counter " << name);
    return 0;
}

std::uint64_t counted(const RunRecord& record, std::string_view name) {
    std::uint64_t sum = 0;
    for (const HostCounters& host : record.hosts) {
        sum += counted(host, name);
    }
    return sum;
}

double throughput(const RunRecord& record, Role role, std::uint32_t index) {
    for (const auto& rank : record.ranks) {
        if (rank.summary.node == NodeId{role, index}) {
            return static_cast<double>(rank.summary.throughput().bits_per_second);
        }
    }
    return 0;
}

/// What is said of the network, and what is named as the main cause of the run.
void check_advice(const SimulatedRun& run, const RunRecord& record, std::string_view text,
                  std::string_view advice, std::string_view cause) {
    weir::judge::RunFacts facts;
    facts.simulated = &run.network;
    facts.network = record.network ? &*record.network : nullptr;
    facts.switches = record.switches ? &*record.switches : nullptr;
    const auto said = weir::judge::advise_on_network(record.plan, facts);
    INFO(said.text);
    INFO(said.advice);
    INFO(record.verdict.text);
    CHECK(said.text.find(text) != std::string::npos);
    CHECK(said.advice.find(advice) != std::string::npos);
    CHECK(said.advice.find("weir check") == std::string::npos);
    CHECK(weir::judge::cause_name(record.verdict) == cause);
}

}  // namespace

TEST_CASE("A network with room for all counts no loss, pause or mark") {
    SimulatedRun run = packet_run(2, 2, {1'000'000'000});
    run.run.plan.slots = run.run.plan.streams = 1;
    turn_on_pfc(run);
    turn_on_ecn(run);
    run.network.fabric.switches.ecn.none_below = {200'000};
    run.network.fabric.switches.ecn.all_above = {400'000};
    const RunRecord record = record_of(run);
    INFO(record.network->evidence);
    CHECK(record.network->mechanisms == Mechanisms{NetworkMechanism::nothing_counted});
    CHECK(record.network->evidence.find("no loss, pause, mark or notification was counted in ") == 0);
    CHECK(record.network->evidence.find("; the busiest port, to ") != std::string::npos);
    CHECK(record.switches->sum().pauses_sent == 0);
    CHECK(record.switches->sum().marked_packets == 0);
    CHECK(record.hosts.size() == 5);
}

TEST_CASE("Many to one with PFC: pauses, no losses, and all producers are stopped") {
    SimulatedRun run = packet_run(8, 1, {1'100'000'000});
    turn_on_pfc(run);
    const RunRecord record = record_of(run);
    INFO(record.network->evidence);
    CHECK(record.network->mechanisms == Mechanisms{NetworkMechanism::held_back_by_pfc});
    const auto& switches = *record.switches;
    CHECK(switches.sum().dropped_packets == 0);
    CHECK(switches.reactions.packets_sent_again == 0);
    // All that the switch sends arrives, within what is on the way at the end of the second.
    const std::uint64_t received = counted(record, "rx_prio3_pause");
    CHECK(received > 100);
    CHECK(received <= switches.sum().pauses_sent);
    CHECK(received + 16 >= switches.sum().pauses_sent);
    for (const HostCounters& host : record.hosts) {
        INFO(host.host);
        const bool producer = host.host.starts_with("producer-");
        CHECK((counted(host, "rx_prio3_pause_duration") > 100'000) == producer);
    }
    CHECK(switches.producers_stopped().mean_share > 0.1);
    CHECK(switches.fullest()->port.peer == "consumer-0");
    CHECK(switches.ports_with_room().empty());
    CHECK(switches.pool_peak <= run.network.fabric.switches.pool);
}

TEST_CASE("A slow consumer with PFC: others are held up while their ports are idle") {
    SimulatedRun run = packet_run(4, 4, {6'000'000'000});
    // Consumers grant themselves: no scheduler can pass the slow one over.
    run.run.plan.policy = PolicyKind::none;
    turn_on_pfc(run);
    run.disturbances = {{.kind = Disturbance::Kind::degrade,
                         .node = {Role::consumer, 0},
                         .at = Instant{0},
                         .length = Duration::seconds(1),
                         .factor = 0.1}};
    const RunRecord record = record_of(run);
    INFO(record.network->evidence);
    INFO(switch_text(*record.switches));
    CHECK(record.network->mechanisms == Mechanisms{NetworkMechanism::held_back_by_pfc});
    // The queue shows where it begins; ports of the victims have room, and their data waits in paused hosts.
    CHECK(record.switches->fullest()->port.peer == "consumer-0");
    CHECK(record.switches->sum().dropped_packets == 0);
    for (std::uint32_t consumer = 1; consumer < 4; ++consumer) {
        CHECK(throughput(record, Role::consumer, consumer) < 5.5e9);
    }
    CHECK(record.switches->producers_stopped().mean_share > 0.2);
    CHECK(record.switches->ports_with_room() ==
          std::vector<std::string>{"consumer-1", "consumer-2", "consumer-3"});
    check_advice(run, record, "meanwhile 3 ports to consumers had room", "try --ecn on", "pfc");
}

TEST_CASE("ECN alone: marks and notifications, neither pauses nor losses") {
    SimulatedRun run = packet_run(8, 1, {1'000'000'000});
    run.network.fabric.switches.pool = {64'000'000};
    turn_on_ecn(run);
    const RunRecord record = record_of(run);
    INFO(record.network->evidence);
    CHECK(record.network->mechanisms == Mechanisms{NetworkMechanism::controlled_by_ecn});
    const auto sum = record.switches->sum();
    CHECK(sum.dropped_packets == 0);
    CHECK(sum.pauses_sent == 0);
    // The receiver gets what the switch marked, and notifies at most once in 50 us for each of 8 producers.
    const std::uint64_t seen = counted(record, "np_ecn_marked_roce_packets");
    CHECK(seen > 1000);
    CHECK(seen <= sum.marked_packets);
    CHECK(seen + 1000 >= sum.marked_packets);
    CHECK(counted(record, "np_cnp_sent") > 100);
    CHECK(counted(record, "np_cnp_sent") <= 8 * 20'000);
    CHECK(counted(record, "rp_cnp_handled") <= counted(record, "np_cnp_sent"));
    CHECK(counted(record, "rp_cnp_handled") + 16 >= counted(record, "np_cnp_sent"));
}

TEST_CASE("Without PFC and ECN: losses that no host counts as dropped, and much is sent again") {
    SimulatedRun run = packet_run(8, 1, {500'000'000});
    run.network.fabric.switches.egress_threshold = {500'000};
    const RunRecord record = record_of(run);
    INFO(record.network->evidence);
    CHECK(record.network->mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(record.network->evidence.find("no host dropped packets") != std::string::npos);
    const auto& switches = *record.switches;
    CHECK(switches.sum().dropped_packets > 100);
    CHECK(switches.sum().pauses_sent == 0);
    CHECK(switches.sum().marked_packets == 0);
    CHECK(counted(record, "out_of_sequence") > 0);
    CHECK(counted(record, "packet_seq_err") > 0);
    // Go-back-N sends more again than was lost.
    CHECK(switches.reactions.packets_sent_again > switches.sum().dropped_packets);
    check_advice(run, record, "The network lost packets: the switch dropped", "egress-threshold",
                 "switch-loss");
}

TEST_CASE("TCP over a port that drops: retransmitted segments") {
    SimulatedRun run = packet_run(4, 1, {1'000'000'000});
    run.network.framing = Framing::tcp;
    run.network.mtu = {1500};
    run.network.fabric.switches.egress_threshold = {100'000};
    const RunRecord record = record_of(run);
    INFO(record.network->evidence);
    CHECK(record.network->mechanisms == Mechanisms{NetworkMechanism::lossy});
    CHECK(counted(record, "retransmitted_segments") == record.switches->reactions.packets_sent_again);
}

namespace {

/// The numbers of a CSV file by column; text columns are left out.
std::map<std::string, std::vector<double>> columns_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::vector<std::string> names;
    for (std::istringstream header(line); std::getline(header, line, ',');) {
        names.push_back(line);
    }
    std::map<std::string, std::vector<double>> columns;
    while (std::getline(file, line)) {
        std::istringstream row(line);
        for (const std::string& name : names) {
            std::string cell;
            std::getline(row, cell, ',');
            const bool text = name == "phase" || name == "peer" || name == "wall_time";
            columns[name].push_back(text ? 0 : std::stod(cell));
        }
    }
    return columns;
}

double sum_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return sum;
}

}  // namespace

TEST_CASE("Rows of switches add up, whatever their length") {
    const std::filesystem::path directory =
        std::filesystem::temp_directory_path() / ("weir-mechanism-" + std::to_string(getpid()));
    std::map<std::string, double> sums[2];
    for (const int short_rows : {0, 1}) {
        std::filesystem::remove_all(directory);
        SimulatedRun run = packet_run(8, 1, {500'000'000});
        turn_on_pfc(run);
        turn_on_ecn(run);
        run.network.fabric.switches.ingress_threshold = {20'000};
        run.run.directory = directory.string();
        run.switch_row_length = short_rows != 0 ? Duration::milliseconds(10) : Duration::seconds(1);
        const RunRecord record = record_of(run);
        const auto rows = columns_of(directory / "switch/switch-0.csv");
        auto& sum = sums[short_rows];
        for (const char* name : {"sent_packets", "sent_bytes", "marked_packets", "dropped_packets",
                                 "pauses_sent", "pausing_s"}) {
            sum[name] = sum_of(rows.at(name));
        }
        for (std::size_t row = 0; row < rows.at("port").size(); ++row) {
            sum["queue"] += rows.at("queue_mean_bytes")[row] * rows.at("covered_s")[row];
            CHECK(rows.at("queue_mean_bytes")[row] <= rows.at("queue_peak_bytes")[row]);
            CHECK(rows.at("pausing_s")[row] <= rows.at("covered_s")[row]);
        }
        CHECK(sum["pauses_sent"] > 0);
        // A host's row has what the port to it sent, but for what is on the way at the end of a second.
        const auto host = columns_of(directory / "hosts/consumer-0.csv");
        double to_consumer = 0;
        for (std::size_t row = 0; row < rows.at("port").size(); ++row) {
            to_consumer += rows.at("port")[row] == 9 ? rows.at("sent_bytes")[row] : 0;
        }
        CHECK(sum_of(host.at("nic0.port_rcv_bytes")) == Approx(to_consumer).margin(100'000));
    }
    std::filesystem::remove_all(directory);
    for (const auto& [name, sum] : sums[0]) {
        INFO(name);
        CHECK(sums[1][name] == Approx(sum).epsilon(1e-4));
    }
}

TEST_CASE("The advice on losses names what this network has not tried yet") {
    SimulatedRun run = packet_run(8, 2, {2'000'000'000});
    run.run.plan.duration = Duration::milliseconds(500);
    run.network.fabric.switches.pool = {500'000};
    check_advice(run, record_of(run), "The network lost packets", "try --pfc on, --ecn on", "switch-loss");
    turn_on_ecn(run);
    check_advice(run, record_of(run), "The network lost packets", "lower `none-below`", "switch-loss");
    // Headroom for nothing: what arrives after a pause is lost.
    turn_on_pfc(run);
    run.network.fabric.switches.headroom_at_100g = {1'000};
    check_advice(run, record_of(run), "The network lost packets", "more `headroom`", "switch-loss");
}

TEST_CASE("Links that cannot carry the rate are named, whatever the switch does") {
    SimulatedRun run = packet_run(8, 1, {2'000'000'000});
    const auto check = [&] {
        check_advice(run, record_of(run),
                     "The links of consumers carry 9.8 Gb/s of payload together, and 16 Gb/s", "lower --rate",
                     "consumer-links");
    };
    check();
    turn_on_pfc(run);
    check();
    run.network.model = NetworkModel::fluid;
    check();
}

TEST_CASE("A nearly full port: its queue is named with PFC, and thresholds with ECN") {
    SimulatedRun run = packet_run(8, 1, {1'100'000'000});
    run.run.plan.event_size.mean = 3e6;
    run.run.plan.buffer = {1'000'000};
    turn_on_pfc(run);
    // Every set is on time, and does not fit into the buffer.
    check_advice(run, record_of(run), "PFC stopped producers for", "the longest queue leads to consumer-0",
                 "buffer");
    run.network.fabric.switches.lossless = 0;
    run.network.fabric.switches.pool = {64'000'000};
    turn_on_ecn(run);
    check_advice(run, record_of(run), "the switch marked", "raise `none-below`", "buffer");
}
