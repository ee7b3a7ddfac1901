// What talking to the kernel through sockets needs, for rtnetlink and ethtool's ioctl alike. Answers are
// taken apart with bounds, as any data from outside.
#pragma once

#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace weir::host {

/// Closes itself. Whether it could be opened shows with its first use.
class Socket {
  public:
    Socket(int family, int type, int protocol)
        : descriptor_(::socket(family, type | SOCK_CLOEXEC, protocol)) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    [[nodiscard]] int get() const { return descriptor_; }

  private:
    int descriptor_;
};

/// The object that begins here; nothing if there are too few bytes.
template <typename T>
std::optional<T> object_at(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(T)) {
        return std::nullopt;
    }
    T object;
    std::memcpy(&object, bytes.data(), sizeof(T));
    return object;
}

/// Calls `take(type, content)` for each attribute.
template <typename Take>
void for_each_attribute(std::span<const std::byte> bytes, Take&& take) {
    while (const auto header = object_at<rtattr>(bytes)) {
        const std::size_t length = header->rta_len;
        if (length < RTA_LENGTH(0) || length > bytes.size()) {
            return;
        }
        take(header->rta_type & NLA_TYPE_MASK, bytes.subspan(RTA_LENGTH(0), length - RTA_LENGTH(0)));
        bytes = bytes.subspan(std::min<std::size_t>(RTA_ALIGN(length), bytes.size()));
    }
}

/// One of ethtool's requests about an interface. `request` begins with the command and is long enough for the
/// answer. False: refused, or no such interface.
inline bool ask_driver(const Socket& socket, const std::string& interface, void* request) {
    ifreq about{};
    if (interface.size() >= sizeof about.ifr_name) {
        return false;
    }
    std::memcpy(about.ifr_name, interface.c_str(), interface.size() + 1);
    about.ifr_data = static_cast<char*>(request);
    return ::ioctl(socket.get(), SIOCETHTOOL, &about) == 0;
}

}  // namespace weir::host
