#include "judge/busiest_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "files/formatting.hpp"
#include "files/json_text.hpp"
#include "record/counter_meaning.hpp"

namespace weir::judge {

namespace {

using Json = nlohmann::ordered_json;

struct Direction {
    std::string name;  ///< "eth0 on eb01, received", as the sentence goes on
    double bits_per_second = 0;
    std::optional<double> speed;

    [[nodiscard]] double share() const { return speed ? bits_per_second / *speed : 0; }
};

std::string_view direction_of(std::string_view counter) {
    return counter == "rx_bytes" || counter == "port_rcv_bytes"    ? "received"
           : counter == "tx_bytes" || counter == "port_xmit_bytes" ? "sent"
                                                                   : "";
}

/// Settings come from other ranks: what is not as it should be is not known.
std::string text_in(const Json& device, const char* key) {
    const auto found = device.find(key);
    return found != device.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// By interface and RDMA port of a host, named as its counters are.
std::map<std::string, double> speeds_of(const record::HostCounters& host) {
    std::map<std::string, double> speeds;
    const Json settings = files::parse_json_or_discard(host.settings);
    const auto add = [&](const Json& device, std::initializer_list<std::string> names) {
        const auto speed = device.find("speed_bits_per_second");
        if (speed != device.end() && speed->is_number() && speed->get<double>() > 0) {
            for (const std::string& name : names) {
                speeds[name] = speed->get<double>();
            }
        }
    };
    const auto each = [&](const char* list, const auto& take) {
        if (settings.is_object() && settings.contains(list) && settings[list].is_array()) {
            for (const Json& device : settings[list]) {
                if (device.is_object()) {
                    take(device);
                }
            }
        }
    };
    each("interfaces", [&](const Json& device) { add(device, {text_in(device, "name")}); });
    each("rdma_ports", [&](const Json& device) {
        // A device with several ports has its counters by port.
        const std::string name = text_in(device, "device");
        const auto port = device.find("port");
        const bool numbered = port != device.end() && port->is_number_integer();
        add(device, {name, fmt::format("{}:{}", name, numbered ? port->get<std::int64_t>() : 1)});
    });
    return speeds;
}

std::vector<Direction> directions_of(std::span<const record::HostCounters> hosts) {
    std::vector<Direction> found;
    for (const record::HostCounters& host : hosts) {
        if (!host.handed_in || host.seconds <= 0) {
            continue;
        }
        const auto speeds = speeds_of(host);
        for (const record::CounterSum& counter : host.sums) {
            const std::string source(record::source_of(counter.column));
            const std::string_view direction = direction_of(record::counter_of(counter.column));
            if (direction.empty() || record::is_protocol(source) || !counter.sum) {
                continue;
            }
            const auto speed = speeds.find(source);
            found.push_back({.name = fmt::format("{} on {}, {}", source, host.host, direction),
                             .bits_per_second =
                                 8.0 * static_cast<double>(*counter.sum) / static_cast<double>(host.seconds),
                             .speed = speed == speeds.end() ? std::nullopt : std::optional(speed->second)});
        }
    }
    return found;
}

core::BitRate rate(double bits_per_second) {
    return {static_cast<std::int64_t>(std::min(bits_per_second, 9e18))};
}

}  // namespace

BusiestLink busiest_link(std::span<const record::HostCounters> hosts) {
    const std::vector<Direction> all = directions_of(hosts);
    const bool speeds_known =
        std::all_of(all.begin(), all.end(), [](const Direction& one) { return one.speed.has_value(); });
    const auto busiest = std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return speeds_known ? a.share() < b.share() : a.bits_per_second < b.bits_per_second;
    });
    if (busiest == all.end()) {
        return {};
    }
    const std::string of_speed = busiest->speed
                                     ? fmt::format("{} of its {}", files::percent(busiest->share()),
                                                   files::readable(rate(*busiest->speed)))
                                     : std::string{"and its speed is not known"};
    return {.text = fmt::format("the busiest interface, {} {}, {}", busiest->name,
                                files::readable(rate(busiest->bits_per_second)), of_speed),
            .use = busiest->speed ? std::optional(busiest->share()) : std::nullopt};
}

BusiestLink busiest_link(const record::SwitchTotals& switches) {
    // All priorities of a port together.
    std::map<std::pair<std::string, std::uint32_t>, std::pair<double, const record::SwitchPort*>> uses;
    for (const auto& [key, total] : switches.ports) {
        auto& [use, port] = uses[{std::get<0>(key), std::get<1>(key)}];
        use += total.use(switches.measured);
        port = &total.port;
    }
    const auto busiest = std::max_element(uses.begin(), uses.end(), [](const auto& a, const auto& b) {
        return a.second.first < b.second.first;
    });
    if (busiest == uses.end()) {
        return {};
    }
    const auto& [use, port] = busiest->second;
    return {.text = fmt::format("the busiest port, to {}, was used {} of {}", port->peer, files::percent(use),
                                files::readable(port->rate)),
            .use = use};
}

}  // namespace weir::judge
