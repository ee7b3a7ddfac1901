// Options of the group "transfer": how data is transferred.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "config/option_table.hpp"
#include "config/option_values.hpp"
#include "config/shaping.hpp"
#include "core/policies/matching_table.hpp"
#include "core/policies/policy_table.hpp"

namespace weir::config {

namespace {

constexpr auto policies = [] {
    std::array<Choice<core::PolicyKind>, core::policy_table.size() + 2> choices{};
    for (std::size_t i = 0; i < core::policy_table.size(); ++i) {
        choices[i] = {core::policy_table[i].name, core::policy_table[i].kind};
    }
    std::size_t next = core::policy_table.size();
    for (const core::MatchingRow& row : core::matching_table) {
        if (row.kind == core::PolicyKind::longest_queue || row.kind == core::PolicyKind::oldest) {
            choices[next++] = {row.name, row.kind};
        }
    }
    return choices;
}();

constexpr Choice<core::TransportKind> transports[] = {{"send", core::TransportKind::send},
                                                      {"put", core::TransportKind::put},
                                                      {"get", core::TransportKind::get},
                                                      {"datagram", core::TransportKind::datagram}};

constexpr Choice<core::Engine> engines[] = {{"mpi", core::Engine::mpi}, {"ucx", core::Engine::ucx}};

constexpr std::uint32_t largest_traffic_class = 255;

std::string traffic_class_text(const std::optional<std::uint32_t>& value) {
    return value ? fmt::format("{}", *value) : std::string{};
}

constexpr core::Bytes largest_socket_buffer{std::int64_t{1} << 30};
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

/// As UCX_NET_DEVICES takes them: "mlx5_0:1", "eth0", several separated by commas.
std::string ucx_devices(Text text) {
    constexpr std::size_t longest = 255;
    constexpr std::string_view signs = "_:.,-/";
    const auto allowed = [&](char sign) {
        return std::isalnum(static_cast<unsigned char>(sign)) != 0 ||
               signs.find(sign) != std::string_view::npos;
    };
    if (text.empty() || text.size() > longest || !std::all_of(text.begin(), text.end(), allowed)) {
        throw UsageError(fmt::format(
            "'{}' is no name of a device; write what UCX_NET_DEVICES takes (mlx5_0:1, eth0)", text));
    }
    return std::string(text);
}

core::QueuePairs parse_queue_pairs(Text text) {
    if (text == "pair" || text == "event") {
        return {.of_events = text == "event"};
    }
    try {
        return {.of_a_pair = count(text, 1, core::QueuePairs::most)};
    } catch (const UsageError&) {
        throw UsageError(
            fmt::format("'{}' is not one of: pair, event, 1 to {}", text, core::QueuePairs::most));
    }
}

std::string queue_pairs_text(const core::QueuePairs& queue_pairs) {
    if (queue_pairs.of_a_pair > 1) {
        return fmt::format("{}", queue_pairs.of_a_pair);
    }
    return queue_pairs.of_events ? "event" : "pair";
}

/// With engine ucx, and in simulations of packets.
bool takes_queue_pairs(const RunRequest& request) {
    return request.simulated ? request.network.model == core::NetworkModel::packet
                             : request.engine.engine == core::Engine::ucx;
}

constexpr Option transfer_rows[] = {
    {.name = "policy",
     .syntax = syntax_of<policies>,
     .help = "pairing of producers and consumers; none: no scheduler",
     .default_value = "balanced",
     .set = [](RunRequest& r, Text text) { r.plan.policy = choose(text, policies); },
     .get = [](const RunRequest& r) { return chosen(r.plan.policy, policies); }},
    {.name = "transport",
     .syntax = syntax_of<transports>,
     .help = "messages, one-sided writes or reads, or UDP",
     .default_value = "send",
     .set = [](RunRequest& r, Text text) { r.plan.transport = choose(text, transports); },
     .get = [](const RunRequest& r) { return chosen(r.plan.transport, transports); }},
    {.name = "engine",
     .syntax = syntax_of<engines>,
     .help = "what carries it: MPI, or UCX directly (not datagram)",
     .default_value = "mpi",
     .set = [](RunRequest& r, Text text) { r.engine.engine = choose(text, engines); },
     .get = [](const RunRequest& r) { return chosen(r.engine.engine, engines); },
     .only_measured = true},
    {.name = "control-traffic-class",
     .syntax = "N",
     .help = "engine ucx: RDMA traffic class of control packets",
     .default_text = "UCX's",
     .set = [](RunRequest& r,
               Text text) { r.engine.control_traffic_class = count(text, 0, largest_traffic_class); },
     .get = [](const RunRequest& r) { return traffic_class_text(r.engine.control_traffic_class); },
     .only_measured = true},
    {.name = "data-traffic-class",
     .syntax = "N",
     .help = "engine ucx: RDMA traffic class of data",
     .default_text = "UCX's",
     .set = [](RunRequest& r,
               Text text) { r.engine.data_traffic_class = count(text, 0, largest_traffic_class); },
     .get = [](const RunRequest& r) { return traffic_class_text(r.engine.data_traffic_class); },
     .only_measured = true},
    {.name = "control-device",
     .syntax = "NAME",
     .help = "engine ucx: device of control packets",
     .default_text = "UCX's",
     .set = [](RunRequest& r, Text text) { r.engine.control_device = ucx_devices(text); },
     .get = [](const RunRequest& r) { return r.engine.control_device; },
     .only_measured = true},
    {.name = "data-device",
     .syntax = "NAME",
     .help = "engine ucx: device of data",
     .default_text = "UCX's",
     .set = [](RunRequest& r, Text text) { r.engine.data_device = ucx_devices(text); },
     .get = [](const RunRequest& r) { return r.engine.data_device; },
     .only_measured = true},
    {.name = "queue-pairs",
     .syntax = "N|pair|event",
     .completions = "pair|event",
     .help = "N or one for two ranks (engine ucx), or for each event",
     .default_text = "pair",
     .set = [](RunRequest& r, Text text) { r.queue_pairs = parse_queue_pairs(text); },
     .get =
         [](const RunRequest& r) {
             return takes_queue_pairs(r) ? queue_pairs_text(r.queue_pairs) : std::string{};
         }},
    {.name = "chunk-size",
     .syntax = "SIZE",
     .help = "largest message of data",
     .default_text = "128th of a slot, from 1MiB; datagram 1472B",
     .default_value = "1MiB",
     .set = [](RunRequest& r,
               Text text) { r.plan.chunk_size = bounded(parse_bytes, text, core::Bytes{1}, chunk_limit); },
     .get = [](const RunRequest& r) { return to_text(r.plan.chunk_size); },
     .kept_when_shrunk = true},
    {.name = "window",
     .syntax = "N",
     .help = "chunks under way per stream",
     .default_text = "4; datagram 64",
     .default_value = "4",
     .set = [](RunRequest& r, Text text) { r.plan.window = count(text, 1, window_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.window); }},
    {.name = "streams",
     .syntax = "N",
     .help = "events that a producer sends at a time",
     .default_value = "4",
     .set = [](RunRequest& r, Text text) { r.plan.streams = count(text, 1, streams_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.streams); },
     .kept_when_shrunk = true},
    {.name = "shaping",
     .syntax = "none|bucket:RATE|in-step:TIME",
     .help = "how a producer's chunks are paced",
     .default_value = "none",
     .set = [](RunRequest& r, Text text) { r.plan.shaping = parse_shaping(text); },
     .get = [](const RunRequest& r) { return shaping_text(r.plan.shaping); }},
    {.name = "slots",
     .syntax = "N",
     .help = "events that a consumer has room for, with the one in work",
     .default_value = "4",
     .set = [](RunRequest& r, Text text) { r.plan.slots = count(text, 1, slots_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.slots); },
     .kept_when_shrunk = true},
    {.name = "slot-size",
     .syntax = "SIZE",
     .help = "largest event; drawn sizes are cut to it",
     .default_text = "mean + 4 deviations",
     .set = [](RunRequest& r, Text text) { r.plan.slot_size = some_bytes(text); },
     .get = [](const RunRequest& r) { return to_text(r.plan.slot_size); }},
    {.name = "socket-buffer",
     .syntax = "SIZE",
     .help = "send and receive buffer of each datagram socket",
     .default_text = "the kernel's",
     .set =
         [](RunRequest& r, Text text) {
             r.socket_buffer = bounded(parse_bytes, text, core::Bytes{1024}, largest_socket_buffer);
         },
     .get =
         [](const RunRequest& r) {
             return r.socket_buffer.count == 0 ? std::string{} : to_text(r.socket_buffer);
         }},
    {.name = "datagram-network",
     .syntax = "INTERFACE|NETWORK",
     .help = "network of datagrams: eth0 or 10.0.0.0/8",
     .default_text = "first common one",
     .set = set_datagram_network,
     .get = [](const RunRequest& r) { return r.datagram_network; }},
};

}  // namespace

std::span<const Option> transfer_options() {
    return transfer_rows;
}

}  // namespace weir::config
