// What is read out of a host's files: devices of several vendors, and hosts that have none.
#include "host/read_settings.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "fake_cluster.hpp"
#include "fake_host.hpp"
#include "host/host_facts.hpp"

using namespace weir::host;
using weir::host::test::FakeKernel;
using weir::host::test::FakeTree;

namespace {

/// A RoCE port in sysfs.
void add_roce_port(const FakeTree& tree, const std::string& device, const std::string& interface,
                   const std::string& rate) {
    const std::string port = "sys/class/infiniband/" + device + "/ports/1/";
    tree.port(device);
    tree.write(port + "link_layer", "Ethernet\n");
    tree.write(port + "rate", rate + "\n");
    tree.write(port + "gids/0", std::string(test::link_local) + "\n");
    tree.write(port + "gid_attrs/types/0", "IB/RoCE v1\n");
    tree.write(port + "gid_attrs/ndevs/0", interface + "\n");
    // The kernel has no file for empty entries.
    tree.write(port + "gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    tree.write(port + "gids/10", test::ipv4_gid(9) + "\n");
    tree.write(port + "gid_attrs/types/10", "RoCE v2\n");
    tree.write(port + "gid_attrs/ndevs/10", interface + "\n");
    tree.interface(interface);
    tree.write("sys/class/net/" + interface + "/mtu", "9000\n");
    tree.write("sys/class/net/" + interface + "/speed", "100000\n");
    tree.write("sys/class/net/" + interface + "/device/numa_node", "1\n");
}

}  // namespace

TEST_CASE("A host without any file has no settings") {
    const FakeTree tree;
    FakeKernel kernel;
    const HostSettings host = read_settings("eb01", {tree.root(), kernel});
    CHECK(host.host == "eb01");
    CHECK(host.rdma_ports.empty());
    CHECK(host.interfaces.empty());
    CHECK_FALSE(host.memory_available_bytes);
    CHECK_FALSE(host.locked_memory);
    CHECK(host.governors.empty());
}

TEST_CASE("An mlx5 port with the vendor's own settings") {
    const FakeTree tree;
    FakeKernel kernel;
    add_roce_port(tree, "mlx5_0", "eth1", "100 Gb/sec (4X EDR)");
    tree.write("sys/class/infiniband/mlx5_0/fw_ver", "22.35.1012\n");
    tree.write("sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
    tree.write("sys/class/infiniband/mlx5_0/tc/1/traffic_class", "106\n");
    tree.write("sys/class/net/eth1/qos/trust", "dscp\n");
    for (int priority = 0; priority < 8; ++priority) {
        const std::string number = std::to_string(priority);
        tree.write("sys/class/net/eth1/ecn/roce_np/enable/" + number, priority == 3 ? "1\n" : "0\n");
        tree.write("sys/class/net/eth1/ecn/roce_rp/enable/" + number, "0\n");
    }
    kernel.bridgings["eth1"].pfc = Priorities{0x08};
    kernel.pauses["eth1"] = {true, false};
    kernel.mtus["mlx5_0:1"] = {1024, 4096};
    const HostSettings host = read_settings("eb01", {tree.root(), kernel});
    REQUIRE(host.rdma_ports.size() == 1);
    const RdmaPort& port = host.rdma_ports.front();
    CHECK(port.name() == "mlx5_0:1");
    CHECK(port.active);
    CHECK(port.firmware == "22.35.1012");
    CHECK(port.speed_bits_per_second == 100000000000);
    CHECK(port.traffic_class == 106);
    CHECK(port.numa_node == 1);
    CHECK(port.active_mtu_bytes == 1024);
    CHECK(port.interface == "eth1");
    REQUIRE(port.gids.size() == 2);
    CHECK(port.gids[0].index == 0);
    CHECK(is_link_local(port.gids[0]));
    CHECK(port.gids[1].index == 10);
    CHECK(ipv4_of(port.gids[1]) == "10.0.0.9");
    REQUIRE(host.interfaces.size() == 1);
    const Interface& interface = host.interfaces.front();
    CHECK(interface.mtu_bytes == 9000);
    CHECK(interface.speed_bits_per_second == 100000000000);
    CHECK(interface.pfc == Priorities{0x08});
    CHECK(interface.dscp_trusted == true);
    CHECK(interface.pause_receiving == true);
    CHECK(interface.pause_sending == false);
    CHECK(interface.ecn_notification == Priorities{0x08});
    CHECK(interface.ecn_reaction == Priorities{0});
}

TEST_CASE("A bnxt port shows what the kernel shows, and leaves the rest unknown") {
    const FakeTree tree;
    FakeKernel kernel;
    add_roce_port(tree, "bnxt_re0", "eth2", "25 Gb/sec (1X EDR)");
    const HostSettings host = read_settings("fn01", {tree.root(), kernel});
    REQUIRE(host.rdma_ports.size() == 1);
    CHECK(host.rdma_ports.front().speed_bits_per_second == 25000000000);
    CHECK_FALSE(host.rdma_ports.front().active_mtu_bytes);
    CHECK_FALSE(host.rdma_ports.front().traffic_class);
    CHECK_FALSE(host.interfaces.front().pfc);
    CHECK_FALSE(host.interfaces.front().ecn_notification);
    CHECK_FALSE(host.interfaces.front().dscp_trusted);
}

TEST_CASE("Soft-RoCE on an interface whose state is unknown") {
    const FakeTree tree;
    FakeKernel kernel;
    tree.port("rxe0");
    const std::string port = "sys/class/infiniband/rxe0/ports/1/";
    tree.write(port + "link_layer", "Ethernet\n");
    tree.write(port + "rate", "2.5 Gb/sec (1X SDR)\n");
    tree.write(port + "gids/0", std::string(test::link_local) + "\n");
    tree.write(port + "gid_attrs/types/0", "RoCE v2\n");
    tree.write(port + "gid_attrs/ndevs/0", "d0\n");
    tree.interface("d0", "unknown");
    tree.write("sys/class/net/d0/mtu", "4200\n");
    const HostSettings host = read_settings("vm", {tree.root(), kernel});
    CHECK(host.rdma_ports.front().speed_bits_per_second == 2500000000);
    CHECK(host.rdma_ports.front().interface == "d0");
    REQUIRE(host.interfaces.size() == 1);
    CHECK(host.interfaces.front().up);
    CHECK_FALSE(host.interfaces.front().speed_bits_per_second);
}

TEST_CASE("A port that is down and the interface that belongs to it are there all the same") {
    const FakeTree tree;
    FakeKernel kernel;
    add_roce_port(tree, "mlx5_0", "eth1", "40 Gb/sec (4X QDR)");
    tree.port("mlx5_0", "1", "1: DOWN");
    tree.interface("eth1", "down");
    const HostSettings host = read_settings("eb01", {tree.root(), kernel});
    CHECK_FALSE(host.rdma_ports.front().active);
    CHECK(host.rdma_ports.front().state == "DOWN");
    REQUIRE(host.interfaces.size() == 1);
    CHECK_FALSE(host.interfaces.front().up);
}

TEST_CASE("Of hundreds of interfaces those of containers are left out, and counted") {
    const FakeTree tree;
    FakeKernel kernel;
    tree.interface("eth0");
    tree.write("sys/class/net/eth0/device/vendor", "0x15b3\n");
    for (int i = 0; i < 504; ++i) {
        tree.interface("veth" + std::to_string(i));
    }
    const HostSettings host = read_settings("eb01", {tree.root(), kernel});
    REQUIRE(host.interfaces.size() == 1);
    CHECK(host.interfaces.front().name == "eth0");
    CHECK(host.interfaces_left_out == 504);
}

TEST_CASE("Limits, memory, processors and parameters of a host") {
    const FakeTree tree;
    FakeKernel kernel;
    tree.write("proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units     \n"
               "Max locked memory         65536                65536                bytes     \n");
    tree.write("proc/self/status", "CapPrm:\t0000000000000000\nCapEff:\t0000000000004000\n");
    tree.write("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    500 kB\n");
    for (const char* cpu : {"cpu0", "cpu1", "cpu2"}) {
        tree.write(std::string("sys/devices/system/cpu/") + cpu + "/cpufreq/scaling_governor",
                   std::string(cpu) == "cpu2" ? "powersave\n" : "performance\n");
    }
    tree.write("sys/devices/system/cpu/cpu1/online", "0\n");
    tree.write("sys/devices/system/node/node1/cpulist", "0,2\n");
    tree.write("sys/devices/system/node/node1/distance", "21 10\n");
    tree.write("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    const HostSettings host = read_settings("eb01", {tree.root(), kernel});
    REQUIRE(host.locked_memory);
    CHECK_FALSE(host.locked_memory->unlimited);
    CHECK(host.locked_memory->bytes == 65536);
    CHECK(host.locks_without_limit);
    CHECK(host.memory_available_bytes == 512000);
    CHECK(host.cores == 2);
    CHECK(host.governors == std::map<std::string, int>{{"performance", 2}, {"powersave", 1}});
    CHECK(host.cpus_of_node == std::map<int, std::string>{{1, "0,2"}});
    CHECK(host.distances.at(1) == std::vector<int>{21, 10});
    CHECK(host.kernel_parameters.at("net.ipv4.tcp_rmem") == "4096 131072 6291456");

    tree.write("proc/self/limits",
               "Max locked memory         unlimited            unlimited            bytes\n");
    tree.write("proc/self/status", "CapEff:\t0000000000000000\n");
    const HostSettings other = read_settings("eb01", {tree.root(), kernel});
    CHECK(other.locked_memory->unlimited);
    CHECK_FALSE(other.locks_without_limit);
}

TEST_CASE("Settings travel between ranks unchanged") {
    HostSettings host = test::roce_host("eb01");
    host.interfaces.front().priority_of_dscp = {{26, 3}, {48, 6}};
    host.distances = {{0, {10, 21}}};
    const auto json = to_json(host);
    CHECK(to_json(host_settings_from_json(json)) == json);
    CHECK(host_settings_from_json(json).interfaces.front().priority_of_dscp.at(48) == 6);
    CHECK_THROWS(host_settings_from_json(nlohmann::json::parse("{}")));
}

TEST_CASE("Lists of processors") {
    CHECK(processors_in("0-2,5") == std::set<int>{0, 1, 2, 5});
    CHECK(processors_in("").empty());
    CHECK(processors_in("3-1,x,7-").count(3) == 0);
}

TEST_CASE("The kernel of this host answers, whatever it has") {
    const auto kernel = kernel_settings();
    CHECK_FALSE(kernel->port_mtu("no_such_device", 1));
    CHECK_FALSE(kernel->pause_frames("no_such_interface"));
    CHECK_FALSE(kernel->bridging("no_such_interface").pfc);
    CHECK_FALSE(kernel->bridging("lo").pfc);
    CHECK_FALSE(kernel->addresses("lo").empty());
}
