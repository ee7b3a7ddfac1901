#include "host/probe.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "files/json.hpp"
#include "record/quantiles.hpp"

namespace weir::host {

namespace {

/// Below this, what starting a round takes hides the rate; above, nothing more is learned.
constexpr auto shortest_slice = core::Duration::milliseconds(20);
constexpr auto longest_slice = core::Duration::milliseconds(500);

constexpr std::array<std::string_view, 6> memory_transports{"posix", "sysv", "cma", "knem", "xpmem", "self"};

bool begins_with_any(std::string_view lane, auto& transports) {
    return std::any_of(transports.begin(), transports.end(), [&](std::string_view transport) {
        return lane.starts_with(transport) && lane.size() > transport.size() &&
               (lane[transport.size()] == '/' || lane[transport.size()] == '_');
    });
}

void enter(std::vector<std::string>& lanes, std::string_view lane) {
    if (!lane.empty() && std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) {
        lanes.emplace_back(lane);
    }
}

/// Takes the lanes out of "tag(rc_verbs/rxe0:1 cma/memory) am(...)".
void take_lanes(std::string_view text, UcxLanes& lanes) {
    for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(')) {
        const std::size_t close = std::min(text.find(')', open), text.size());
        std::string_view inside = text.substr(open + 1, close - open - 1);
        while (!inside.empty()) {
            const std::string_view lane = inside.substr(0, inside.find(' '));
            inside.remove_prefix(std::min(lane.size() + 1, inside.size()));
            const bool memory = begins_with_any(lane, memory_transports);
            if (lane.find('/') != std::string_view::npos && !lane.starts_with("self/")) {
                enter(memory ? lanes.within : lanes.between, lane);
            }
        }
        text.remove_prefix(std::min(close + 1, text.size()));
    }
}

}  // namespace

ProbeRounds::ProbeRounds(std::uint32_t producers, std::uint32_t consumers, core::Duration time)
    : producers_(producers), consumers_(consumers) {
    const std::uint32_t more = std::max(producers, consumers);
    const std::uint32_t fewer = std::min(producers, consumers);
    if (fewer == 0) {
        return;
    }
    // Producer p meets consumer (p + offset) modulo the larger number. Offsets in steps of the smaller number
    // touch new nodes each time.
    for (std::uint32_t first = 0; first < fewer; ++first) {
        for (std::uint64_t offset = first; offset < more; offset += fewer) {
            offsets_.push_back(static_cast<std::uint32_t>(offset));
        }
    }
    const std::size_t touching_all = (more + fewer - 1) / fewer;
    const auto fitting = static_cast<std::size_t>(std::max<std::int64_t>(0, time.ns / shortest_slice.ns));
    offsets_.resize(std::min(offsets_.size(), std::max(touching_all, fitting)));
    slice_ = std::clamp(core::Duration{time.ns / static_cast<std::int64_t>(offsets_.size())}, shortest_slice,
                        longest_slice);
    for (std::size_t round = 0; round < count(); ++round) {
        for (std::uint32_t producer = 0; producer < producers_; ++producer) {
            pairs_ += consumer_of(round, producer) ? 1 : 0;
        }
    }
}

std::optional<std::uint32_t> ProbeRounds::consumer_of(std::size_t round, std::uint32_t producer) const {
    const std::uint64_t more = std::max(producers_, consumers_);
    const auto consumer = static_cast<std::uint32_t>((producer + std::uint64_t{offsets_[round]}) % more);
    return consumer < consumers_ ? std::optional(consumer) : std::nullopt;
}

std::optional<std::uint32_t> ProbeRounds::producer_of(std::size_t round, std::uint32_t consumer) const {
    const std::uint64_t more = std::max(producers_, consumers_);
    const auto producer = static_cast<std::uint32_t>((consumer + more - offsets_[round]) % more);
    return producer < producers_ ? std::optional(producer) : std::nullopt;
}

UcxLanes lanes_in(std::string_view log) {
    UcxLanes lanes;
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(line.size() + 1, log.size()));
        const std::size_t older = line.find("ep_cfg[");
        const std::size_t newer = line.find("cfg#");
        const std::size_t begin = older != std::string_view::npos ? older : newer;
        if (begin != std::string_view::npos) {
            take_lanes(line.substr(begin), lanes);
        }
    }
    return lanes;
}

bool is_rdma_lane(std::string_view lane) {
    constexpr std::array<std::string_view, 3> transports{"rc", "ud", "dc"};
    return begins_with_any(lane, transports);
}

ProbeSummary summary_of(const ProbeResult& probe) {
    ProbeSummary summary;
    std::vector<double> rates;
    std::vector<double> round_trips;
    for (std::size_t place = 0; place < probe.pairs.size(); ++place) {
        const PairProbe& pair = probe.pairs[place];
        if (!pair.reached) {
            continue;
        }
        ++summary.reached;
        if (rates.empty() || pair.bits_per_second < summary.slowest_bits_per_second) {
            summary.slowest_bits_per_second = pair.bits_per_second;
            summary.slowest_pair = place;
        }
        rates.push_back(pair.bits_per_second);
        round_trips.push_back(pair.round_trip_us);
    }
    if (!rates.empty()) {
        summary.fastest_bits_per_second = *std::max_element(rates.begin(), rates.end());
        summary.longest_round_trip_us = *std::max_element(round_trips.begin(), round_trips.end());
        summary.median_bits_per_second = record::median_of(rates);
        summary.median_round_trip_us = record::median_of(round_trips);
    }
    return summary;
}

nlohmann::json to_json(const ProbeResult& probe) {
    nlohmann::json pairs = nlohmann::json::array();
    for (const PairProbe& pair : probe.pairs) {
        auto entry = files::json_of<nlohmann::json>(pair);
        for (const char* measured : {"round_trip_us", "bits_per_second", "bytes"}) {
            if (!pair.reached) {
                entry.erase(measured);
            }
        }
        pairs.push_back(std::move(entry));
    }
    nlohmann::json hosts = nlohmann::json::array();
    for (const HostProbe& host : probe.hosts) {
        nlohmann::json counters = nlohmann::json::object();
        for (const CounterRise& counter : host.counters) {
            if (counter.rise > 0) {
                counters[counter.column] = counter.rise;
            }
        }
        hosts.push_back({{"host", host.host},
                         {"message_layer", host.message_layer},
                         {"transports_within_host", host.lanes.within},
                         {"transports_between_hosts", host.lanes.between},
                         {"counters", std::move(counters)},
                         {"listening", host.listening}});
    }
    return {{"pairs", std::move(pairs)},
            {"pairs_planned", probe.all_pairs},
            {"hosts", std::move(hosts)},
            {"stopped", probe.stopped.empty() ? nlohmann::json(nullptr) : nlohmann::json(probe.stopped)}};
}

CounterRises::CounterRises(std::string root, std::unique_ptr<KernelCalls> calls)
    : root_(std::move(root)),
      calls_(std::move(calls)),
      table_(CounterTable::of_host(root_, *calls_)),
      before_(priorities()) {
    table_.read();
}

std::vector<CounterRises::ByPriority> CounterRises::priorities() const {
    std::vector<ByPriority> all;
    for (const std::string& interface : interfaces_in_use(root_).names) {
        ByPriority one{.interface = interface, .names = {}, .values = {}};
        const auto names = calls_->driver_counter_names(interface);
        const auto values = calls_->driver_counters(interface);
        for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
            if (counted_priority(names[i], "tx") || counted_priority(names[i], "rx")) {
                one.names.push_back(names[i]);
                one.values.push_back(values[i]);
            }
        }
        all.push_back(std::move(one));
    }
    return all;
}

std::vector<CounterRise> CounterRises::since() {
    std::vector<CounterRise> rises;
    const auto values = table_.read();
    for (std::size_t i = 0; i < values.size() && i < table_.columns().size(); ++i) {
        if (values[i]) {
            rises.push_back({table_.columns()[i], *values[i]});
        }
    }
    const auto now = priorities();
    for (std::size_t i = 0; i < now.size() && i < before_.size(); ++i) {
        if (now[i].interface != before_[i].interface || now[i].names != before_[i].names) {
            continue;
        }
        for (std::size_t j = 0; j < now[i].names.size(); ++j) {
            if (now[i].values[j] >= before_[i].values[j]) {
                rises.push_back(
                    {now[i].interface + "." + now[i].names[j], now[i].values[j] - before_[i].values[j]});
            }
        }
    }
    return rises;
}

static void each_field(files::MaybeConst<CounterRise> auto& counter, auto&& visit) {
    visit("column", counter.column);
    visit("rise", counter.rise);
}

static void each_field(files::MaybeConst<HostProbe> auto& host, auto&& visit) {
    visit("host", host.host);
    visit("layer", host.message_layer);
    visit("within", host.lanes.within);
    visit("between", host.lanes.between);
    visit("counters", host.counters);
    visit("listening", host.listening);
}

std::string encode_host_probe(const HostProbe& host) {
    return files::json_text(files::json_of<nlohmann::ordered_json>(host));
}

HostProbe decode_host_probe(const std::string& text) {
    return files::checked<HostProbe>(files::parse_json(text));
}

std::optional<int> counted_priority(std::string_view name, std::string_view direction) {
    const auto digit = [](char letter) -> std::optional<int> {
        return letter >= '0' && letter <= '7' ? std::optional(letter - '0') : std::nullopt;
    };
    constexpr std::string_view mlx5 = "_prio";
    constexpr std::string_view mlx5_end = "_bytes";
    constexpr std::string_view bnxt = "_bytes_pri";
    if (!name.starts_with(direction)) {
        return std::nullopt;
    }
    const std::string_view rest = name.substr(direction.size());
    if (rest.starts_with(mlx5) && rest.ends_with(mlx5_end) &&
        rest.size() == mlx5.size() + 1 + mlx5_end.size()) {
        return digit(rest[mlx5.size()]);
    }
    if (rest.starts_with(bnxt) && rest.size() == bnxt.size() + 1) {
        return digit(rest.back());
    }
    return std::nullopt;
}

}  // namespace weir::host
