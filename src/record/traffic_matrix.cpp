#include "record/traffic_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/assertion.hpp"
#include "files/whole_file.hpp"

namespace weir::record {

std::vector<ProducerTraffic> traffic_entries(std::span<const core::Traffic> by_producer) {
    std::vector<ProducerTraffic> entries;
    // Exactly as many as needed: there may be thousands of consumers in this process.
    entries.reserve(static_cast<std::size_t>(
        std::count_if(by_producer.begin(), by_producer.end(),
                      [](const core::Traffic& traffic) { return traffic.events > 0; })));
    for (std::uint32_t producer = 0; producer < by_producer.size(); ++producer) {
        if (by_producer[producer].events > 0) {
            entries.push_back({.producer = producer, .traffic = by_producer[producer]});
        }
    }
    return entries;
}

bool is_traffic(std::span<const ProducerTraffic> entries) {
    const bool each = std::all_of(entries.begin(), entries.end(), [](const ProducerTraffic& entry) {
        return entry.reserved == 0 && entry.traffic.events > 0 && entry.traffic.bytes > core::Bytes{0};
    });
    const auto not_ascending = [](const ProducerTraffic& a, const ProducerTraffic& b) {
        return a.producer >= b.producer;
    };
    return each && std::adjacent_find(entries.begin(), entries.end(), not_ascending) == entries.end();
}

void add_transfer(std::vector<PairTime>& times, std::uint32_t consumer, core::Duration under_way) {
    auto found = std::lower_bound(times.begin(), times.end(), consumer,
                                  [](const PairTime& time, std::uint32_t to) { return time.consumer < to; });
    if (found == times.end() || found->consumer != consumer) {
        found = times.insert(found, {.consumer = consumer, .transfers = 0, .under_way = {}});
    }
    ++found->transfers;
    found->under_way += under_way;
}

bool is_pair_times(std::span<const PairTime> times) {
    const auto not_ascending = [](const PairTime& a, const PairTime& b) { return a.consumer >= b.consumer; };
    return std::adjacent_find(times.begin(), times.end(), not_ascending) == times.end();
}

void TrafficMatrix::set(core::ConsumerId consumer, std::vector<ProducerTraffic> entries) {
    WEIR_ASSERT(is_traffic(entries));
    if (entries_.size() <= consumer.value) {
        entries_.resize(std::size_t{consumer.value} + 1);
    }
    entries_[consumer.value] = std::move(entries);
}

void TrafficMatrix::set_times(core::ProducerId producer, std::vector<PairTime> times) {
    WEIR_ASSERT(is_pair_times(times));
    if (times_.size() <= producer.value) {
        times_.resize(std::size_t{producer.value} + 1);
    }
    times_[producer.value] = std::move(times);
}

core::Duration TrafficMatrix::under_way(core::ProducerId producer, core::ConsumerId consumer) const {
    if (producer.value >= times_.size()) {
        return {};
    }
    const std::vector<PairTime>& times = times_[producer.value];
    const auto found =
        std::lower_bound(times.begin(), times.end(), consumer.value,
                         [](const PairTime& time, std::uint32_t to) { return time.consumer < to; });
    return found != times.end() && found->consumer == consumer.value ? found->under_way : core::Duration{};
}

std::span<const ProducerTraffic> TrafficMatrix::of(core::ConsumerId consumer) const {
    return consumer.value < entries_.size() ? std::span(entries_[consumer.value])
                                            : std::span<const ProducerTraffic>();
}

files::MaybeIoError write_traffic_csv(const std::string& path, const TrafficMatrix& matrix) {
    files::WholeFile file(path);
    file.put("producer,consumer,received_events,received_bytes,under_way_s\n");
    // Consumers have their entries sorted: a round for each producer takes from every consumer the next one
    // or none, and the file needs no copy of the matrix in its own order.
    std::vector<std::size_t> next(matrix.consumers());
    for (std::optional<std::uint32_t> producer = 0; producer;) {
        std::optional<std::uint32_t> following;
        for (std::uint32_t consumer = 0; consumer < matrix.consumers(); ++consumer) {
            const auto entries = matrix.of(core::ConsumerId{consumer});
            std::size_t& place = next[consumer];
            if (place < entries.size() && entries[place].producer == *producer) {
                const core::Traffic& traffic = entries[place].traffic;
                file.put(fmt::format("{},{},{},{},{:.6f}\n", *producer, consumer, traffic.events,
                                     traffic.bytes.count,
                                     matrix.under_way({*producer}, {consumer}).in_seconds()));
                ++place;
            }
            if (place < entries.size()) {
                following = std::min(following.value_or(entries[place].producer), entries[place].producer);
            }
        }
        producer = following;
    }
    return file.finish();
}

}  // namespace weir::record
