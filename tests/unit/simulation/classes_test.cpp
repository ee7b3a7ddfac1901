// What hosts and switches count by class, of whole runs.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "ranks_in_order.hpp"
#include "show/run_record.hpp"
#include "simulation/simulated_run.hpp"
#include "small_fabric.hpp"

using namespace weir;
using namespace weir::core;
using namespace weir::simulation;

namespace classes_test {

constexpr Priority storage = 1;
constexpr Priority data = 3;
constexpr Priority control = 6;

/// 1 MB from each producer in 10 ms, beside 2 Gb/s of others from its host.
SimulatedRun run_with_classes() {
    SimulatedRun run =
        test::small_fabric({800'000'000}, Duration::milliseconds(20), Duration::milliseconds(50));
    FabricPlan& fabric = run.network.fabric;
    fabric.data_priority = fabric.nics.ack_priority = data;
    fabric.control_priority = fabric.nics.cnp_priority = control;
    fabric.switches.lossless = mask_of(data);
    fabric.switches.strict = fabric.nics.strict = mask_of(control);
    fabric.classes = {{"storage", {.rate = {2'000'000'000}, .packet = {1538}, .priority = storage}},
                      {"urgent", {.priority = control}}};
    return run;
}

std::uint64_t sum_of(const show::RunRecord& record, const std::string& counter) {
    std::uint64_t sum = 0;
    for (const record::HostCounters& host : record.hosts) {
        for (const record::CounterSum& column : host.sums) {
            sum += column.column == "nic0." + counter ? column.sum.value_or(0) : 0;
        }
    }
    return sum;
}

/// At ports that lead to hosts.
record::SwitchRow ports_of_hosts(const show::RunRecord& record, Priority priority) {
    record::SwitchRow sum;
    for (const auto& [key, total] : record.switches->ports) {
        if (!total.port.ranks.empty() && total.row.priority == priority) {
            sum.received_packets += total.row.received_packets;
            sum.received_bytes += total.row.received_bytes;
            sum.sent_packets += total.row.sent_packets;
            sum.sent_bytes += total.row.sent_bytes;
        }
    }
    return sum;
}

bool near(std::uint64_t some, std::uint64_t others, std::uint64_t most) {
    return std::max(some, others) - std::min(some, others) <= most;
}

}  // namespace classes_test

using namespace classes_test;

TEST_CASE(
    "What hosts sent of each class is what switches received, and the reverse, but for what is under way") {
    SimulatedRun run = run_with_classes();
    test::assign_ranks(run);
    const SimulationResult result = simulate(run);
    REQUIRE(result.record.switches);
    REQUIRE(result.record.switches->classes.size() == 3);
    CHECK(result.record.switches->classes[0].name == "storage");
    CHECK(result.record.switches->classes[1].name == "priority 3");
    CHECK(result.record.switches->classes[1].lossless);
    CHECK(result.record.switches->classes[1].carries.front() == "data");
    for (const Priority priority : {storage, data, control}) {
        CAPTURE(int{priority});
        const record::SwitchRow ports = ports_of_hosts(result.record, priority);
        const std::string name = "_prio" + std::to_string(priority);
        // On a cable of 2.5 us at 10 Gb/s there are at most three packets of 1538 B, and eight hosts.
        constexpr std::uint64_t on_the_way = 24;
        CHECK(ports.received_packets > 100);
        CHECK(near(sum_of(result.record, "tx" + name + "_packets"), ports.received_packets, on_the_way));
        CHECK(near(sum_of(result.record, "rx" + name + "_packets"), ports.sent_packets, on_the_way));
        CHECK(near(sum_of(result.record, "tx" + name + "_bytes"),
                   static_cast<std::uint64_t>(ports.received_bytes.count), on_the_way * 4178));
        CHECK(near(sum_of(result.record, "rx" + name + "_bytes"),
                   static_cast<std::uint64_t>(ports.sent_bytes.count), on_the_way * 4178));
    }
    // 2 Gb/s of each of three hosts, for as long as the run lasts.
    const double seconds = result.record.switches->measured.in_seconds();
    CHECK(static_cast<double>(sum_of(result.record, "tx_prio1_bytes")) ==
          Approx(3 * 2e9 / 8 * seconds).epsilon(0.01));
}

TEST_CASE("Time-outs of others are counted at hosts, and are no reactions of the run's senders") {
    SimulatedRun run = run_with_classes();
    FabricPlan& fabric = run.network.fabric;
    fabric.nics.ack_timeout = Duration::milliseconds(2);
    fabric.switches.egress_threshold = {10'000};  // of what is not lossless
    fabric.classes[0].traffic.kind = BackgroundPlan::Kind::rdma;
    fabric.classes[0].traffic.rate = {9'000'000'000};
    fabric.classes[0].traffic.message = {20'000};
    test::assign_ranks(run);
    const SimulationResult result = simulate(run);
    REQUIRE(result.record.switches);
    CHECK(sum_of(result.record, "local_ack_timeout_err") > 0);
    CHECK(result.record.switches->reactions.packets_sent_again == 0);
    CHECK(result.record.switches->reactions.timeouts == 0);
}

TEST_CASE("What links lose is missing between what hosts and switches count") {
    SimulatedRun run = run_with_classes();
    Disturbance errors;
    errors.kind = Disturbance::Kind::errors;
    errors.text = "errors";
    errors.place = "leaf-1:producer-1";
    errors.at = Instant{} - run.run.plan.warmup;
    errors.length = Duration::seconds(100);
    errors.factor = 0.1;
    run.disturbances = {errors};
    test::assign_ranks(run);
    const SimulationResult result = simulate(run);
    REQUIRE(result.record.switches);
    const record::SwitchRow ports = ports_of_hosts(result.record, storage);
    const auto sent = static_cast<double>(sum_of(result.record, "tx_prio1_packets"));
    const double missing = sent - static_cast<double>(ports.received_packets);
    CHECK(missing / sent == Approx(0.1 / 3).epsilon(0.15));
}
