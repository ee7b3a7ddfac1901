#include "telemetry/network_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "telemetry/counter_meaning.hpp"
#include "telemetry/text.hpp"

namespace weir::telemetry {

namespace {

constexpr std::uint64_t least_count = 10;
constexpr std::uint64_t packets_per_count = 1000000;
/// Of the payload, at least one part in so many must have come through interfaces.
constexpr std::uint64_t payload_parts = 100;
constexpr std::size_t kinds_named = 3;

/// One kind of counter, over all hosts and devices.
struct Kind {
    std::string name;
    CounterMeaning meaning = CounterMeaning::none;
    std::uint64_t sum = 0;
    std::uint64_t most = 0;  ///< on one host
    std::string most_host;
};

/// A protocol's counters keep their source, a device's are the same on every device.
std::string kind_name(std::string_view column) {
    constexpr std::string_view protocols[] = {"tcp", "udp", "ip", "softnet"};
    const bool protocol =
        std::find(std::begin(protocols), std::end(protocols), source_of(column)) != std::end(protocols);
    return std::string(protocol ? column : counter_of(column));
}

struct Findings {
    std::vector<Kind> kinds;  ///< with a meaning; the largest sums first
    std::size_t hosts = 0;    ///< that handed in
    std::size_t counters = 0;
    std::size_t hosts_with_losses = 0;  ///< that count losses at all
    std::size_t hosts_with_pauses = 0;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    bool bytes_known = true;  ///< all devices of all hosts count bytes
};

/// The hosts' largest sum over sources of one counter: interfaces, RDMA ports and IP count the same traffic.
std::uint64_t largest_sum(const HostCounters& host, CounterMeaning meaning) {
    std::map<std::string, std::uint64_t> by_name;
    for (const CounterSum& counter : host.sums) {
        if (meaning_of(counter.column) == meaning) {
            by_name[kind_name(counter.column)] += counter.sum.value_or(0);
        }
    }
    std::uint64_t largest = 0;
    for (const auto& [name, sum] : by_name) {
        largest = std::max(largest, sum);
    }
    return largest;
}

/// Whether each device of the host counts the bytes it receives.
bool counts_all_bytes(const HostCounters& host) {
    std::set<std::string_view> devices;
    std::set<std::string_view> counting = {"tcp", "udp", "ip", "softnet"};
    for (const CounterSum& counter : host.sums) {
        const std::string_view source = source_of(counter.column);
        devices.insert(source);
        if (meaning_of(counter.column) == CounterMeaning::received_bytes) {
            counting.insert(source);
        }
    }
    return std::includes(counting.begin(), counting.end(), devices.begin(), devices.end());
}

void add_host(const HostCounters& host, bool datagrams, std::map<std::string, Kind>& kinds,
              Findings& findings) {
    ++findings.hosts;
    findings.counters += host.sums.size();
    findings.packets += largest_sum(host, CounterMeaning::received_packets);
    findings.bytes += largest_sum(host, CounterMeaning::received_bytes);
    findings.bytes_known = findings.bytes_known && counts_all_bytes(host);
    std::map<std::string, std::uint64_t> here;
    bool losses = false;
    bool pauses = false;
    for (const CounterSum& counter : host.sums) {
        const CounterMeaning meaning = meaning_of(counter.column);
        const bool told_elsewhere =
            datagrams && (source_of(counter.column) == "udp" || counter.column == "ip.reassembly_failures");
        if (meaning == CounterMeaning::none || !counter.sum || told_elsewhere) {
            continue;
        }
        losses = losses || meaning == CounterMeaning::lost;
        pauses = pauses || meaning == CounterMeaning::pause_received || meaning == CounterMeaning::pause_sent;
        Kind& kind = kinds[kind_name(counter.column)];
        kind.meaning = meaning;
        kind.sum += *counter.sum;
        const std::uint64_t on_host = here[kind_name(counter.column)] += *counter.sum;
        if (on_host > kind.most) {
            kind.most = on_host;
            kind.most_host = host.host;
        }
    }
    findings.hosts_with_losses += losses ? 1U : 0U;
    findings.hosts_with_pauses += pauses ? 1U : 0U;
}

Findings find(std::span<const HostCounters> hosts, bool datagrams) {
    Findings findings;
    std::map<std::string, Kind> kinds;
    for (const HostCounters& host : hosts) {
        if (host.handed_in && host.seconds > 0) {
            add_host(host, datagrams, kinds, findings);
        }
    }
    for (auto& [name, kind] : kinds) {
        kind.name = name;
        findings.kinds.push_back(std::move(kind));
    }
    std::stable_sort(findings.kinds.begin(), findings.kinds.end(),
                     [](const Kind& a, const Kind& b) { return a.sum > b.sum; });
    return findings;
}

std::string kind_text(const Kind& kind) {
    const std::string amount =
        kind.meaning == CounterMeaning::pause_microseconds
            ? fmt::format("{} of {}",
                          readable(core::Duration::microseconds(static_cast<std::int64_t>(kind.sum))),
                          kind.name)
            : fmt::format("{} {}", kind.sum, kind.name);
    return kind.most == kind.sum ? fmt::format("{} (on {})", amount, kind.most_host)
                                 : fmt::format("{} (most on {}: {})", amount, kind.most_host, kind.most);
}

/// The kinds with one of these meanings that counted at least `least`, as text; empty if there are none.
std::string listed(const Findings& findings, std::initializer_list<CounterMeaning> meanings,
                   std::uint64_t least) {
    std::vector<std::string> texts;
    for (const Kind& kind : findings.kinds) {
        if (kind.sum >= least &&
            std::find(meanings.begin(), meanings.end(), kind.meaning) != meanings.end()) {
            texts.push_back(kind_text(kind));
        }
    }
    const std::size_t left = texts.size() - std::min(texts.size(), kinds_named);
    texts.resize(texts.size() - left);
    return fmt::format("{}{}", fmt::join(texts, ", "),
                       left > 0 ? fmt::format(" and {}", counted(left, "other kind")) : std::string{});
}

std::string without_pause_counters(const Findings& findings) {
    const std::size_t blind = findings.hosts - findings.hosts_with_pauses;
    return blind == 0 ? ""
           : blind == findings.hosts
               ? "; pause frames are not counted here"
               : fmt::format("; pause frames are not counted on {} of {} hosts", blind, findings.hosts);
}

}  // namespace

const char* mechanism_name(NetworkMechanism mechanism) {
    switch (mechanism) {
        case NetworkMechanism::lossy:
            return "lossy";
        case NetworkMechanism::held_back_by_pfc:
            return "held_back_by_pfc";
        case NetworkMechanism::controlled_by_ecn:
            return "controlled_by_ecn";
        case NetworkMechanism::uncongested:
            return "uncongested";
        case NetworkMechanism::unknown:
            break;
    }
    return "unknown";
}

NetworkVerdict network_not_judged() {
    return {{NetworkMechanism::unknown},
            "unknown: hosts hand in their sums at a regular end; their files have the seconds"};
}

NetworkVerdict judge_network(std::span<const HostCounters> hosts, core::Bytes payload, bool datagrams) {
    const Findings findings = find(hosts, datagrams);
    if (findings.hosts_with_losses == 0) {
        return {{NetworkMechanism::unknown}, "unknown: no host has counters that would tell"};
    }
    const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(payload.count, 0)) / payload_parts;
    if (findings.bytes_known && findings.bytes < wanted) {
        return {
            {NetworkMechanism::unknown},
            fmt::format("unknown: interfaces took in {} of {} (ranks on one host go through its memory)",
                        readable(core::Bytes{static_cast<std::int64_t>(findings.bytes)}), readable(payload))};
    }
    const std::uint64_t least = std::max(least_count, findings.packets / packets_per_count);
    NetworkVerdict verdict;
    std::vector<std::string> parts;
    const auto look = [&](NetworkMechanism mechanism, const char* spoken,
                          std::initializer_list<CounterMeaning> meanings, const std::string& more = {}) {
        const std::string text = listed(findings, meanings, least);
        if (!text.empty()) {
            verdict.mechanisms.push_back(mechanism);
            parts.push_back(fmt::format("{}: {}{}{}", spoken, text, more.empty() ? "" : "; ", more));
        }
    };
    using Meaning = CounterMeaning;
    look(NetworkMechanism::lossy, "lossy", {Meaning::lost});
    look(NetworkMechanism::held_back_by_pfc, "held back by PFC",
         {Meaning::pause_received, Meaning::pause_sent},
         listed(findings, {Meaning::pause_microseconds}, least));
    look(NetworkMechanism::controlled_by_ecn, "controlled by ECN", {Meaning::marked});
    if (verdict.mechanisms.empty()) {
        verdict.mechanisms = {NetworkMechanism::uncongested};
        const std::string few = listed(
            findings, {Meaning::lost, Meaning::pause_received, Meaning::pause_sent, Meaning::marked}, 1);
        parts.push_back(fmt::format("uncongested: {} in {} of {}{}",
                                    few.empty() ? "no losses, pauses or marks" : "no more than " + few,
                                    counted(findings.counters, "counter"), counted(findings.hosts, "host"),
                                    without_pause_counters(findings)));
    }
    verdict.evidence = fmt::format("{}", fmt::join(parts, "; "));
    return verdict;
}

}  // namespace weir::telemetry
