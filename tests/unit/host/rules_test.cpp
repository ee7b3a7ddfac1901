// What is found wrong on hosts and between them.
#include "host/check.hpp"

#include "catch.hpp"
#include "fake_cluster.hpp"

using namespace weir::host;
using namespace weir::host::test;

namespace {

std::vector<HostSettings> four_hosts() {
    return {roce_host("eb01", 1), roce_host("eb02", 2), roce_host("fn01", 3), roce_host("fn02", 4)};
}

}  // namespace

TEST_CASE("A cluster as it should be has no findings") {
    const CheckResult result = judged(four_hosts());
    CHECK(result.findings.empty());
}

TEST_CASE("One host with another MTU is named, and what it has") {
    auto hosts = four_hosts();
    hosts[2].interfaces.front().mtu_bytes = 1500;
    const auto found = about("mtu", judged(hosts).findings);
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::serious);
    CHECK(found[0].hosts == std::vector<std::string>{"fn01"});
    CHECK(found[0].what == "MTU is 1500 B, but 9000 B on 3 hosts");
    CHECK_FALSE(found[0].advice.empty());
}

TEST_CASE("Without a majority no host is named") {
    auto hosts = four_hosts();
    hosts[2].interfaces.front().mtu_bytes = 1500;
    hosts[3].interfaces.front().mtu_bytes = 1500;
    const auto found = about("mtu", judged(hosts).findings);
    REQUIRE(found.size() == 1);
    CHECK(found[0].hosts.empty());
    CHECK(says(found[0], "9000 B on 2 hosts, 1500 B on 2 hosts"));
}

TEST_CASE("What is unknown of one host is not a difference") {
    auto hosts = four_hosts();
    hosts[2].interfaces.front().pfc.reset();
    CHECK(about("pfc", judged(hosts).findings).empty());
}

TEST_CASE("Producers and consumers may have links of different speed") {
    std::vector<HostView> views{view_of(roce_host("eb01"), 1, 0), view_of(roce_host("eb02"), 1, 0),
                                view_of(roce_host("fn01"), 0, 1), view_of(roce_host("fn02"), 0, 1)};
    for (const std::size_t consumer : {2U, 3U}) {
        views[consumer].settings.interfaces.front().speed_bits_per_second = 25000000000;
        views[consumer].settings.rdma_ports.front().speed_bits_per_second = 25000000000;
    }
    std::vector<Finding> findings;
    compare(views, findings);
    CHECK(about("speed", findings).empty());
    views[3].settings.interfaces.front().speed_bits_per_second = 10000000000;
    compare(views, findings);
    CHECK(about("speed", findings).size() == 1);
}

TEST_CASE("A GID index that is empty or of another kind") {
    auto hosts = four_hosts();
    for (HostSettings& host : hosts) {
        host.variables["UCX_IB_GID_INDEX"] = "3";
    }
    CHECK(judged(hosts).findings.empty());
    // On one host the table is shorter.
    hosts[1].rdma_ports.front().gids.pop_back();
    auto found = about("gid", judged(hosts).findings);
    REQUIRE(found.size() == 2);
    CHECK(found[0].severity == Severity::serious);
    CHECK(found[0].hosts == std::vector<std::string>{"eb02"});
    CHECK(says(found[1], "GID index 3 of mlx5_0:1 (UCX_IB_GID_INDEX) is empty; available: 0 (IB/RoCE v1, "));
    CHECK(says(found[1], "2 (IB/RoCE v1, 10.0.0.2)"));

    // RoCE v1 on all: alike, and wrong.
    for (HostSettings& host : hosts) {
        host.variables["UCX_IB_GID_INDEX"] = "2";
    }
    found = about("gid", judged(hosts).findings);
    REQUIRE(found.size() == 4);
    CHECK(found[0].severity == Severity::serious);
    CHECK(says(found[0], "is IB/RoCE v1"));
    CHECK(says(found[0], "RoCE v2: 1 (RoCE v2, "));
}

TEST_CASE("Locked memory that RDMA cannot do with") {
    HostView view = view_of(roce_host("eb01"));
    view.part.largest_rank_bytes = 1 << 30;
    view.settings.locked_memory = KernelLimit{.unlimited = false, .bytes = 65536};
    auto found = about("locked_memory", judge_host(view));
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::serious);
    CHECK(says(found[0], "64 KiB"));
    view.settings.locked_memory->bytes = std::int64_t{4} << 30;
    CHECK(about("locked_memory", judge_host(view)).front().severity == Severity::warning);
    view.settings.locked_memory->bytes = 65536;
    view.settings.locks_without_limit = true;
    CHECK(judge_host(view).empty());
    // Without RDMA nothing has to be locked.
    HostSettings tcp = tcp_host("fn01");
    tcp.locked_memory = KernelLimit{.unlimited = false, .bytes = 65536};
    CHECK(judge_host(view_of(tcp)).empty());
}

TEST_CASE("The plan against memory, speed and cores") {
    HostView view = view_of(roce_host("eb01"), 2);
    view.part.memory_bytes = std::int64_t{300} << 30;
    view.part.sends_bits_per_second = 171.6e9;
    CHECK(about("memory", judge_host(view)).front().severity == Severity::serious);
    CHECK_FALSE(says(about("memory", judge_host(view)).front(), "control group"));
    view.settings.memory_limited = true;
    CHECK(says(about("memory", judge_host(view)).front(), "which is what a limit on its control group"));
    const auto speed = about("speed", judge_host(view));
    REQUIRE(speed.size() == 1);
    CHECK(speed[0].what == "the plan sends 172 Gb/s from this host, but its link has 100 Gb/s");
    HostView slow = view_of(roce_host("eb01"));
    slow.settings.rdma_ports.front().speed_bits_per_second = 2'500'000'000;
    const auto lanes = about("speed", judge_host(slow));
    REQUIRE(lanes.size() == 1);
    CHECK(lanes[0].severity == Severity::warning);
    CHECK(lanes[0].what == "mlx5_0:1 has 2.5 Gb/s, and its interface eth1 has 100 Gb/s");
    view.part.memory_bytes = std::int64_t{240} << 30;
    CHECK(about("memory", judge_host(view)).front().severity == Severity::warning);
    view.part.cpus = {{3}, {3}};
    CHECK(says(about("cores", judge_host(view)).front(), "2 ranks share 1 core"));
}

TEST_CASE("Governor and distance cost speed") {
    HostView view = view_of(roce_host("eb01"));
    view.settings.governors = {{"performance", 4}, {"schedutil", 28}};
    view.part.cpus = {{16, 17}};
    const auto findings = judge_host(view);
    CHECK(about("governor", findings).front().severity == Severity::warning);
    const auto distance = about("numa", findings);
    REQUIRE(distance.size() == 1);
    CHECK(says(distance[0], "1 of 1 ranks"));
    CHECK(distance[0].advice.find("0-15") != std::string::npos);
}

TEST_CASE("Interfaces that are left out are said in one line") {
    HostView view = view_of(roce_host("eb01"));
    CHECK(about("interfaces", judge_host(view)).empty());
    view.settings.interfaces_left_out = 504;
    const auto found = about("interfaces", judge_host(view));
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::note);
    CHECK(says(found[0], "504 more interfaces are up that have neither a device nor a network of their own"));
}

TEST_CASE("Data in a priority without PFC or ECN") {
    HostSettings host = roce_host("eb01");
    host.variables["UCX_IB_TRAFFIC_CLASS"] = "0";
    const auto findings = judge_host(view_of(host));
    CHECK(about("pfc", findings).front().severity == Severity::serious);
    CHECK(says(about("pfc", findings).front(), "priority 0 (traffic class 0, UCX_IB_TRAFFIC_CLASS)"));
    CHECK(about("ecn", findings).size() == 2);

    host = roce_host("eb01");
    host.interfaces.front().pfc = Priorities{0};
    host.interfaces.front().ecn_notification = Priorities{0};
    host.interfaces.front().ecn_reaction = Priorities{0};
    CHECK(says(about("pfc", judge_host(view_of(host))).front(), "neither PFC nor pause frames nor ECN"));
    host = roce_host("eb01");
    host.interfaces.front().pause_receiving = true;
    CHECK(about("pause", judge_host(view_of(host))).size() == 1);
}

TEST_CASE("Devices: missing, down, too many, left unused") {
    HostSettings host = roce_host("eb01");
    host.variables["UCX_NET_DEVICES"] = "mlx5_4:1";
    auto found = about("device", judge_host(view_of(host)));
    REQUIRE(found.size() == 1);
    CHECK(says(found[0], "names mlx5_4:1, which does not exist; available: mlx5_0:1, eth1"));

    host = roce_host("eb01");
    host.rdma_ports.front().active = false;
    host.rdma_ports.front().state = "DOWN";
    host.interfaces.front().up = false;
    CHECK(about("device", judge_host(view_of(host))).size() == 2);

    for (const char* state : {"DOWN", "ARMED"}) {
        host = roce_host("eb01");
        host.variables.clear();
        host.rdma_ports.front().active = false;
        host.rdma_ports.front().state = state;
        found = about("device", judge_host(view_of(host)));
        REQUIRE(found.size() == 1);
        CHECK(found[0].severity == Severity::warning);
        CHECK(says(found[0], std::string("data will go over TCP: mlx5_0:1 is ") + state));
        host.variables = {{"OMPI_MCA_pml", "ob1"}};  // TCP was asked for
        CHECK(about("device", judge_host(view_of(host))).empty());
    }

    host = roce_host("eb01");
    host.variables = {{"OMPI_MCA_pml", "ob1"}};
    found = about("device", judge_host(view_of(host)));
    REQUIRE(found.size() == 1);
    CHECK(says(found[0], "an RDMA port is active and will not be used"));

    host = roce_host("eb01");
    host.variables.erase("UCX_NET_DEVICES");
    host.rdma_ports.push_back(host.rdma_ports.front());
    CHECK(says(about("device", judge_host(view_of(host))).front(), "2 RDMA ports are active"));

    HostSettings nothing;
    nothing.host = "fn09";
    CHECK(says(about("device", judge_host(view_of(nothing))).front(), "no network device"));
}

TEST_CASE("A small MTU of the interface makes small RDMA packets") {
    HostSettings host = roce_host("eb01");
    host.interfaces.front().mtu_bytes = 1500;
    host.rdma_ports.front().active_mtu_bytes = 1024;
    const auto found = about("mtu", judge_host(view_of(host)));
    REQUIRE(found.size() == 1);
    CHECK(says(found[0], "1024 B where 4096 B are possible, because eth1 has an MTU of 1500 B"));
}

TEST_CASE("Variables and versions that differ") {
    auto hosts = four_hosts();
    hosts[3].variables["UCX_TLS"] = "tcp";
    hosts[1].versions["MPI"] = "Open MPI v5.0.7";
    const auto findings = judged(hosts).findings;
    REQUIRE(about("variable", findings).size() == 1);
    CHECK(about("variable", findings)[0].what == "UCX_TLS is tcp, but not set on 3 hosts");
    CHECK(about("version", findings)[0].severity == Severity::serious);
}

TEST_CASE("The worst comes first, and hosts with the same trouble share a line") {
    auto hosts = four_hosts();
    hosts[0].governors = {{"powersave", 32}};
    hosts[1].governors = {{"powersave", 32}};
    hosts[2].variables["UCX_NET_DEVICES"] = "mlx5_7:1";
    const CheckResult result = judged(hosts);
    REQUIRE_FALSE(result.findings.empty());
    CHECK(result.findings.front().severity == Severity::serious);
    bool shared = false;
    for (const Finding& finding : about("governor", result.findings)) {
        shared = shared || finding.hosts == std::vector<std::string>{"eb01", "eb02"};
    }
    CHECK(shared);
}
