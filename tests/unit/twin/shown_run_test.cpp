#include "twin/shown_run.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "twin/assumptions.hpp"
#include "twin/comparison.hpp"

using namespace weir;
using twin::ShownRun;
using Json = nlohmann::ordered_json;

namespace {

Json times_json() {
    return {{"count", 2},
            {"p50_us", 64.0},
            {"p99_us", 64.0},
            {"buckets", {{"upper_us", {64.0}}, {"events", {2}}}}};
}

Json rank_json(const char* role, int index, const char* moved) {
    Json rank{{"role", role},
              {"index", index},
              {"host", nullptr},
              {"file", "ranks/x.csv"},
              {"measured_s", 10.0},
              {"stalled_s", 0.0},
              {"load", {{"free_slot_s", 1.0}, {"sending_s", 5.0}}}};
    rank["time"] = {{"transferring_s", 4.0},     {"waiting_for_slot_s", 3.0}, {"waiting_for_grant_s", 2.0},
                    {"waiting_for_data_s", 1.0}, {"receiving_s", 5.0},        {"blocked_s", 1.0},
                    {"processing_s", 2.0}};
    if (moved != nullptr) {
        rank["mean_bits_per_second"] = 8000000;
        rank[moved] = {{"events", 100}, {"bytes", 10000000}};
    }
    return rank;
}

Json run_json() {
    Json run{{"schema", "weir-run/1"}, {"status", "complete"}};
    run["verdict"] = {{"judged", true}, {"sustained", false},    {"on_time", false}, {"sets", 10},
                      {"late_sets", 5}, {"least_slack_s", -0.5}, {"lost_events", 0}};
    run["plan"] = {
        {"rate", "8Mb/s"},
        {"resolved",
         {{"interval_s", 1.0}, {"duration_s", 10.0}, {"buffer_bytes", 1000000}, {"set_bytes", 1000000}}}};
    run["latency"] = {
        {"offer_to_grant", times_json()}, {"transfer", times_json()}, {"delivery", times_json()}};
    run["environment"] = {{"world", "simulation"}};
    run["hosts"] = nullptr;
    run["ranks"] = {rank_json("scheduler", 0, nullptr), rank_json("producer", 0, "sent"),
                    rank_json("consumer", 0, "received")};
    return run;
}

std::string refusal(const Json& json) {
    try {
        twin::read_record(json);
    } catch (const twin::Unreadable& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("A record is read, and what is missing or impossible is named") {
    const ShownRun run = twin::read_record(run_json());
    CHECK(run.goodput() == 8e6);
    CHECK(run.event_bytes() == 1e5);
    CHECK(run.default_buffer);
    CHECK(run.ranks.at(1).waiting_for_slot == Approx(0.3));
    CHECK(run.waiting_share() == Approx(0.5));

    Json broken = run_json();
    broken["ranks"][1]["load"].erase("sending_s");
    CHECK(refusal(broken).find("'ranks[1].load.sending_s'") != std::string::npos);
    broken = run_json();
    broken["ranks"][2]["measured_s"] = -1;
    CHECK(refusal(broken).find("'ranks[2].measured_s' is -1") != std::string::npos);
    broken = run_json();
    broken["ranks"][2]["index"] = 4294967296;
    CHECK_THROWS_WITH(twin::read_record(broken), containing("'ranks[2].index' is 4294967296"));
    broken["ranks"][2]["index"] = 7;
    CHECK(refusal(broken).find("'ranks' is not one scheduler") != std::string::npos);
    broken = run_json();
    broken["status"] = "interrupted";
    CHECK(refusal(broken).find("the run is interrupted") != std::string::npos);
    broken = run_json();
    broken["plan"]["transport"] = "datagram";
    CHECK_FALSE(twin::read_record(broken).no_twin.empty());
    broken = run_json();
    broken["schema"] = "weir-groups/1";
    CHECK(refusal(broken).find("group-00") != std::string::npos);
    CHECK(refusal(Json::array()).find("right would be 'weir-run/1'") != std::string::npos);
}

TEST_CASE("Rows show what the scheduler handled, and stalls where they ended") {
    ShownRun run = twin::read_record(run_json());
    run.ranks[0].stalled_s = 0.5;
    twin::read_rows(
        run, 0,
        "second,phase,ready_messages,offer_messages,done_messages,handling_s,poll_gap_max_us,poll_gap_end_s\n"
        "-1,warmup,9,9,9,9,0,\n"
        "0,measure,2,1,2,0.001,500000,0.75\n"
        "1,measure,0,0,0,,9999,0.5\n");
    CHECK(run.ranks[0].messages == 5);
    CHECK(run.ranks[0].handling_s == Approx(0.001));
    REQUIRE(run.stalls.size() == 1);
    CHECK(run.stalls.front().end_s == Approx(0.75));
    CHECK(run.stalls.front().length_s == Approx(0.5));
    CHECK_THROWS_WITH(twin::read_rows(run, 0, ""), containing("it is empty"));
    CHECK_THROWS_WITH(twin::read_rows(run, 0, "second,phase\n0\n"), containing("line 2 has 1 cells"));
    CHECK_THROWS_WITH(twin::read_rows(run, 0, "second,phase\nx,measure\n"),
                      containing("'x' is not a number"));
}

TEST_CASE("Several stalls of a second are spread over it if the record has more of them than the rows") {
    ShownRun run = twin::read_record(run_json());
    run.ranks[2].stalled_s = 1.0;
    twin::read_rows(run, 2, "second,phase,poll_gap_max_us,poll_gap_end_s\n3,measure,250000,0.9\n");
    REQUIRE(run.stalls.size() == 4);
    CHECK(run.stalls.front().end_s == Approx(3.25));
    CHECK(run.stalls.back().end_s == Approx(4.0));
}

TEST_CASE("A twin begins with the least that links can have, and is corrected until it is as fast") {
    ShownRun run = twin::read_record(run_json());
    run.ranks[0].messages = 10;
    run.ranks[0].handling_s = 1e-5;
    twin::Assumptions assumptions = twin::assumed_of(run, {.producer_links = true, .consumer_links = false});
    CHECK(assumptions.producer_links.front() == Approx(16e6));  // 80 Mbit in 5 s
    CHECK(assumptions.consumer_links.front() == Approx(1e12));
    CHECK(assumptions.scheduler_s == Approx(1e-6));
    ShownRun slower = run;
    slower.ranks[1].moving_s = 6;
    twin::Correction correction(run, twin::Correction::Latency::from_slots);
    CHECK(correction.correct(assumptions, slower));
    CHECK(assumptions.producer_links.front() == Approx(16e6 * 6 / 5));
    CHECK_FALSE(correction.correct(assumptions, run));
}

TEST_CASE("A run is near itself, and what differs most for its tolerance is named") {
    const ShownRun run = twin::read_record(run_json());
    CHECK(twin::compare(run, run).near());
    ShownRun other = run;
    other.late_sets = 0;
    const twin::TwinComparison comparison = twin::compare(run, other);
    CHECK_FALSE(comparison.near());
    CHECK(comparison.worst().name == "late sets");
    ShownRun stopped = run;
    stopped.ranks[0].stalled_s = 5;  // one of three: a stall, which the twin has too
    CHECK(twin::compare(stopped, run).near());
    stopped.ranks[1].stalled_s = 5;
    CHECK(twin::compare(stopped, run).worst().name == twin::stalls_name);
}

TEST_CASE("Interfaces tell of others only where there can be some, and the payload of hosts is known") {
    ShownRun run = twin::read_record(run_json());
    const double payload = run.goodput() / 8 * run.duration_s;
    const core::NodeId consumer{core::Role::consumer, 0};
    const auto foreign = [&] { return twin::assumed_of(run, {}).foreign_of(consumer); };
    run.hosts = {{"fn01", 1.5 * payload, 0}};
    CHECK(foreign() == 0);  // simulated
    run.simulated = false;
    CHECK(foreign() == 0);  // whose the bytes are is not known
    run.ranks[1].host = "eb01";
    run.ranks[2].host = "fn01";
    CHECK(foreign() == Approx(0.43 * run.goodput()));  // 6 % are headers, and 1 kB of each event messages
    ShownRun small = run;
    small.ranks[2].events *= 100;
    CHECK(twin::assumed_of(small, {}).foreign_of(consumer) == 0);
    run.hosts = {{"fn01", 1.2 * payload, 1.5 * payload}};
    CHECK(foreign() == 0);  // little, and in the other direction
    run.hosts = {{"fn01", 0, 0}};
    CHECK(foreign() == 0);  // ranks that share a host use no interface
}

TEST_CASE("Links that are assumed to be far slower than their interfaces held nothing up") {
    Json measured = run_json();
    measured["environment"]["world"] = "hosts";
    for (const std::size_t rank : {1U, 2U}) {
        measured["ranks"][rank]["host"] = "eb01";
    }
    measured["hosts"] = {
        {{"name", "eb01"},
         {"totals", {{"eth0.rx_bytes", 9000000}, {"bond.rx_bytes", 10}}},
         {"settings",
          {{"interfaces",
            {{{"name", "bond"}, {"driver", "bonding"}, {"speed_bits_per_second", 7}},
             {{"name", "eth0"}, {"driver", "mlx5_core"}, {"speed_bits_per_second", 40000000}}}}}}}};
    const ShownRun run = twin::read_record(measured);
    CHECK(run.ranks[1].interface_bits_per_second == 40e6);
    const auto slow = [&](const ShownRun& of, double link) {
        twin::Assumptions assumptions;
        assumptions.limits = {.producer_links = true, .consumer_links = false};
        assumptions.producer_links = assumptions.consumer_links = {link};
        twin::TwinComparison comparison = twin::compare(run, run);
        twin::add_slow_links(comparison, of, assumptions);
        return comparison.worst().name == twin::producer_links_name;
    };
    CHECK(slow(run, 29e6));
    CHECK_FALSE(slow(run, 31e6));
    CHECK_FALSE(slow(run, 80e6));
    // The interface that moved most, in whichever direction, of a device with several ports.
    Json& settings = measured["hosts"][0]["settings"];
    settings["rdma_ports"] = {
        {{"device", "mlx5_0"}, {"port", 2}, {"driver", "mlx5_core"}, {"speed_bits_per_second", 80000000}}};
    measured["hosts"][0]["totals"] = {
        {"mlx5_0:2.port_rcv_bytes", 90000000}, {"mlx5_0:2.port_xmit_bytes", 10}, {"eth0.tx_bytes", 9000000}};
    CHECK(twin::read_record(measured).ranks[1].interface_bits_per_second == 80e6);
    measured["hosts"][0]["totals"] = {{"eth0.rx_bytes", 9000000}};
    // A virtual cable has no driver, and says 10 Gb/s whatever it carries.
    measured["hosts"][0]["settings"]["interfaces"][1]["driver"] = "";
    CHECK_FALSE(slow(twin::read_record(measured), 29e6));
}
