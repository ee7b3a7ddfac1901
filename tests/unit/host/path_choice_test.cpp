// Which device, address and priority the data will take, by the settings of UCX and Open MPI.
#include "host/path_choice.hpp"

#include "catch.hpp"
#include "fake_cluster.hpp"

using namespace weir::host;
using weir::host::test::roce_host;
using weir::host::test::tcp_host;

TEST_CASE("UCX prefers RoCE v2 and IPv4, whatever their index") {
    RdmaPort port = roce_host("eb01").rdma_ports.front();
    const auto both = [&](int older, int newer) {
        return gid_chosen_by_ucx(port, UcxRule::until_1_19)->index == older &&
               gid_chosen_by_ucx(port, UcxRule::since_1_20)->index == newer;
    };
    CHECK(both(3, 3));
    port.gids.pop_back();
    CHECK(both(1, 1));
    port.gids.push_back({5, "fd93:0000:0000:0000:0000:0000:0000:0001", "RoCE v2", "eth1"});
    CHECK(both(1, 5));
    port.gids.erase(port.gids.begin() + 1);
    CHECK(both(5, 5));
    port.gids.pop_back();
    CHECK(both(2, 2));
    port.gids.clear();
    CHECK(gid_chosen_by_ucx(port, UcxRule::since_1_20) == nullptr);
}

TEST_CASE("The rule for a GID is that of the UCX that is there") {
    HostSettings host = roce_host("eb01");
    CHECK_FALSE(rule_of_ucx(host));
    for (const auto& [version, rule] :
         {std::pair{"1.13.1", UcxRule::until_1_19}, std::pair{"1.19.0", UcxRule::until_1_19},
          std::pair{"1.20.0", UcxRule::since_1_20}, std::pair{"2.0", UcxRule::since_1_20}}) {
        host.versions["UCX"] = version;
        CHECK(rule_of_ucx(host) == rule);
    }
    host.versions["UCX"] = "unknown";
    CHECK_FALSE(rule_of_ucx(host));
}

TEST_CASE("The named port, its address, class and priority") {
    HostSettings host = roce_host("eb01");
    PathChoice choice = choose_paths(host);
    REQUIRE(choice.paths.size() == 1);
    CHECK(choice.paths.front().rdma_port == 0U);
    CHECK(choice.paths.front().interface == "eth1");
    CHECK(choice.paths.front().gid_index == 3);
    CHECK(choice.paths.front().traffic_class == 106);
    CHECK(choice.paths.front().priority == 3);
    CHECK(choice.why == "UCX_NET_DEVICES");

    host.variables["UCX_IB_GID_INDEX"] = "1";
    host.variables["UCX_IB_TRAFFIC_CLASS"] = "184";
    choice = choose_paths(host);
    CHECK(choice.paths.front().gid_index == 1);
    CHECK(choice.paths.front().priority == 5);

    host.variables.erase("UCX_IB_TRAFFIC_CLASS");
    host.rdma_ports.front().traffic_class = 0x60;
    CHECK(choose_paths(host).paths.front().traffic_class == 0x60);
}

TEST_CASE("A DSCP map overrules the default, and trust in VLAN tags both") {
    Interface interface = roce_host("eb01").interfaces.front();
    interface.priority_of_dscp = {{26, 5}};
    CHECK(priority_of(interface, 106, 0) == 5);
    CHECK(priority_of(interface, 96, 0) == 3);
    interface.dscp_trusted = false;
    CHECK(priority_of(interface, 106, 4) == 4);
    interface.dscp_trusted.reset();
    CHECK_FALSE(priority_of(interface, 106, 4));
}

TEST_CASE("Devices that are named and not there") {
    HostSettings host = roce_host("eb01");
    host.variables["UCX_NET_DEVICES"] = "mlx5_1:1,eth1,mlx5_0:1";
    const PathChoice choice = choose_paths(host);
    CHECK(choice.not_found == std::vector<std::string>{"mlx5_1:1"});
    CHECK(choice.paths.size() == 2);
    CHECK_FALSE(choice.paths[0].rdma_port);
    CHECK(choice.paths[1].rdma_port == 0U);
}

TEST_CASE("Without names, UCX has all active ports") {
    HostSettings host = roce_host("eb01");
    host.variables.erase("UCX_NET_DEVICES");
    host.rdma_ports.push_back(host.rdma_ports.front());
    host.rdma_ports.back().device = "mlx5_1";
    CHECK(choose_paths(host).paths.size() == 2);
    host.rdma_ports.back().active = false;
    CHECK(choose_paths(host).paths.size() == 1);
    // By default, Open MPI takes UCX where there is an active port.
    host.variables.erase("OMPI_MCA_pml");
    CHECK(choose_paths(host).uses_ucx);
    CHECK_FALSE(choose_paths(tcp_host("fn01")).uses_ucx);
}

TEST_CASE("Where weir sends by UCX, its device is used whatever MPI is set to", "[engine]") {
    HostSettings host = tcp_host("fn01");
    host.variables["OMPI_MCA_pml"] = "ob1";
    host.variables["UCX_NET_DEVICES"] = "eth9";
    CHECK(choose_paths(host).not_found.empty());
    CHECK(choose_paths(host, true).not_found == std::vector<std::string>{"eth9"});
}

TEST_CASE("Transports that leave out RDMA", "[transports]") {
    HostSettings host = roce_host("eb01");
    host.variables.erase("UCX_NET_DEVICES");
    const auto uses_rdma = [&](const char* transports) {
        host.variables["UCX_TLS"] = transports;
        return choose_paths(host).paths.front().rdma_port.has_value();
    };
    for (const char* transports :
         {"all", "rc", "rc_x,sm,self", "ud_verbs,self", "dc_mlx5", "ib", "^tcp", "^rc", ""}) {
        CAPTURE(transports);
        CHECK(uses_rdma(transports));
    }
    for (const char* transports : {"tcp,self", "sm", "^ib", "^rc,ud,dc", "rcx"}) {
        CAPTURE(transports);
        CHECK_FALSE(uses_rdma(transports));
    }
}

TEST_CASE("Without UCX, Open MPI's own TCP takes the given interfaces, or any") {
    HostSettings host = roce_host("eb01");
    host.variables = {{"OMPI_MCA_pml", "ob1"}};
    host.interfaces.push_back({});
    host.interfaces.back().name = "eth9";
    host.interfaces.back().up = true;
    // An interface without an address leads nowhere.
    REQUIRE(choose_paths(host).paths.size() == 1);
    CHECK(choose_paths(host).paths.front().interface == "eth1");
    host.interfaces.back().addresses = {"192.168.1.1"};
    CHECK(choose_paths(host).paths.size() == 2);
    host.variables["OMPI_MCA_btl_tcp_if_include"] = "eth9";
    REQUIRE(choose_paths(host).paths.size() == 1);
    CHECK(choose_paths(host).paths.front().interface == "eth9");
    host.variables["OMPI_MCA_btl_tcp_if_include"] = "10.0.0.0/24";
    CHECK(choose_paths(host).paths.size() == 2);
}
