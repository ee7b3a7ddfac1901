// The UDP socket of one rank. Many datagrams per system call (sendmmsg, recvmmsg), and where the kernel can,
// many equal ones for one consumer as one message that it or the network card cuts up (UDP_SEGMENT).
//
// It is not connected: a producer sends to all consumers from one socket, so that one send buffer is what it
// has, by --socket-buffer. IP_RECVERR is on, for two things: the kernel reports when no socket is at the
// other end, and when a queue of this host dropped what was sent, which it else conceals; such a datagram is
// sent again and not counted as sent.
//
// (Rejected: UDP_GRO, by which several datagrams come as one: the kernel then counts and drops them as one,
// and the account would not close. SO_RXQ_OVFL, which sends the socket's drop count along with datagrams:
// SO_MEMINFO has the same count and what lies in the buffer, without waiting for a datagram.)
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace weir::transport {

// Which address of a host datagrams go to. IPv4 only: the header sizes that results are computed with are
// its.
//
// Chosen without an option: ranks on one host use its loopback address. Between hosts, the first address of
// the consumer's host in a network that the producer's host is in, too; if they share none, its first
// address, which routers may reach. Addresses that several hosts have are left out: bridges of containers and
// virtual machines are alike everywhere. (Rejected: the address that the host's name resolves to, which often
// is one of loopback, or of the network for administration.)

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

/// Where a datagram comes from or goes to. In the host's order.
struct Endpoint {
    std::uint32_t address = 0;
    std::uint16_t port = 0;
    auto operator<=>(const Endpoint&) const = default;
};

/// "198.18.0.3:40021"
std::string to_text(const Endpoint& endpoint);

class DatagramSocket {
  public:
    struct Outgoing {
        Endpoint to;
        std::span<const std::byte> bytes;
    };
    struct Incoming {
        Endpoint from;
        std::span<const std::byte> bytes;
    };
    enum class Outcome : std::uint8_t {
        all_taken,
        no_room,      ///< in the socket or in a queue of this host: try again later
        unreachable,  ///< `where` does not take datagrams; `why` has the reason
    };
    struct SendOutcome {
        std::size_t taken = 0;  ///< of the datagrams, the first so many
        Outcome outcome = Outcome::all_taken;
        bool by_queue = false;  ///< no_room: in a queue of this host
        Endpoint where;
        std::string why;
    };
    /// Datagrams in one call of send().
    static constexpr std::size_t at_a_time = 64;

    /// Bound to a free port of every address. `buffer`: asked of the kernel for sending and receiving; 0: its
    /// default. `receives_bytes`: the largest datagram that will be received; 0: none will. Throws
    /// TransportError.
    DatagramSocket(core::Bytes buffer, std::size_t receives_bytes);
    DatagramSocket(const DatagramSocket&) = delete;
    DatagramSocket& operator=(const DatagramSocket&) = delete;
    ~DatagramSocket();

    [[nodiscard]] std::uint16_t port() const { return port_; }

    /// Hands datagrams to the kernel, at most at_a_time of them. Throws TransportError.
    SendOutcome send(std::span<const Outgoing> datagrams);

    /// Datagrams that have arrived, core::datagrams_at_a_time at most; valid until the next call. One that is
    /// longer than receives_bytes comes cut to one byte more. Throws TransportError.
    std::span<const Incoming> receive();

    struct Memory {
        std::int64_t received_bytes = 0;  ///< in the receive buffer, as the kernel charges it
        std::int64_t receive_limit_bytes = 0;
        std::int64_t send_limit_bytes = 0;
        std::uint64_t drops = 0;  ///< datagrams that did not fit into the receive buffer, ever
    };
    [[nodiscard]] Memory memory();

  private:
    std::size_t put_together(std::span<const Outgoing> datagrams);
    SendOutcome failed(std::size_t taken, int error, std::size_t segments);
    /// Takes errors off the socket; of the last one that names a destination: which, and why.
    bool read_error(SendOutcome& into) const;

    int descriptor_ = -1;
    std::uint16_t port_ = 0;
    bool segments_ = true;  ///< the kernel cuts messages up
    int too_long_ = 0;      ///< times in a row that a datagram was refused as too long
    std::uint64_t drops_ = 0;
    std::uint32_t drops_seen_ = 0;

    // What a call hands over.
    struct alignas(8) Control {
        std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> bytes;
    };
    std::vector<sockaddr_in> names_;
    std::vector<iovec> parts_;
    std::vector<mmsghdr> messages_;
    std::vector<Control> controls_;
    std::vector<std::size_t> counts_;  ///< datagrams of each message

    std::vector<std::byte> memory_;
    std::size_t stride_ = 0;
    std::vector<Incoming> incoming_;
};

}  // namespace weir::transport
