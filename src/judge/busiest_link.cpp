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

std::vector<Direction> directions_of(std::span<const record::HostCounters> hosts) {
    std::vector<Direction> found;
    for (const record::HostCounters& host : hosts) {
        if (!host.handed_in || host.seconds <= 0) {
            continue;
        }
        const auto speeds = record::nominal_speeds(files::parse_json_or_discard(host.settings));
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
                             .speed = speed == speeds.end() ? std::nullopt
                                                            : std::optional(static_cast<double>(
                                                                  speed->second.rate.bits_per_second))});
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
