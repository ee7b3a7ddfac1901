#include "transport/datagram/datagram_socket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>

#include "core/plan.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

namespace {

constexpr std::size_t cache_line = 64;
/// The kernel cuts one message into at most so many datagrams (UDP_MAX_SEGMENTS of older ones).
constexpr std::size_t segments_limit = 64;
constexpr int too_long_limit = 1000;

sockaddr_in to_socket(const Endpoint& endpoint) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint.port);
    address.sin_addr.s_addr = htonl(endpoint.address);
    return address;
}

Endpoint from_socket(const sockaddr_in& address) {
    return {ntohl(address.sin_addr.s_addr), ntohs(address.sin_port)};
}

[[noreturn]] void fail(const char* operation, int error) {
    throw TransportError(operation, Rank{}, std::strerror(error));
}

void set_option(int descriptor, int level, int option, int value, const char* what) {
    if (setsockopt(descriptor, level, option, &value, sizeof(value)) != 0) {
        fail(what, errno);
    }
}

bool is_no_room(int error) {
    return error == EAGAIN || error == ENOBUFS || error == EINTR || error == ENOMEM;
}

std::uint32_t address_in(const sockaddr* socket_address) {
    sockaddr_in internet{};
    std::memcpy(&internet, socket_address, sizeof(internet));
    return ntohl(internet.sin_addr.s_addr);
}

/// For requests to the kernel about interfaces.
struct AnySocket {
    AnySocket() = default;
    AnySocket(const AnySocket&) = delete;
    AnySocket& operator=(const AnySocket&) = delete;
    ~AnySocket() { ::close(descriptor); }
    int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

/// The network that a text like "10.0.0.0/8" names; nothing: it is the name of an interface.
std::optional<HostAddress> parse_network(const std::string& text) {
    const std::size_t slash = text.find('/');
    in_addr parsed{};
    if (inet_pton(AF_INET, text.substr(0, slash).c_str(), &parsed) != 1) {
        return std::nullopt;
    }
    HostAddress network;
    network.address = ntohl(parsed.s_addr);
    network.prefix_length = 32;
    if (slash != std::string::npos) {
        std::from_chars(text.data() + slash + 1, text.data() + text.size(), network.prefix_length);
    }
    network.prefix_length = std::min(network.prefix_length, std::uint32_t{32});
    return network;
}

}  // namespace

std::string to_text(const Endpoint& endpoint) {
    return address_text(endpoint.address) + ":" + std::to_string(endpoint.port);
}

DatagramSocket::DatagramSocket(core::Bytes buffer, std::size_t receives_bytes)
    : descriptor_(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP)) {
    if (descriptor_ < 0) {
        fail("opening a UDP socket", errno);
    }
    try {
        if (buffer.count > 0) {
            // The kernel doubles what it is asked for, and cuts it to what the administrator allows.
            const int asked = static_cast<int>(
                std::min<std::int64_t>(buffer.count, std::numeric_limits<std::int32_t>::max() / 2));
            set_option(descriptor_, SOL_SOCKET, SO_RCVBUF, asked, "setting SO_RCVBUF");
            set_option(descriptor_, SOL_SOCKET, SO_SNDBUF, asked, "setting SO_SNDBUF");
        }
        set_option(descriptor_, IPPROTO_IP, IP_RECVERR, 1, "setting IP_RECVERR");
        sockaddr_in name = to_socket({});
        socklen_t length = sizeof(name);
        if (bind(descriptor_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 ||
            getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &length) != 0) {
            fail("binding a UDP socket", errno);
        }
        port_ = from_socket(name).port;
    } catch (const TransportError&) {
        ::close(descriptor_);
        throw;
    }
    const auto batch =
        std::max(at_a_time, static_cast<std::size_t>(receives_bytes > 0 ? core::datagrams_at_a_time : 0));
    names_.resize(batch);
    parts_.resize(batch);
    messages_.resize(batch);
    controls_.resize(at_a_time);
    counts_.resize(at_a_time);
    if (receives_bytes > 0) {
        stride_ = (receives_bytes + 1 + cache_line - 1) / cache_line * cache_line;
        memory_.resize(static_cast<std::size_t>(core::datagrams_at_a_time) * stride_);
        incoming_.resize(static_cast<std::size_t>(core::datagrams_at_a_time));
    }
}

DatagramSocket::~DatagramSocket() {
    ::close(descriptor_);
}

/// Equal datagrams that follow each other to one address become one message; the last of them may be shorter.
std::size_t DatagramSocket::put_together(std::span<const Outgoing> datagrams) {
    std::size_t messages = 0;
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < datagrams.size(); begin = end, ++messages) {
        const Outgoing& first = datagrams[begin];
        const std::size_t size = first.bytes.size();
        std::size_t total = 0;
        bool shorter = false;
        for (end = begin; end < datagrams.size(); ++end) {
            const Outgoing& next = datagrams[end];
            const bool joins = end == begin || (segments_ && !shorter && next.to == first.to &&
                                                next.bytes.size() <= size && end - begin < segments_limit &&
                                                total + next.bytes.size() <=
                                                    static_cast<std::size_t>(core::datagram_most_bytes));
            if (!joins) {
                break;
            }
            shorter = next.bytes.size() < size;
            total += next.bytes.size();
            // The kernel only reads it, but its type is for both directions.
            // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
            parts_[end] = {const_cast<std::byte*>(next.bytes.data()), next.bytes.size()};
        }
        names_[messages] = to_socket(first.to);
        counts_[messages] = end - begin;
        msghdr& header = messages_[messages].msg_hdr;
        header = {};
        header.msg_name = &names_[messages];
        header.msg_namelen = sizeof(sockaddr_in);
        header.msg_iov = &parts_[begin];
        header.msg_iovlen = end - begin;
        if (end - begin > 1) {
            Control& control = controls_[messages];
            header.msg_control = control.bytes.data();
            header.msg_controllen = control.bytes.size();
            cmsghdr* const segment = CMSG_FIRSTHDR(&header);
            segment->cmsg_level = SOL_UDP;
            segment->cmsg_type = UDP_SEGMENT;
            segment->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
            const auto segment_bytes = static_cast<std::uint16_t>(size);
            std::memcpy(CMSG_DATA(segment), &segment_bytes, sizeof(segment_bytes));
        }
    }
    return messages;
}

DatagramSocket::SendOutcome DatagramSocket::send(std::span<const Outgoing> datagrams) {
    WEIR_ASSERT(datagrams.size() <= at_a_time);
    SendOutcome sent;
    while (sent.taken < datagrams.size()) {
        const std::size_t messages = put_together(datagrams.subspan(sent.taken));
        const int taken =
            sendmmsg(descriptor_, messages_.data(), static_cast<unsigned>(messages), MSG_DONTWAIT);
        if (taken <= 0) {
            const std::size_t before = sent.taken;
            sent = failed(sent.taken, errno, counts_[0]);
            if (sent.outcome != Outcome::all_taken || sent.taken != before) {
                return sent;
            }
            continue;  // without what the kernel did not like
        }
        too_long_ = 0;
        for (int message = 0; message < taken; ++message) {
            sent.taken += counts_[static_cast<std::size_t>(message)];
        }
    }
    return sent;
}

DatagramSocket::SendOutcome DatagramSocket::failed(std::size_t taken, int error, std::size_t segments) {
    SendOutcome sent{
        .taken = taken, .outcome = Outcome::no_room, .by_queue = error == ENOBUFS, .where = {}, .why = {}};
    if (is_no_room(error)) {
        return sent;
    }
    if (segments > 1 && (error == EINVAL || error == EMSGSIZE || error == EIO || error == EOPNOTSUPP)) {
        // Longer than the path's packets, or a kernel or card that cannot.
        segments_ = false;
        sent.outcome = Outcome::all_taken;
        return sent;
    }
    if (read_error(sent)) {
        sent.outcome = Outcome::unreachable;
        return sent;
    }
    if (error == EMSGSIZE && ++too_long_ < too_long_limit) {
        return sent;  // the path takes shorter packets than was known: from now on the kernel cuts them up
    }
    fail("sending datagrams", error);
}

bool DatagramSocket::read_error(SendOutcome& into) const {
    bool found = false;
    while (true) {
        sockaddr_in name{};
        alignas(8) std::array<std::byte, 512> control{};
        iovec part{};
        msghdr header{};
        header.msg_name = &name;
        header.msg_namelen = sizeof(name);
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        if (recvmsg(descriptor_, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
            return found;
        }
        for (cmsghdr* entry = CMSG_FIRSTHDR(&header); entry != nullptr; entry = CMSG_NXTHDR(&header, entry)) {
            if (entry->cmsg_level != IPPROTO_IP || entry->cmsg_type != IP_RECVERR) {
                continue;
            }
            sock_extended_err error{};
            std::memcpy(&error, CMSG_DATA(entry), sizeof(error));
            const int number = static_cast<int>(error.ee_errno);
            if (number != EMSGSIZE && !is_no_room(number)) {
                found = true;
                into.where = from_socket(name);
                into.why = std::strerror(number);
            }
        }
    }
}

std::span<const DatagramSocket::Incoming> DatagramSocket::receive() {
    WEIR_ASSERT(!incoming_.empty());
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
        parts_[i] = {memory_.data() + i * stride_, stride_};
        msghdr& header = messages_[i].msg_hdr;
        header = {};
        header.msg_name = &names_[i];
        header.msg_namelen = sizeof(sockaddr_in);
        header.msg_iov = &parts_[i];
        header.msg_iovlen = 1;
    }
    const int received = recvmmsg(descriptor_, messages_.data(), static_cast<unsigned>(incoming_.size()),
                                  MSG_DONTWAIT, nullptr);
    if (received < 0) {
        SendOutcome ignored;
        // An error that a datagram of warm-up met elsewhere is no matter of this end.
        if (!is_no_room(errno) && !read_error(ignored)) {
            fail("receiving datagrams", errno);
        }
        return {};
    }
    const auto count = static_cast<std::size_t>(received);
    for (std::size_t i = 0; i < count; ++i) {
        incoming_[i] = {
            from_socket(names_[i]),
            std::span(memory_).subspan(i * stride_, std::min<std::size_t>(messages_[i].msg_len, stride_))};
    }
    return std::span(incoming_).first(count);
}

DatagramSocket::Memory DatagramSocket::memory() {
    std::array<std::uint32_t, SK_MEMINFO_VARS> values{};
    socklen_t length = sizeof(values);
    if (getsockopt(descriptor_, SOL_SOCKET, SO_MEMINFO, values.data(), &length) != 0) {
        fail("reading SO_MEMINFO", errno);
    }
    drops_ += static_cast<std::uint32_t>(values[SK_MEMINFO_DROPS] - drops_seen_);  // 32 bits, and wraps
    drops_seen_ = values[SK_MEMINFO_DROPS];
    return {.received_bytes = values[SK_MEMINFO_RMEM_ALLOC],
            .receive_limit_bytes = values[SK_MEMINFO_RCVBUF],
            .send_limit_bytes = values[SK_MEMINFO_SNDBUF],
            .drops = drops_};
}

std::string address_text(std::uint32_t address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    const in_addr internet{.s_addr = htonl(address)};
    inet_ntop(AF_INET, &internet, text.data(), text.size());
    return text.data();
}

std::string to_text(const HostAddress& address) {
    return std::string(address.interface) + " " + address_text(address.address) + "/" +
           std::to_string(address.prefix_length);
}

std::vector<HostAddress> host_addresses() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) {
        throw TransportError("looking for this host's addresses", Rank{}, std::strerror(errno));
    }
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(first, &freeifaddrs);
    const AnySocket any_socket;
    std::vector<HostAddress> addresses;
    for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
        constexpr unsigned in_use = IFF_UP | IFF_RUNNING;
        if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET ||
            (entry->ifa_flags & in_use) != in_use) {
            continue;
        }
        HostAddress address{.address = address_in(entry->ifa_addr),
                            .prefix_length = 32,
                            .mtu = 1500,
                            .loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0};
        if (entry->ifa_netmask != nullptr) {
            address.prefix_length = static_cast<std::uint32_t>(std::popcount(address_in(entry->ifa_netmask)));
        }
        if (!address.loopback) {
            ifreq request{};
            std::strncpy(request.ifr_name, entry->ifa_name, sizeof(request.ifr_name) - 1);
            if (ioctl(any_socket.descriptor, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0) {
                address.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
            }
        }
        std::strncpy(address.interface, entry->ifa_name, sizeof(address.interface) - 1);
        addresses.push_back(address);
    }
    return addresses;
}

std::vector<HostAddress> wanted_addresses(std::span<const HostAddress> all, const std::string& network) {
    const auto wanted = parse_network(network);
    std::vector<HostAddress> chosen;
    std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const HostAddress& candidate) {
        if (network.empty()) {
            return !candidate.loopback;
        }
        if (!wanted) {
            return network == candidate.interface;
        }
        HostAddress in_wanted = candidate;
        in_wanted.prefix_length = wanted->prefix_length;
        return in_wanted.network() == wanted->network();
    });
    return chosen;
}

std::set<std::uint32_t> ambiguous_addresses(std::span<const DatagramHost> hosts) {
    std::map<std::uint32_t, const std::string*> owners;
    std::set<std::uint32_t> ambiguous;
    for (const DatagramHost& host : hosts) {
        for (const HostAddress& address : host.addresses) {
            const auto [owner, added] = owners.emplace(address.address, &host.name);
            if (!added && *owner->second != host.name) {
                ambiguous.insert(address.address);
            }
        }
    }
    return ambiguous;
}

std::optional<HostAddress> choose_address(const DatagramHost& from, const DatagramHost& to,
                                          const std::set<std::uint32_t>& ambiguous, bool by_default) {
    if (by_default && from.name == to.name) {
        return HostAddress{
            .address = INADDR_LOOPBACK, .prefix_length = 8, .mtu = 1500, .loopback = true, .interface = "lo"};
    }
    const auto usable = [&](const HostAddress& address) {
        return from.name == to.name || !ambiguous.contains(address.address);
    };
    const auto shared = std::find_if(to.addresses.begin(), to.addresses.end(), [&](const HostAddress& there) {
        return usable(there) &&
               std::any_of(from.addresses.begin(), from.addresses.end(),
                           [&](const HostAddress& here) { return usable(here) && here.same_network(there); });
    });
    if (shared != to.addresses.end()) {
        return *shared;
    }
    const auto any = std::find_if(to.addresses.begin(), to.addresses.end(), usable);
    return any == to.addresses.end() ? std::nullopt : std::optional(*any);
}

}  // namespace weir::transport
