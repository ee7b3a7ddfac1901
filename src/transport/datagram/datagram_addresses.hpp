// Which address of a host datagrams go to. IPv4 only: the header sizes that results are computed with are
// its.
//
// Chosen without an option: ranks on one host use its loopback address. Between hosts, the first address of
// the consumer's host in a network that the producer's host is in, too; if they share none, its first
// address, which routers may reach. Addresses that several hosts have are left out: bridges of containers and
// virtual machines are alike everywhere. (Rejected: the address that the host's name resolves to, which often
// is one of loopback, or of the network for administration.)
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace weir::transport {

/// An IPv4 address of an interface. Numbers are in the host's order. Trivially copyable.
struct HostAddress {
    std::uint32_t address = 0;
    std::uint32_t prefix_length = 0;
    std::uint32_t mtu = 1500;  ///< of loopback: of the Ethernet that it stands for
    bool loopback = false;
    char interface[16] = {};  ///< zero-terminated

    [[nodiscard]] std::uint32_t network() const {
        return prefix_length == 0 ? 0 : address & (~std::uint32_t{0} << (32 - prefix_length));
    }
    [[nodiscard]] bool same_network(const HostAddress& other) const {
        return network() == other.network() && prefix_length == other.prefix_length;
    }
};

/// "198.18.0.3"
std::string address_text(std::uint32_t address);
/// "eth0 198.18.0.3/16"
std::string to_text(const HostAddress& address);

/// Addresses of this host's interfaces that are up, in the kernel's order. Throws TransportError.
std::vector<HostAddress> host_addresses();

/// Those of an interface ("eth0") or in a network ("198.18.0.0/15"); with an empty text all but loopback's.
std::vector<HostAddress> wanted_addresses(std::span<const HostAddress> all, const std::string& network);

/// One end of datagrams.
struct DatagramHost {
    std::string name;
    std::vector<HostAddress> addresses;  ///< that may be used
};

/// Addresses that hosts with different names have.
std::set<std::uint32_t> ambiguous_addresses(std::span<const DatagramHost> hosts);

/// Where `from` sends to reach `to`. `by_default`: no network was asked for. Nothing: there is no address.
std::optional<HostAddress> choose_address(const DatagramHost& from, const DatagramHost& to,
                                          const std::set<std::uint32_t>& ambiguous, bool by_default);

}  // namespace weir::transport
