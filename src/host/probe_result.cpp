#include "host/probe_result.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weir::host {

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
        const auto median = [](std::vector<double>& values) {
            const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
            std::nth_element(values.begin(), middle, values.end());
            return *middle;
        };
        summary.fastest_bits_per_second = *std::max_element(rates.begin(), rates.end());
        summary.longest_round_trip_us = *std::max_element(round_trips.begin(), round_trips.end());
        summary.median_bits_per_second = median(rates);
        summary.median_round_trip_us = median(round_trips);
    }
    return summary;
}

nlohmann::json to_json(const ProbeResult& probe) {
    nlohmann::json pairs = nlohmann::json::array();
    for (const PairProbe& pair : probe.pairs) {
        nlohmann::json entry{{"producer", pair.producer},
                             {"consumer", pair.consumer},
                             {"producer_host", pair.producer_host},
                             {"consumer_host", pair.consumer_host},
                             {"reached", pair.reached}};
        if (pair.reached) {
            entry["round_trip_us"] = pair.round_trip_us;
            entry["bits_per_second"] = pair.bits_per_second;
            entry["bytes"] = pair.bytes;
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
                         {"counters", std::move(counters)}});
    }
    return {{"pairs", std::move(pairs)},
            {"pairs_planned", probe.all_pairs},
            {"hosts", std::move(hosts)},
            {"stopped", probe.stopped.empty() ? nlohmann::json(nullptr) : nlohmann::json(probe.stopped)}};
}

}  // namespace weir::host
