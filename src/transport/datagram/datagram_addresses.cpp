#include "transport/datagram/datagram_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>

#include "transport/transport_error.hpp"

namespace weir::transport {

namespace {

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
