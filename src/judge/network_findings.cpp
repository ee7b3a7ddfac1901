#include "judge/network_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "files/formatting.hpp"
#include "files/json.hpp"

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

constexpr std::uint64_t least_count = 10;
constexpr std::uint64_t packets_per_count = 1000000;
constexpr std::size_t kinds_named = 3;
/// Most payload of a packet of RDMA, whose devices are the ones that count packets only.
constexpr std::uint64_t payload_of_packet = 4096;

/// What one device of a host counts.
struct Device {
    bool counts_bytes = false;
    bool counts_packets = false;
    bool counts_resent = false;
    bool rdma = false;  ///< a port as InfiniBand's standard has it
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
};

std::map<std::string_view, Device> devices_of(const record::HostCounters& host) {
    std::map<std::string_view, Device> devices;
    for (const record::CounterSum& counter : host.sums) {
        if (record::is_protocol(record::source_of(counter.column))) {
            continue;
        }
        Device& device = devices[record::source_of(counter.column)];
        const record::CounterMeaning meaning = record::meaning_of(counter.column);
        const std::uint64_t sum = counter.sum.value_or(0);
        device.rdma = device.rdma || record::counter_of(counter.column) == "port_rcv_bytes";
        if (meaning == record::CounterMeaning::received_bytes) {
            device.counts_bytes = true;
            device.bytes = std::max(device.bytes, sum);
        } else if (meaning == record::CounterMeaning::received_packets) {
            device.counts_packets = true;
            device.packets = std::max(device.packets, sum);
        } else if (meaning == record::CounterMeaning::resent ||
                   meaning == record::CounterMeaning::resent_burst ||
                   meaning == record::CounterMeaning::timed_out) {
            device.counts_resent = device.counts_resent || counter.sum.has_value();
        }
    }
    return devices;
}

/// The host's largest sum over sources of one counter: interfaces, RDMA ports and IP count the same traffic.
std::uint64_t largest_sum(const record::HostCounters& host, record::CounterMeaning meaning) {
    std::map<std::string, std::uint64_t> by_name;
    std::uint64_t largest = 0;
    for (const record::CounterSum& counter : host.sums) {
        if (record::meaning_of(counter.column) == meaning && !host.counts_again(counter.column)) {
            const std::uint64_t sum = by_name[record::kind_name(counter.column)] += counter.sum.value_or(0);
            largest = std::max(largest, sum);
        }
    }
    return largest;
}

/// Whether no counter of losses covers the host's data: most of it went through an RDMA device that does not
/// count them, and the kernel's protocols do not see RDMA.
bool blind_to_losses(const std::map<std::string_view, Device>& devices, std::uint64_t host_bytes) {
    return std::any_of(devices.begin(), devices.end(), [&](const auto& named) {
        const Device& device = named.second;
        return device.rdma && !device.counts_resent && device.bytes > host_bytes / 2;
    });
}

/// Whether a device received pauses for a thousandth of the time or more, or for a time that is not known.
bool had_long_pauses(const record::HostCounters& host) {
    std::map<std::string_view, std::pair<std::uint64_t, std::uint64_t>> devices;
    for (const record::CounterSum& counter : host.sums) {
        auto& [frames, time_us] = devices[record::source_of(counter.column)];
        const record::CounterMeaning meaning = record::meaning_of(counter.column);
        frames += meaning == record::CounterMeaning::pause_received ? counter.sum.value_or(0) : 0;
        time_us += meaning == record::CounterMeaning::pause_received_us ? counter.sum.value_or(0) : 0;
    }
    const auto thousandth_us = 1000 * static_cast<std::uint64_t>(host.seconds);
    return std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
        const auto [frames, time_us] = device.second;
        return frames > 0 && (time_us == 0 || time_us >= thousandth_us);
    });
}

void add_unknown(const record::HostCounters& host, const record::CounterSum& counter,
                 std::map<std::string, UnknownCounter>& unknown) {
    UnknownCounter& found = unknown[record::kind_name(counter.column)];
    found.sum += *counter.sum;
    found.sounds_like_trouble = record::sounds_like_trouble(record::counter_of(counter.column));
    found.devices.emplace(record::source_of(counter.column));
    found.hosts.insert(host.host);
}

/// Adds one host's to that of the same device on others.
void add_gap(const record::CounterGap& gap, const std::string& host, std::vector<HostGap>& gaps) {
    const auto same = std::find_if(gaps.begin(), gaps.end(), [&](const HostGap& other) {
        return std::tie(other.gap.source, other.gap.what, other.gap.counters) ==
               std::tie(gap.source, gap.what, gap.counters);
    });
    if (same == gaps.end()) {
        gaps.push_back({.gap = gap, .host = host});
        return;
    }
    ++same->other_hosts;
    if (gap.second < same->gap.second) {
        same->gap.second = gap.second;
        same->host = host;
    }
}

/// "2 counters of mlx5_0 on eb01 and 1 other host were reset, first in second 3: a, b"
std::string gap_text(const HostGap& found) {
    const record::CounterGap& gap = found.gap;
    const bool reset = gap.what == record::Absence::reset;
    const bool one = gap.counters.size() == 1;
    const std::string what =
        fmt::format("{} {}{} {} second {}{}", reset ? (one ? "was" : "were") : (one ? "is" : "are"),
                    reset ? "reset" : "missing", found.other_hosts > 0 ? ", first" : "",
                    reset ? "in" : "from", std::max<std::int64_t>(0, gap.second), reset ? "" : " on");
    const std::string where = fmt::format(
        "{} on {}{}", gap.source, found.host,
        found.other_hosts > 0 ? fmt::format(" and {}", files::counted(found.other_hosts, "other host"))
                              : std::string{});
    if (gap.all) {
        return fmt::format("the {} of {} {}", one ? "counter" : "counters", where, what);
    }
    const std::size_t named = std::min(gap.counters.size(), kinds_named);
    return fmt::format(
        "{} of {} {}: {}{}", files::counted(gap.counters.size(), "counter"), where, what,
        fmt::join(gap.counters.begin(), gap.counters.begin() + static_cast<std::ptrdiff_t>(named), ", "),
        named < gap.counters.size() ? ", ..." : "");
}

/// By name.
struct Kinds {
    std::map<std::string, CounterKind> known;
    std::map<std::string, UnknownCounter> unknown;
};

void add_host(const record::HostCounters& host, bool datagrams, Kinds& kinds, NetworkFindings& findings) {
    ++findings.hosts;
    findings.packets += largest_sum(host, record::CounterMeaning::received_packets);
    const auto devices = devices_of(host);
    std::uint64_t bytes = largest_sum(host, record::CounterMeaning::received_bytes);
    const bool blind = blind_to_losses(devices, bytes);
    for (const auto& [name, device] : devices) {
        if (!device.counts_bytes && device.counts_packets) {
            bytes = std::max(bytes, device.packets * payload_of_packet);
        } else if (!device.counts_bytes && findings.uncounted_device.empty()) {
            findings.uncounted_device = fmt::format("{} on {}", name, host.host);
        }
    }
    findings.bytes += bytes;
    findings.pauses_were_short = findings.pauses_were_short && !had_long_pauses(host);
    std::map<std::string, std::uint64_t> here;
    bool losses = false;
    bool pauses = false;
    for (const record::CounterSum& counter : host.sums) {
        const record::KnownCounter known = record::known_column(counter.column);
        const record::CounterMeaning meaning = known.meaning();
        const bool counted_by_run = datagrams && (record::source_of(counter.column) == "udp" ||
                                                  counter.column == "ip.reassembly_failures");
        if (known.count == nullptr && counter.sum.value_or(0) > 0) {
            add_unknown(host, counter, kinds.unknown);
        }
        if (meaning == record::CounterMeaning::none || !counter.sum || counted_by_run ||
            host.counts_again(counter.column)) {
            continue;
        }
        findings.counters += record::shows_trouble(meaning) ? 1U : 0U;
        losses = losses || record::shows_losses(meaning);
        pauses = pauses || meaning == record::CounterMeaning::pause_received ||
                 meaning == record::CounterMeaning::pause_sent;
        CounterKind& kind = kinds.known[record::kind_name(counter.column)];
        kind.meaning = meaning;
        kind.sum += *counter.sum;
        kind.is_partial = kind.is_partial || counter.is_partial();
        const std::uint64_t on_host = here[record::kind_name(counter.column)] += *counter.sum;
        if (on_host > kind.most) {
            kind.most = on_host;
            kind.most_host = host.host;
        }
    }
    for (const record::CounterGap& gap : record::gaps_of(host)) {
        add_gap(gap, host.host, findings.gaps);
    }
    findings.hosts_with_losses += losses && !blind ? 1U : 0U;
    findings.hosts_with_pauses += pauses ? 1U : 0U;
}

bool is_burst(record::CounterMeaning meaning) {
    return meaning == record::CounterMeaning::resent_burst || meaning == record::CounterMeaning::timed_out;
}

std::string kind_text(const CounterKind& kind) {
    const bool time = kind.meaning == record::CounterMeaning::pause_received_us ||
                      kind.meaning == record::CounterMeaning::pause_sent_us;
    const auto number = [&](std::uint64_t count) {
        return time ? files::seconds_text(static_cast<double>(count) * 1e-6) : fmt::format("{}", count);
    };
    const std::string amount = fmt::format("{}{}{}", number(kind.sum), time ? " of " : " ", kind.name);
    const char* bursts = is_burst(kind.meaning) && kind.sum > 0 ? "each for a burst, " : "";
    const char* partial = kind.is_partial ? ", in part of the run" : "";
    return kind.most == kind.sum ? fmt::format("{} ({}on {}{})", amount, bursts, kind.most_host, partial)
                                 : fmt::format("{} ({}most on {}: {}{})", amount, bursts, kind.most_host,
                                               number(kind.most), partial);
}

}  // namespace

bool NetworkFindings::counted(record::CounterMeaning meaning) const {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const CounterKind& kind) { return kind.meaning == meaning; });
}

std::uint64_t NetworkFindings::least(const CounterKind& kind) const {
    return is_burst(kind.meaning) ? least_count : std::max(least_count, packets / packets_per_count);
}

std::string NetworkFindings::listed(std::initializer_list<record::CounterMeaning> meanings, bool few) const {
    std::vector<std::string> texts;
    for (const CounterKind& kind : kinds) {
        if (kind.sum >= (few ? 1 : least(kind)) &&
            std::find(meanings.begin(), meanings.end(), kind.meaning) != meanings.end()) {
            texts.push_back(kind_text(kind));
        }
    }
    const std::size_t left = texts.size() - std::min(texts.size(), kinds_named);
    texts.resize(texts.size() - left);
    return fmt::format("{}{}", fmt::join(texts, ", "),
                       left > 0 ? fmt::format(" and {}", files::counted(left, "other kind")) : std::string{});
}

bool NetworkFindings::unknown_trouble() const {
    return std::any_of(unknown.begin(), unknown.end(), [&](const UnknownCounter& counter) {
        return counter.sounds_like_trouble &&
               counter.sum >= std::max(least_count, packets / packets_per_count);
    });
}

std::string NetworkFindings::gaps_text() const {
    std::vector<std::string> texts;
    std::transform(gaps.begin(),
                   gaps.begin() + static_cast<std::ptrdiff_t>(std::min(gaps.size(), kinds_named)),
                   std::back_inserter(texts), gap_text);
    if (gaps.size() > texts.size()) {
        texts.push_back(fmt::format("and {}", files::counted(gaps.size() - texts.size(), "other gap")));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string NetworkFindings::unknown_text() const {
    if (unknown.empty()) {
        return {};
    }
    std::set<std::string> devices;
    std::set<std::string> on_hosts;
    std::vector<std::string> names;
    for (const UnknownCounter& counter : unknown) {
        devices.insert(counter.devices.begin(), counter.devices.end());
        on_hosts.insert(counter.hosts.begin(), counter.hosts.end());
        if (names.size() < kinds_named) {
            names.push_back(fmt::format("{} {}", counter.sum, counter.name));
        }
    }
    const auto only = [](const std::set<std::string>& all, const char* what) {
        return all.size() == 1 ? *all.begin() : files::counted(all.size(), what);
    };
    const std::size_t left = unknown.size() - names.size();
    return fmt::format("{} of {} on {} moved whose meaning is not known: {}{}",
                       files::counted(unknown.size(), "counter"), only(devices, "device"),
                       only(on_hosts, "host"), fmt::join(names, ", "),
                       left > 0 ? fmt::format(" and {}", files::counted(left, "other")) : std::string{});
}

std::string NetworkFindings::worst_host(std::initializer_list<record::CounterMeaning> meanings) const {
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const CounterKind& kind) {
        return kind.sum >= least(kind) &&
               std::find(meanings.begin(), meanings.end(), kind.meaning) != meanings.end();
    });
    return found == kinds.end() ? std::string{} : found->most_host;
}

std::optional<double> NetworkFindings::share_of(record::CounterMeaning meaning) const {
    if (packets == 0) {
        return std::nullopt;
    }
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const CounterKind& kind) { return kind.meaning == meaning; });
    const double sum = found == kinds.end() ? 0 : static_cast<double>(found->sum);
    return std::min(1.0, sum / static_cast<double>(packets));
}

namespace {

/// A NAK or a gap shows that a packet was lost. Where there were none, a packet that timed out may have been
/// the last one of what was sent; then it does not come twice.
bool only_waited(const NetworkFindings& findings) {
    using Meaning = record::CounterMeaning;
    std::uint64_t timed_out = 0;
    std::uint64_t twice = 0;
    std::uint64_t lost = 0;
    for (const CounterKind& kind : findings.kinds) {
        timed_out += kind.meaning == Meaning::timed_out ? kind.sum : 0;
        twice += kind.meaning == Meaning::received_twice ? kind.sum : 0;
        lost += record::shows_losses(kind.meaning) ? kind.sum : 0;
    }
    lost -= timed_out;
    return timed_out > 0 && twice * 2 >= timed_out && lost < least_count && findings.counted(Meaning::resent);
}

}  // namespace

NetworkFindings find_in_counters(std::span<const record::HostCounters> hosts, bool datagrams) {
    NetworkFindings findings;
    Kinds kinds;
    for (const record::HostCounters& host : hosts) {
        if (host.handed_in && host.seconds > 0) {
            add_host(host, datagrams, kinds, findings);
        }
    }
    for (auto& [name, kind] : kinds.known) {
        kind.name = name;
        findings.kinds.push_back(std::move(kind));
    }
    for (auto& [name, counter] : kinds.unknown) {
        counter.name = name;
        findings.unknown.push_back(std::move(counter));
    }
    std::stable_sort(findings.unknown.begin(), findings.unknown.end(), [](const auto& a, const auto& b) {
        return std::tie(b.sounds_like_trouble, b.sum) < std::tie(a.sounds_like_trouble, a.sum);
    });
    std::stable_sort(findings.kinds.begin(), findings.kinds.end(),
                     [](const CounterKind& a, const CounterKind& b) { return a.sum > b.sum; });
    findings.waited_too_long = only_waited(findings);
    return findings;
}

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
    const std::string of_speed =
        busiest->speed
            ? fmt::format("{} of its {}", files::percent(busiest->share()), files::rate_text(*busiest->speed))
            : std::string{"and its speed is not known"};
    return {.text = fmt::format("the busiest interface, {} {}, {}", busiest->name,
                                files::rate_text(busiest->bits_per_second), of_speed),
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
