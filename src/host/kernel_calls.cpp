#include "host/kernel_calls.hpp"

#include <linux/ethtool.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "host/kernel_socket.hpp"

namespace weir::host {

namespace {

/// A discipline in the answer, if it is at the root of its interface.
std::optional<QueueStatistics> root_queue(std::span<const std::byte> message) {
    const auto about = object_at<tcmsg>(message);
    if (!about || about->tcm_parent != TC_H_ROOT) {
        return std::nullopt;
    }
    std::array<char, IF_NAMESIZE> name{};
    if (::if_indextoname(static_cast<unsigned>(about->tcm_ifindex), name.data()) == nullptr) {
        return std::nullopt;
    }
    std::optional<QueueStatistics> found;
    const std::size_t attributes = std::min<std::size_t>(NLMSG_ALIGN(sizeof(tcmsg)), message.size());
    for_each_attribute(message.subspan(attributes), [&](int type, std::span<const std::byte> statistics) {
        if (type != TCA_STATS2) {
            return;
        }
        for_each_attribute(statistics, [&](int part, std::span<const std::byte> content) {
            const auto queue = object_at<gnet_stats_queue>(content);
            if (part == TCA_STATS_QUEUE && queue) {
                found = {name.data(), queue->drops, queue->overlimits, queue->requeues};
            }
        });
    });
    return found;
}

class RealKernelCalls final : public KernelCalls {
  public:
    std::vector<std::string> driver_counter_names(const std::string& interface) override {
        const std::uint32_t count = driver_counter_count(interface);
        if (count == 0) {
            return {};
        }
        std::vector<std::byte> memory(sizeof(ethtool_gstrings) +
                                      (count + room) * std::size_t{ETH_GSTRING_LEN});
        ethtool_gstrings request{};
        request.cmd = ETHTOOL_GSTRINGS;
        request.string_set = ETH_SS_STATS;
        request.len = count;
        if (!ask(interface, request, memory)) {
            return {};
        }
        std::vector<std::string> names;
        for (std::size_t i = 0; i < std::min(request.len, count); ++i) {
            const char* text =
                reinterpret_cast<const char*>(memory.data() + sizeof request + i * ETH_GSTRING_LEN);
            names.emplace_back(text, strnlen(text, ETH_GSTRING_LEN));
        }
        return names;
    }

    std::vector<std::uint64_t> driver_counters(const std::string& interface) override {
        const std::uint32_t count = driver_counter_count(interface);
        if (count == 0) {
            return {};
        }
        std::vector<std::byte> memory(sizeof(ethtool_stats) + (count + room) * sizeof(std::uint64_t));
        ethtool_stats request{};
        request.cmd = ETHTOOL_GSTATS;
        request.n_stats = count;
        if (!ask(interface, request, memory)) {
            return {};
        }
        std::vector<std::uint64_t> values(std::min(request.n_stats, count + room));
        std::memcpy(values.data(), memory.data() + sizeof request, values.size() * sizeof(std::uint64_t));
        return values;
    }

    std::vector<QueueStatistics> root_queues() override {
        const Socket socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
        // The kernel answers at once; should it not, a second's row must not wait for it.
        const timeval patience{.tv_sec = 0, .tv_usec = 100000};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        struct {
            nlmsghdr header;
            tcmsg about;
        } request{};
        request.header.nlmsg_len = sizeof request;
        request.header.nlmsg_type = RTM_GETQDISC;
        request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        request.about.tcm_family = AF_UNSPEC;
        if (::send(socket.get(), &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request)) {
            return {};
        }
        std::vector<QueueStatistics> queues;
        std::vector<std::byte> answer(std::size_t{64} << 10U);
        while (true) {
            const ssize_t got = ::recv(socket.get(), answer.data(), answer.size(), 0);
            if (got <= 0) {
                return {};  // half an answer would look like interfaces without disciplines
            }
            std::span<const std::byte> rest(answer.data(), static_cast<std::size_t>(got));
            while (const auto header = object_at<nlmsghdr>(rest)) {
                const std::size_t length = header->nlmsg_len;
                if (length < sizeof(nlmsghdr) || length > rest.size() || header->nlmsg_type == NLMSG_ERROR) {
                    return {};
                }
                if (header->nlmsg_type == NLMSG_DONE) {
                    return queues;
                }
                if (const auto queue = root_queue(rest.subspan(NLMSG_HDRLEN, length - NLMSG_HDRLEN))) {
                    queues.push_back(*queue);
                }
                rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(length), rest.size()));
            }
        }
    }

  private:
    /// The kernel copies as many values as the driver has at that moment, however many were asked for.
    static constexpr std::uint32_t room = 4096;

    /// `memory` is as long as request and answer, which follows it.
    template <typename Request>
    bool ask(const std::string& interface, Request& request, std::span<std::byte> memory) const {
        std::memcpy(memory.data(), &request, sizeof request);
        const bool answered = ask_driver(socket_, interface, memory.data());
        std::memcpy(&request, memory.data(), sizeof request);
        return answered;
    }

    std::uint32_t driver_counter_count(const std::string& interface) const {
        // The answer follows the request: one number, for the one set that is asked for.
        std::array<std::byte, sizeof(ethtool_sset_info) + sizeof(std::uint32_t)> memory{};
        ethtool_sset_info request{};
        request.cmd = ETHTOOL_GSSET_INFO;
        request.sset_mask = std::uint64_t{1} << unsigned{ETH_SS_STATS};
        if (!ask(interface, request, memory)) {
            return 0;
        }
        std::uint32_t count = 0;
        std::memcpy(&count, memory.data() + sizeof request, sizeof count);
        return request.sset_mask != 0 ? count : 0;
    }

    Socket socket_{AF_INET, SOCK_DGRAM, 0};
};

}  // namespace

std::unique_ptr<KernelCalls> kernel_calls() {
    return std::make_unique<RealKernelCalls>();
}

}  // namespace weir::host
