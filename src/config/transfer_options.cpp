// Options of the group "transfer": how data is transferred.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "config/option_rows.hpp"
#include "core/policies/policy_table.hpp"
#include "files/formatting.hpp"

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
        throw UsageError("'{}' is IPv6, and datagrams go over IPv4; {}", text, right);
    }
    const bool address = inet_pton(AF_INET, whole.substr(0, slash).c_str(), &four) == 1;
    if (slash != std::string::npos) {
        unsigned length = 0;
        const auto [end, error] =
            std::from_chars(whole.data() + slash + 1, whole.data() + whole.size(), length);
        if (!address || error != std::errc{} || end != whole.data() + whole.size() || length > 32) {
            throw UsageError("'{}' is no network; {}", text, right);
        }
    } else if (!address && (whole.empty() || whole.size() > interface_name_limit ||
                            whole.find_first_of(" \t\n,") != std::string::npos)) {
        throw UsageError("'{}' is no name of an interface; {}", text, right);
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
        throw UsageError("'{}' is no name of a device; write what UCX_NET_DEVICES takes (mlx5_0:1, eth0)",
                         text);
    }
    return std::string(text);
}

// Shaping, what holds back a producer's chunks:
//
//   none
//   bucket:20Mb/s[,burst=64KiB]      a token bucket for payload
//   in-step:25us[,tick=2.5ms]        a chunk per 25 us, the grid laid anew by each tick of the scheduler

constexpr core::Bytes usual_burst{64 * 1024};
/// Ticks are this many grid points apart unless it is said otherwise (LHCb 2005: 2.5 ms at 25 us).
constexpr std::int64_t usual_points = 100;
/// A turn of a rank's loop takes about as long; no sender keeps a finer grid.
constexpr core::Duration least_grid = core::Duration::microseconds(1);

struct ShapingParts {
    std::string_view kind;
    std::string_view value;
    std::string_view parameter;  ///< its value
};

ShapingParts shaping_parts(std::string_view text, std::string_view parameter) {
    const std::size_t colon = text.find(':');
    ShapingParts parts{text.substr(0, colon), {}, {}};
    if (colon == std::string_view::npos) {
        return parts;
    }
    const std::string_view rest = text.substr(colon + 1);
    const std::size_t comma = rest.find(',');
    parts.value = rest.substr(0, comma);
    if (comma == std::string_view::npos) {
        return parts;
    }
    const std::string_view named = rest.substr(comma + 1);
    if (named.substr(0, named.find('=')) != parameter || named.find('=') == std::string_view::npos) {
        throw UsageError("'{}' takes no parameter like '{}'; it takes {}=...", parts.kind, named, parameter);
    }
    parts.parameter = named.substr(named.find('=') + 1);
    return parts;
}

core::Shaping parse_bucket(std::string_view text) {
    const ShapingParts parts = shaping_parts(text, "burst");
    if (parts.value.empty()) {
        throw UsageError("'bucket' needs a rate; write for example bucket:20Mb/s");
    }
    core::Shaping shaping;
    shaping.kind = core::ShapingKind::bucket;
    shaping.rate = parse_rate(parts.value);
    shaping.burst = parts.parameter.empty() ? usual_burst : parse_bytes(parts.parameter);
    if (shaping.rate.bits_per_second < 1 || shaping.rate > fastest_rate) {
        throw UsageError("a bucket of {} is not possible; write a rate from 1b/s to {}", parts.value,
                         to_text(fastest_rate));
    }
    if (shaping.burst.count < 1) {
        throw UsageError("burst=0 lets nothing through; write for example burst=64KiB");
    }
    return shaping;
}

core::Shaping parse_in_step(std::string_view text) {
    const ShapingParts parts = shaping_parts(text, "tick");
    if (parts.value.empty()) {
        throw UsageError("'in-step' needs the time from chunk to chunk; write for example in-step:25us");
    }
    core::Shaping shaping;
    shaping.kind = core::ShapingKind::in_step;
    shaping.grid = parse_duration(parts.value);
    if (shaping.grid < least_grid || shaping.grid > core::Duration::seconds(1)) {
        throw UsageError("a chunk per {} is out of range; write a time from {} to 1s", parts.value,
                         to_text(least_grid));
    }
    shaping.tick = parts.parameter.empty() ? shaping.grid * usual_points : parse_duration(parts.parameter);
    if (shaping.tick < core::Duration::microseconds(100) || shaping.tick > core::Duration::seconds(10) ||
        shaping.tick.ns % shaping.grid.ns != 0) {
        throw UsageError("ticks {} apart do not fit; write a multiple of {} from 100us to 10s",
                         files::exact(shaping.tick), to_text(shaping.grid));
    }
    return shaping;
}

core::Shaping parse_shaping(std::string_view text) {
    const std::string_view kind = text.substr(0, text.find(':'));
    if (text == "none") {
        return {};
    }
    if (kind == "bucket") {
        return parse_bucket(text);
    }
    if (kind == "in-step") {
        return parse_in_step(text);
    }
    throw UsageError("'{}' is no shaping; write none, bucket:RATE or in-step:TIME", text);
}

std::string shaping_text(const core::Shaping& shaping) {
    switch (shaping.kind) {
        case core::ShapingKind::none:
            break;
        case core::ShapingKind::bucket:
            return fmt::format("bucket:{},burst={}", to_text(shaping.rate), to_text(shaping.burst));
        case core::ShapingKind::in_step:
            return fmt::format("in-step:{},tick={}", to_text(shaping.grid), to_text(shaping.tick));
    }
    return "none";
}

core::QueuePairs parse_queue_pairs(Text text) {
    if (text == "pair" || text == "event") {
        return {.of_events = text == "event"};
    }
    try {
        return {.of_a_pair = count(text, 1, core::QueuePairs::most)};
    } catch (const UsageError&) {
        throw UsageError("'{}' is not one of: pair, event, 1 to {}", text, core::QueuePairs::most);
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
    {"policy", syntax_of<policies>, "pairing of producers and consumers; none: no scheduler",
     preset("balanced"), as::word<&Plan::policy, policies>},
    {"transport", syntax_of<transports>, "messages, one-sided writes or reads, or UDP", preset("send"),
     as::word<&Plan::transport, transports>},
    {"engine", syntax_of<engines>, "which library moves the data: MPI, or UCX (not datagram)", preset("mpi"),
     as::word<&core::EnginePlan::engine, engines>, only_measured},
    {"control-traffic-class", "N", "engine ucx: RDMA traffic class of control packets", derived("UCX's"),
     own([](RunRequest& r,
            Text text) { r.engine.control_traffic_class = count(text, 0, largest_traffic_class); },
         [](const RunRequest& r) { return traffic_class_text(r.engine.control_traffic_class); }),
     only_measured},
    {"data-traffic-class", "N", "engine ucx: RDMA traffic class of data", derived("UCX's"),
     own([](RunRequest& r,
            Text text) { r.engine.data_traffic_class = count(text, 0, largest_traffic_class); },
         [](const RunRequest& r) { return traffic_class_text(r.engine.data_traffic_class); }),
     only_measured},
    {"control-device", "NAME", "engine ucx: device of control packets", derived("UCX's"),
     as::plain<&core::EnginePlan::control_device, ucx_devices>, only_measured},
    {"data-device", "NAME", "engine ucx: device of data", derived("UCX's"),
     as::plain<&core::EnginePlan::data_device, ucx_devices>, only_measured},
    {"queue-pairs", "N|pair|event", "N or one for two ranks (engine ucx), or for each event", derived("pair"),
     own([](RunRequest& r, Text text) { r.queue_pairs = parse_queue_pairs(text); },
         [](const RunRequest& r) {
             return takes_queue_pairs(r) ? queue_pairs_text(r.queue_pairs) : std::string{};
         }),
     0, "pair|event"},
    {"chunk-size", "SIZE", "largest message of data",
     preset("1MiB", "128th of a slot, from 1MiB; datagram 1472B"),
     as::quantity<&Plan::chunk_size, Bytes{1}, chunk_limit>, kept_when_shrunk},
    {"window", "N", "chunks under way per stream", preset("4", "4; datagram 64"),
     as::number<&Plan::window, 1, window_limit>},
    {"streams", "N", "events that a producer sends at a time", preset("4"),
     as::number<&Plan::streams, 1, streams_limit>, kept_when_shrunk},
    {"shaping", "none|bucket:RATE|in-step:TIME", "how a producer's chunks are paced", preset("none"),
     as::read<&Plan::shaping, parse_shaping, shaping_text>},
    {"slots", "N", "events a consumer has room for, with the one being processed", preset("4"),
     as::number<&Plan::slots, 1, slots_limit>, kept_when_shrunk},
    {"slot-size", "SIZE", "largest event; drawn sizes are cut to it", derived("mean + 4 deviations"),
     as::size<&Plan::slot_size>},
    {"socket-buffer", "SIZE", "send and receive buffer of each datagram socket", derived("the kernel's"),
     own([](RunRequest& r,
            Text text) { r.socket_buffer = bounded(text, core::Bytes{1024}, largest_socket_buffer); },
         [](const RunRequest& r) {
             return r.socket_buffer.count == 0 ? std::string{} : to_text(r.socket_buffer);
         })},
    {"datagram-network", "INTERFACE|NETWORK", "network of datagrams: eth0 or 10.0.0.0/8",
     derived("first common one"),
     own(set_datagram_network, [](const RunRequest& r) { return r.datagram_network; })},
};

}  // namespace

constinit const std::span<const Option> transfer_options = transfer_rows;

}  // namespace weir::config
