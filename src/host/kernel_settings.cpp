#include "host/kernel_settings.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/time.h>

#ifdef WEIR_HAVE_IBVERBS
#include <infiniband/verbs.h>
#endif

#include <array>
#include <cstring>
#include <span>

#include "host/kernel_socket.hpp"

namespace weir::host {

namespace {

using ByteView = std::span<const std::byte>;

void take_application(ByteView content, Bridging& bridging) {
    const auto entry = object_at<dcb_app>(content);
    if (entry && entry->selector == IEEE_8021QAZ_APP_SEL_DSCP && entry->protocol < 64) {
        bridging.priority_of_dscp[entry->protocol] = entry->priority & 7;
        // Drivers go by DSCP as soon as they are given such an entry.
        bridging.dscp_trusted = true;
    }
}

void take_ieee(ByteView attributes, Bridging& bridging) {
    for_each_attribute(attributes, [&](int type, ByteView content) {
        if (type == DCB_ATTR_IEEE_PFC) {
            if (const auto pfc = object_at<ieee_pfc>(content)) {
                bridging.pfc = pfc->pfc_en;
            }
        } else if (type == DCB_ATTR_IEEE_APP_TABLE) {
            for_each_attribute(content, [&](int part, ByteView entry) {
                if (part == DCB_ATTR_IEEE_APP) {
                    take_application(entry, bridging);
                }
            });
        }
    });
}

class RealKernelSettings final : public KernelSettings {
  public:
    Bridging bridging(const std::string& interface) override {
        const Socket socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
        const timeval patience{.tv_sec = 0, .tv_usec = 200000};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        struct {
            nlmsghdr header;
            dcbmsg about;
            rtattr name_header;
            char name[IFNAMSIZ + RTA_ALIGNTO];
        } request{};
        if (interface.size() >= IFNAMSIZ) {
            return {};
        }
        request.name_header.rta_type = DCB_ATTR_IFNAME;
        request.name_header.rta_len = static_cast<unsigned short>(RTA_LENGTH(interface.size() + 1));
        std::memcpy(request.name, interface.c_str(), interface.size() + 1);
        request.header.nlmsg_len = static_cast<unsigned>(sizeof request.header + sizeof request.about +
                                                         RTA_ALIGN(request.name_header.rta_len));
        request.header.nlmsg_type = RTM_GETDCB;
        request.header.nlmsg_flags = NLM_F_REQUEST;
        request.about.dcb_family = AF_UNSPEC;
        request.about.cmd = DCB_CMD_IEEE_GET;
        if (::send(socket.get(), &request, request.header.nlmsg_len, 0) < 0) {
            return {};
        }
        std::vector<std::byte> answer(std::size_t{64} << 10U);
        const ssize_t got = ::recv(socket.get(), answer.data(), answer.size(), 0);
        Bridging bridging;
        if (got <= 0) {
            return bridging;
        }
        ByteView rest(answer.data(), static_cast<std::size_t>(got));
        const auto header = object_at<nlmsghdr>(rest);
        constexpr std::size_t before_attributes = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(dcbmsg));
        if (!header || header->nlmsg_type != RTM_GETDCB || header->nlmsg_len > rest.size() ||
            header->nlmsg_len < before_attributes) {
            return bridging;  // an error: the driver has no such thing
        }
        for_each_attribute(rest.subspan(before_attributes, header->nlmsg_len - before_attributes),
                           [&](int type, ByteView content) {
                               if (type == DCB_ATTR_IEEE) {
                                   take_ieee(content, bridging);
                               }
                           });
        return bridging;
    }

    std::optional<PauseFrames> pause_frames(const std::string& interface) override {
        ethtool_pauseparam request{};
        request.cmd = ETHTOOL_GPAUSEPARAM;
        if (!ask_driver(socket_, interface, &request)) {
            return std::nullopt;
        }
        return PauseFrames{request.rx_pause != 0, request.tx_pause != 0};
    }

    std::optional<PortMtu> port_mtu([[maybe_unused]] const std::string& device,
                                    [[maybe_unused]] int port) override {
        std::optional<PortMtu> mtu;
#ifdef WEIR_HAVE_IBVERBS
        int count = 0;
        ibv_device** devices = ibv_get_device_list(&count);
        for (int i = 0; devices != nullptr && i < count; ++i) {
            if (device != ibv_get_device_name(devices[i])) {
                continue;
            }
            ibv_context* context = ibv_open_device(devices[i]);
            if (context == nullptr) {
                break;
            }
            ibv_port_attr attributes{};
            if (ibv_query_port(context, static_cast<std::uint8_t>(port), &attributes) == 0) {
                // The enumeration begins with 256 bytes and doubles.
                mtu = PortMtu{128 << attributes.active_mtu, 128 << attributes.max_mtu};
            }
            ibv_close_device(context);
        }
        if (devices != nullptr) {
            ibv_free_device_list(devices);
        }
#endif
        return mtu;
    }

    std::vector<std::string> addresses(const std::string& interface) override {
        std::vector<std::string> found;
        ifaddrs* list = nullptr;
        if (::getifaddrs(&list) != 0) {
            return found;
        }
        for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
            if (entry->ifa_addr == nullptr || interface != entry->ifa_name) {
                continue;
            }
            std::array<char, INET6_ADDRSTRLEN> text{};
            if (entry->ifa_addr->sa_family == AF_INET) {
                sockaddr_in address{};
                std::memcpy(&address, entry->ifa_addr, sizeof address);
                ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
            } else if (entry->ifa_addr->sa_family == AF_INET6) {
                sockaddr_in6 address{};
                std::memcpy(&address, entry->ifa_addr, sizeof address);
                ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
            } else {
                continue;
            }
            found.emplace_back(text.data());
        }
        ::freeifaddrs(list);
        return found;
    }

  private:
    Socket socket_{AF_INET, SOCK_DGRAM, 0};
};

class NoKernelSettings final : public KernelSettings {
  public:
    Bridging bridging(const std::string& /*interface*/) override { return {}; }
    std::optional<PauseFrames> pause_frames(const std::string& /*interface*/) override { return {}; }
    std::optional<PortMtu> port_mtu(const std::string& /*device*/, int /*port*/) override { return {}; }
    std::vector<std::string> addresses(const std::string& /*interface*/) override { return {}; }
};

}  // namespace

std::unique_ptr<KernelSettings> kernel_settings() {
    return std::make_unique<RealKernelSettings>();
}

std::unique_ptr<KernelSettings> no_kernel_settings() {
    return std::make_unique<NoKernelSettings>();
}

}  // namespace weir::host
