// The rows and sums of a host's counters.
#include "record/host_counters.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"

using namespace weir::core;
using namespace weir::record;

namespace {

HostCounters two_seconds() {
    HostCounters host;
    host.host = "eb01";
    host.file = host_file(host.host);
    host.handed_in = true;
    host.sums = {{"eth0.rx_bytes", {}}, {"eth0.100.rx_bytes", {}}, {"tcp.timeouts", {}}, {"tcp.gone", {}}};
    host.add({5, 0, std::nullopt, std::nullopt}, Phase::measure);
    host.add({7, 0, 3, std::nullopt}, Phase::measure);
    host.add({}, Phase::measure);
    host.reading_max = Duration::microseconds(250);
    return host;
}

}  // namespace

TEST_CASE("A host's file has the host's name and stays in its directory") {
    CHECK(host_file("eb01") == "hosts/eb01.csv");
    CHECK(host_file("a/../b") == "hosts/a_.._b.csv");
    CHECK(host_file("..") == "hosts/_..csv");
    CHECK(host_file("") == "hosts/unknown.csv");
}

TEST_CASE("A host's row: what is not known is empty, and never 0") {
    // 2026-01-31T12:00:00.250Z
    constexpr std::int64_t zero = 1769860800'250'000'000;
    CHECK(host_csv_header({"eth0.rx_bytes", "tcp.timeouts"}) ==
          "second,phase,wall_time,eth0.rx_bytes,tcp.timeouts\n");
    CHECK(host_csv_line(-1, Phase::warmup, zero, {0, {}}, 2) == "-1,warmup,2026-01-31T11:59:59.250Z,0,\n");
    CHECK(host_csv_line(2, Phase::measure, zero, {}, 2) == "2,measure,2026-01-31T12:00:02.250Z,,\n");
    CHECK(host_csv_header({}) == "second,phase,wall_time\n");
}

TEST_CASE("Sums in run.json: those that are not 0, and every source") {
    const auto json = host_json(two_seconds());
    CHECK(json["totals"].dump() == R"({"eth0.rx_bytes":12,"tcp.timeouts":3})");
    CHECK(json["sources"].dump() == R"(["eth0","eth0.100","tcp"])");
    CHECK(json["seconds"] == 3);
    CHECK(json["counters"] == 4);
    CHECK(json["reading_max_us"] == 250.0);
    CHECK(json["problem"].is_null());

    HostCounters silent;
    silent.host = "eb02";
    silent.file = host_file(silent.host);
    CHECK(
        host_json(silent).dump() ==
        R"({"name":"eb02","file":"hosts/eb02.csv","sources":null,"counters":null,"seconds":null,)"
        R"("totals":null,"families":null,"families_by_source":null,"gaps":null,"reading_max_us":null,"settings":null,"problem":null})");
}

namespace {

HostCounters counting(std::initializer_list<CounterSum> sums) {
    HostCounters host;
    host.host = "eb01";
    host.handed_in = true;
    host.seconds = 5;
    host.sums = sums;
    return host;
}

}  // namespace

TEST_CASE(
    "Sums by family: what is dropped in several places adds up, and the same count under two names does "
    "not") {
    const auto json = host_json(counting({{"eth0.qdisc_drops", 50'000},
                                          {"eth0.rx_missed_errors", 7},
                                          {"eth0.rx_prio3_buf_discard", 4},
                                          {"eth0.rx_prio4_buf_discard", 5},
                                          {"udp.receive_errors", 40'000},
                                          {"udp.receive_buffer_errors", 40'000},
                                          {"tcp.backlog_drops", 20},
                                          {"tcp.receive_queue_drops", 3},
                                          {"tcp.timeouts", 0},
                                          {"tcp.retransmitted_segments", {}}}));
    CHECK(json["families"].dump() == R"({"dropped_by_hosts":90032,"tcp_timeouts":0})");
    CHECK(json["families_by_source"].dump() ==
          R"({"eth0":{"dropped_by_hosts":50009},"tcp":{"dropped_by_hosts":23,"tcp_timeouts":0},)"
          R"("udp":{"dropped_by_hosts":40000}})");
}

TEST_CASE(
    "Sums by family: pauses of priorities are those of the whole port, and received ones are not sent ones") {
    const FamilySums sums = families_of(counting({{"eth0.rx_prio3_pause", 700},
                                                  {"eth0.rx_prio4_pause", 50},
                                                  {"eth0.rx_pause_ctrl_phy", 700},
                                                  {"eth0.tx_prio3_pause", 30},
                                                  {"eth0.rx_prio3_pause_duration", 2'500'000},
                                                  {"eth0.rx_prio3_pause_transition", 6}}));
    CHECK(sums == FamilySums{{"pause_frames_received", 750},
                             {"pause_frames_sent", 30},
                             {"pause_time_received_us", 2'500'000},
                             {"pause_transitions_received", 6}});
}

TEST_CASE("Sums by family: packets that an interface and its RDMA port count are the same ones") {
    const FamilySums sums = families_of(counting({{"eth0.rx_packets", 100},
                                                  {"eth1.rx_packets", 50},
                                                  {"mlx5_0.port_rcv_packets", 400},
                                                  {"mlx5_1.port_rcv_packets", 40},
                                                  {"tcp.received_segments", 10},
                                                  {"tcp.sent_segments", 900},
                                                  {"eth0.tx_packets", 30}}));
    CHECK(sums == FamilySums{{"received_packets", 440}, {"sent_packets", 30}, {"sent_segments", 900}});
}

TEST_CASE("Sums by family: of an RDMA port and its interface the larger count") {
    HostCounters host = counting({{"eth0.rx_stat_discard", 90},
                                  {"eth0.rx_pfc_ena_frames_pri3", 5},
                                  {"bnxt_re0.rx_roce_discards", 80},
                                  {"bnxt_re0.rx_pkts", 1000},
                                  {"eth0.rx_packets", 300},
                                  {"bnxt_re1:2.rx_roce_discards", 7},
                                  {"bnxt_re2.rx_roce_discards", 1}});
    CHECK(families_of(host).at("dropped_by_hosts") == 178);
    host.settings = R"({"rdma_ports": [{"device": "bnxt_re0", "port": 1, "interface": "eth0"},
                                       {"device": "bnxt_re1", "port": 2, "interface": "eth0"},
                                       {"device": "bnxt_re2", "port": 1, "interface": "eth9"}, null, 7]})";
    CHECK(host_json(host)["families"].dump() ==
          R"({"dropped_by_hosts":91,"pause_frames_received":5,"received_packets":1000})");
    CHECK(families_by_source(host).at("bnxt_re0").at("dropped_by_hosts") == 80);
}

TEST_CASE("What is missing of a device is known, with the second; not of interfaces that carried nothing") {
    HostCounters host = counting({{"mlx5_0.out_of_sequence", {}},
                                  {"mlx5_0.np_cnp_sent", {}},
                                  {"mlx5_0.rx_write_requests", {}},
                                  {"eth0.rx_bytes", {}},
                                  {"eth0.rx_missed_errors", {}},
                                  {"veth7.rx_bytes", {}},
                                  {"veth7.rx_missed_errors", {}}});
    using A = Absence;
    host.add({1, 1, 1, 5000, 1, 40, 1}, Phase::warmup);
    host.note({A::none, A::none, A::none, A::none, A::none, A::none, A::none}, -1, Phase::warmup);
    CHECK(gaps_of(host).empty());
    host.note({A::none, A::reset, A::reset, A::none, A::none, A::gone, A::gone}, 3, Phase::measure);
    host.note({A::gone, A::none, A::gone, A::none, A::reset, A::gone, A::gone}, 4, Phase::measure);
    host.note({A::gone, A::gone, A::gone, A::gone, A::gone, A::gone, A::gone}, 9, Phase::drain);
    const auto gaps = host_json(host)["gaps"];
    CHECK(gaps.dump() == R"([{"source":"eth0","what":"reset","second":4,"counters":["rx_missed_errors"]},)"
                         R"({"source":"mlx5_0","what":"gone","second":4,"counters":["out_of_sequence"]},)"
                         R"({"source":"mlx5_0","what":"reset","second":3,"counters":["np_cnp_sent"]}])");
    CHECK(gaps_of(host)[0].all);
    CHECK_FALSE(gaps_of(host)[1].all);
    CHECK(host_json(decode_host(encode_host(host)).value())["gaps"] == gaps);
}

TEST_CASE("A host's counters are the same after their travel") {
    HostCounters host = two_seconds();
    host.problem = "cannot create x: No space left on device";
    const auto again = decode_host(encode_host(host));
    REQUIRE(again);
    CHECK(again->handed_in);
    CHECK(again->sums.size() == 4);
    CHECK_FALSE(again->sums[3].sum);
    CHECK(again->sums[1].sum == 0U);
    CHECK(host_json(*again) == host_json(host));
    CHECK_FALSE(decode_host(""));
    CHECK_FALSE(decode_host("{}"));
    CHECK_FALSE(decode_host("[1"));
    HostCounters cut = two_seconds();
    cut.settings = "{cut";  // run.json has it as it is
    CHECK_FALSE(decode_host(encode_host(cut)));
}

TEST_CASE("Numbers of a host that fit nowhere are refused, and not cast") {
    const auto text = [](const char* seconds, const char* sum) {
        return std::string(R"({"host":"","file":"","seconds":)") + seconds +
               R"(,"made_of_others":[],"sums":[{"column":"a","whole_run":1,"gone_from":null,"reset_in":null,"sum":)" +
               sum + R"(}],"reading_max_ns":1,"problem":"","settings":""})";
    };
    CHECK(decode_host(text("2", "3")));
    CHECK(decode_host(text("2", "null")));
    CHECK(decode_host(text("2", "18446744073709551615")));
    for (const char* number : {"21111111111111111157", "1e300", "-1", "1.5", "true", "\"1\""}) {
        CHECK_FALSE(decode_host(text("2", number)));
    }
    for (const char* number : {"21111111111111111157", "1e300", "9223372036854775808", "null"}) {
        CHECK_FALSE(decode_host(text(number, "3")));
    }
    HostCounters host = two_seconds();
    host.sums = {{"eth0.rx_bytes", 1000, 1000}};
    for (const char* speed : {"1e300", "18446744073709551615", "\"fast\"", "null"}) {
        host.settings =
            std::string(R"({"interfaces":[{"name":"eth0","speed_bits_per_second":)") + speed + "}]}";
        CHECK(interface_rate(host) == weir::core::BitRate{});
    }
}
