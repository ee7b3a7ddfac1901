// Which address is taken for datagrams, on hosts as clusters, labs and laptops have them.
#include "transport/datagram/datagram_socket.hpp"

#include <cstring>

#include "catch.hpp"

using namespace weir::transport;

namespace {

constexpr std::uint32_t ip(unsigned a, unsigned b, unsigned c, unsigned d) {
    return a << 24U | b << 16U | c << 8U | d;
}

HostAddress address_on(const char* interface, std::uint32_t address, std::uint32_t length) {
    HostAddress made;
    made.address = address;
    made.prefix_length = length;
    made.loopback = length == 8;
    std::strncpy(made.interface, interface, sizeof(made.interface) - 1);
    return made;
}

/// A host with a network for administration, one for data, and a bridge that is alike on all hosts.
DatagramHost a_host(const char* name, unsigned number) {
    return {name,
            {address_on("docker0", ip(172, 17, 0, 1), 16), address_on("mgmt", ip(10, 1, 0, number), 24),
             address_on("roce0", ip(192, 168, 7, number), 24)}};
}

}  // namespace

TEST_CASE("ranks of one host use loopback, unless a network is asked for") {
    const DatagramHost here = a_host("eb01", 1);
    const auto loopback = choose_address(here, here, {}, true);
    REQUIRE(loopback);
    CHECK(to_text(*loopback) == "lo 127.0.0.1/8");
    DatagramHost asked = here;
    asked.addresses = wanted_addresses(here.addresses, "roce0");
    CHECK(choose_address(asked, asked, {}, false)->address == ip(192, 168, 7, 1));
}

TEST_CASE("hosts use the first network that they share, and never an address that several have") {
    const std::vector<DatagramHost> hosts{a_host("eb01", 1), a_host("fn01", 2)};
    const auto ambiguous = ambiguous_addresses(hosts);
    CHECK(ambiguous == std::set<std::uint32_t>{ip(172, 17, 0, 1)});
    CHECK(to_text(*choose_address(hosts[0], hosts[1], ambiguous, true)) == "mgmt 10.1.0.2/24");
    // Two ranks of a host are no reason to call its addresses ambiguous.
    CHECK(ambiguous_addresses(std::vector<DatagramHost>{a_host("eb01", 1), a_host("eb01", 1)}).empty());
}

TEST_CASE("without a network in common it is for routers, and without an address for nobody") {
    DatagramHost far = a_host("fn01", 2);
    far.addresses = {address_on("docker0", ip(172, 17, 0, 1), 16), address_on("eth0", ip(10, 9, 0, 4), 24)};
    const DatagramHost near = a_host("eb01", 1);
    const auto ambiguous = ambiguous_addresses(std::vector<DatagramHost>{near, far});
    CHECK(choose_address(near, far, ambiguous, true)->address == ip(10, 9, 0, 4));
    far.addresses.pop_back();
    CHECK_FALSE(choose_address(near, far, ambiguous, true));
}

TEST_CASE("interfaces and networks are chosen by name and number") {
    std::vector<HostAddress> all = a_host("eb01", 1).addresses;
    all.push_back(address_on("lo", ip(127, 0, 0, 1), 8));
    CHECK(wanted_addresses(all, "").size() == 3);
    const auto only = [&](const std::string& network) {
        const auto wanted = wanted_addresses(all, network);
        return wanted.size() == 1 ? std::string(wanted[0].interface) : std::to_string(wanted.size());
    };
    CHECK(only("roce0") == "roce0");
    CHECK(only("lo") == "lo");
    CHECK(only("192.168.0.0/16") == "roce0");
    CHECK(only("192.168.7.99/24") == "roce0");
    CHECK(only("10.1.0.1") == "mgmt");
    CHECK(only("127.0.0.0/8") == "lo");
    CHECK(only("0.0.0.0/0") == "4");
    CHECK(only("192.168.8.0/24") == "0");
    CHECK(only("roce1") == "0");
}

TEST_CASE("this host's addresses are found") {
    const auto found = host_addresses();
    const auto loopback = wanted_addresses(found, "127.0.0.1");
    REQUIRE(loopback.size() == 1);
    CHECK(loopback[0].loopback);
    CHECK(loopback[0].prefix_length == 8);
}
