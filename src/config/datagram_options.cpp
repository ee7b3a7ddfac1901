#include "config/datagram_options.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "config/limits.hpp"
#include "config/option_values.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "core/memory_need.hpp"

namespace weir::config {

namespace {

using core::Bytes;

constexpr Bytes least_datagram{core::datagram_least_bytes};
constexpr Bytes most_datagram{core::datagram_most_bytes};
/// Fills an Ethernet frame without being cut: 1500 bytes less 20 of IP and 8 of UDP.
constexpr Bytes datagram_default{1472};
constexpr std::uint32_t window_default = 64;
constexpr Bytes largest_socket_buffer{std::int64_t{1} << 30};
constexpr std::size_t interface_name_limit = 15;

void set_datagram_network(RunRequest& request, Text text) {
    constexpr const char* right = "write the name of an interface (eth0) or a network (10.0.0.0/8)";
    const std::string whole(text);
    const std::size_t slash = whole.find('/');
    in_addr four{};
    in6_addr six{};
    if (inet_pton(AF_INET6, whole.substr(0, slash).c_str(), &six) == 1) {
        throw UsageError(fmt::format("'{}' is IPv6, and datagrams go over IPv4; {}", text, right));
    }
    const bool address = inet_pton(AF_INET, whole.substr(0, slash).c_str(), &four) == 1;
    if (slash != std::string::npos) {
        unsigned length = 0;
        const auto [end, error] =
            std::from_chars(whole.data() + slash + 1, whole.data() + whole.size(), length);
        if (!address || error != std::errc{} || end != whole.data() + whole.size() || length > 32) {
            throw UsageError(fmt::format("'{}' is no network; {}", text, right));
        }
    } else if (!address && (whole.empty() || whole.size() > interface_name_limit ||
                            whole.find_first_of(" \t\n,") != std::string::npos)) {
        throw UsageError(fmt::format("'{}' is no name of an interface; {}", text, right));
    }
    request.datagram_network = whole;
}

const Option datagram_rows[] = {
    {.name = "socket-buffer",
     .group = OptionGroup::transfer,
     .syntax = "SIZE",
     .help = "of datagrams' sockets, to send and to receive",
     .fallback = "the kernel's",
     .set =
         [](RunRequest& r, Text text) {
             r.socket_buffer = bounded(parse_bytes(text), Bytes{1024}, largest_socket_buffer);
         },
     .get =
         [](const RunRequest& r) {
             return r.socket_buffer.count == 0 ? std::string{} : to_text(r.socket_buffer);
         }},
    {.name = "datagram-network",
     .group = OptionGroup::transfer,
     .syntax = "INTERFACE|NETWORK",
     .help = "where datagrams go: eth0 or 10.0.0.0/8",
     .fallback = "first in common",
     .set = set_datagram_network,
     .get = [](const RunRequest& r) { return r.datagram_network; }},
};

}  // namespace

std::span<const Option> datagram_option_rows() {
    return datagram_rows;
}

void derive_datagrams(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (!request.given("chunk-size")) {
        plan.chunk_size = datagram_default;
    }
    if (plan.chunk_size < least_datagram || plan.chunk_size > most_datagram) {
        throw UsageError(
            fmt::format("--chunk-size: with --transport datagram a chunk is one datagram, and {} is out of "
                        "range; write a value from {} (fills the least Ethernet frame) to {} (the most that "
                        "UDP carries)",
                        to_text(plan.chunk_size), to_text(least_datagram), to_text(most_datagram)));
    }
    plan.chunk_size = std::max(least_datagram, std::min(plan.chunk_size, plan.slot_size));
    if (!request.given("window")) {
        plan.window = window_default;
    }
    const std::int64_t chunks = (plan.slot_size.count - 1) / plan.chunk_size.count + 1;
    if (chunks > datagrams_per_slot_limit) {
        throw UsageError(fmt::format(
            "--chunk-size: {} cuts a slot of {} into {} datagrams, and at most {} are possible; make it at "
            "least {}, or --event-size smaller",
            to_text(plan.chunk_size), to_text(plan.slot_size), chunks, datagrams_per_slot_limit,
            to_text(Bytes{(plan.slot_size.count - 1) / datagrams_per_slot_limit + 1})));
    }
    if (plan.producers > datagram_producers_limit) {
        throw UsageError(
            fmt::format("--producers: {} are too many for --transport datagram, whose limit is {}; use "
                        "another transport",
                        plan.producers, datagram_producers_limit));
    }
}

void check_datagram_options(const RunRequest& request) {
    if (request.plan.lossy()) {
        return;
    }
    for (const char* option : {"socket-buffer", "datagram-network"}) {
        if (request.given(option) && request.origin(option) >= request.origin("transport")) {
            throw UsageError(fmt::format("--{}: means nothing without --transport datagram", option));
        }
    }
}

}  // namespace weir::config
