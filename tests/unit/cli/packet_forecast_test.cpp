#include "cli/packet_forecast.hpp"

#include "catch.hpp"
#include "config/resolve.hpp"
#include "core/role_map.hpp"

using namespace weir;
using cli::cheaper_options;
using cli::forecast;
using cli::packet_cost;

namespace {

config::RunRequest packets(std::vector<config::GivenOption> options) {
    options.push_back({"network", "packet"});
    return config::resolve(options, true);
}

}  // namespace

TEST_CASE("what packets cost is in proportion to the data, and cheaper options cost less") {
    const auto paper = packets({{"scenario", "lhcb2021-2"}});
    const auto cost = packet_cost(paper, forecast(paper));
    // 1.2 Tb/s of payload in packets of 4096 B over two links, an acknowledgement for 16 of them, for 310 s.
    CHECK(cost.transmissions > 2 * 310 * 1.2012e12 / 8 / 4096);
    CHECK(cost.transmissions < 2.2 * 310 * 1.2012e12 / 8 / 4096);
    CHECK(cheaper_options(paper, cost).starts_with("--time-scale 1/2 --duration 20s --warmup 2s ("));
    const auto less =
        packets({{"scenario", "lhcb2021-2"}, {"time-scale", "1/5"}, {"duration", "20s"}, {"warmup", "2s"}});
    const auto less_cost = packet_cost(less, forecast(less));
    CHECK(less_cost.cpu_seconds < 60);
    CHECK(cheaper_options(less, less_cost).empty());
    CHECK(less_cost.transmissions * 310 / 4.4 == Approx(cost.transmissions).epsilon(0.01));
}

TEST_CASE("headroom that a pause exceeds is warned of") {
    const auto short_cables = packets({{"pfc", "on"}, {"producers", "3"}, {"consumers", "4"}});
    CHECK(forecast(short_cables).warnings.empty());
    const auto long_cables =
        packets({{"pfc", "on"}, {"latency", "50us"}, {"producers", "3"}, {"consumers", "4"}});
    REQUIRE(forecast(long_cables).warnings.size() == 1);
    CHECK(forecast(long_cables).warnings.front().starts_with("packets can be lost in spite of PFC: "));
    CHECK(forecast(packets({{"latency", "50us"}})).warnings.empty());
}

TEST_CASE("a watchdog that would end its action between two pauses of a storm is warned of") {
    // 65535 quanta of 512 bits, a half of them: 168 us at 100 Gb/s, 671 us at 25 Gb/s.
    const auto warnings = [](const char* restoration, const char* link) {
        return forecast(packets({{"pfc", "on"},
                                 {"producers", "3"},
                                 {"consumers", "4"},
                                 {"consumer-link", link},
                                 {"switch-set", "watchdog.on=true"},
                                 {"switch-set", std::string("watchdog.restoration=") + restoration}}))
            .warnings;
    };
    CHECK(warnings("168us", "100Gb/s").empty());
    CHECK(warnings("672us", "25Gb/s").empty());
    REQUIRE(warnings("600us", "25Gb/s").size() == 1);
    CHECK(warnings("600us", "25Gb/s")
              .front()
              .find("watchdog.restoration is 600 us, and a pause at 25 Gb/s "
                    "is renewed only every 671 us") == 0);
}

TEST_CASE("a congestion control with too little for a round trip is warned of") {
    for (const char* control : {"swift", "credits"}) {
        const std::string key = std::string("nic.control=") + control;
        CHECK(forecast(packets({{"switch-set", key}})).warnings.empty());
        const auto warnings = forecast(packets({{"switch-set", key}, {"latency", "50us"}})).warnings;
        REQUIRE(warnings.size() == 1);
        CHECK(warnings.front().find("a round trip takes 100 us by its cables alone") != std::string::npos);
        // What has no queue pairs has no such control.
        for (const config::GivenOption& other :
             {config::GivenOption{"framing", "tcp"}, config::GivenOption{"transport", "datagram"}}) {
            const auto request = packets({{"switch-set", key}, {"latency", "50us"}, {"ecn", "on"}, other});
            CHECK(forecast(request).warnings.empty());
            const std::string line = cli::switch_lines(request)[2];
            CHECK(line.ends_with(other.name == "framing" ? "; TCP obeys" : "; datagrams are not marked"));
        }
    }
    // Of the links that receivers give out, the one to which a window is shortest.
    const auto warnings = forecast(packets({{"switch-set", "nic.control=credits"},
                                            {"switch-set", "credits.of-rate=0b/s"},
                                            {"consumers", "4"},
                                            {"producer-link", "10Gb/s"},
                                            {"consumer-link", "10Gb/s,3=400Gb/s"},
                                            {"latency", "5us"}}))
                              .warnings;
    REQUIRE(warnings.size() == 1);
    CHECK(warnings.front().ends_with("[credits] unasked is 150 kB of a link of 400 Gb/s"));
}

TEST_CASE("traffic of others comes from hosts, however many producers those have") {
    const auto others = [](const char* per_host) {
        const auto cost = [per_host](const char* rate) {
            const auto request = packets({{"producers", "4"},
                                          {"consumers", "4"},
                                          {"switch-set", "placement.kind=by-worker"},
                                          {"switch-set", std::string("placement.per-host=") + per_host},
                                          {"switch-set", std::string("background.rate=") + rate}});
            return packet_cost(request, forecast(request)).transmissions;
        };
        return cost("1Gb/s") - cost("0b/s");
    };
    CHECK(others("1") == Approx(2 * others("2")));
    CHECK(others("4") == 0);  // one host: to whom?
}

TEST_CASE("data that crosses no link is warned of") {
    const auto inside = [](std::vector<config::GivenOption> options) {
        options.insert(options.end(), {{"producers", "3"}, {"consumers", "3"}});
        for (const std::string& warning : forecast(packets(options)).warnings) {
            if (warning.find("crosses no link") != std::string::npos) {
                return warning;
            }
        }
        return std::string{};
    };
    const config::GivenOption workers{"switch-set", "placement.kind=by-worker"};
    CHECK(inside({workers}) ==
          "producer 0 sends to consumer 0 on one host (3 such pairs): such data is copied in its memory and "
          "crosses no link; [placement] kind = \"rows\" gives each rank a host of its own");
    CHECK(inside({}).empty());
}

TEST_CASE("more queue pairs than a common network card holds are warned of where runs are measured") {
    const auto warned = [](const char* consumers) {
        const std::vector<config::GivenOption> options{{"engine", "ucx"},
                                                       {"queue-pairs", "256"},
                                                       {"producers", "1"},
                                                       {"consumers", consumers},
                                                       {"rate", "8Mb/s"}};
        for (const std::string& warning : forecast(config::resolve(options, false)).warnings) {
            if (warning.starts_with("--queue-pairs: ")) {
                return warning;
            }
        }
        return std::string{};
    };
    CHECK(warned("1024").empty());
    CHECK(
        warned("1025") ==
        "--queue-pairs: 256 to each peer are 262400 on a host, and a ConnectX-5 holds 262144; see what yours "
        "do (ibv_devinfo -v: max_qp)");
}

TEST_CASE("a switch is described in few lines") {
    const auto request = packets({{"pfc", "on"}, {"ecn", "on"}, {"producers", "3"}, {"consumers", "4"}});
    const auto lines = cli::switch_lines(request);
    REQUIRE(lines.size() == 5);
    CHECK(lines[0].starts_with("shallow: 16 MB for all ports"));
    CHECK(lines[1] == "PFC: a port is paused above 0.125 x what is free; headroom 801 KiB of the pool");
    CHECK(
        lines[2].starts_with("ECN marks from 5 kB to 200 kB, 1 % there; DCQCN (2015) with a CNP per 50 us"));
    const auto other = packets({{"ecn", "on"},
                                {"switch", "dcqcn-tuned"},
                                {"switch-set", "dcqcn.rules=hpcc"},
                                {"switch-set", "dcqcn.resets-at-line-rate=false"}});
    CHECK(cli::switch_lines(other)[2] ==
          "ECN marks from 100 kB to 400 kB of a port of 25 Gb/s, 20 % there; DCQCN (rules of HPCC) with a "
          "cut per 4 us");
    CHECK(lines[3] == "DCQCN back at line rate: as never notified, alpha is 1");
    CHECK(cli::switch_lines(other)[3] == "DCQCN back at line rate: alpha goes on decaying");
    for (const std::string& line : lines) {
        CHECK(line.size() <= 110);
    }
}
