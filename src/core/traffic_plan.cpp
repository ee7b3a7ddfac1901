#include "core/traffic_plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/assertion.hpp"

namespace weir::core {

namespace {

/// Where each index begins in a list that is ordered by index: a count of each, made into sums.
std::vector<std::uint32_t> begins(std::vector<std::uint32_t> counts) {
    std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), 0U);
    return counts;
}

}  // namespace

TrafficPlan::TrafficPlan(std::uint32_t producers, std::uint32_t consumers, std::vector<TrafficPhase> phases,
                         std::vector<Entry> entries, bool is_trace)
    : is_trace_(is_trace), phases_(std::move(phases)), set_bytes_(producers), received_(consumers) {
    WEIR_ASSERT(producers > 0 && consumers > 0);
    const auto place = [&](const Entry& entry) {
        const std::uint32_t shift = (entry.from.value + 1) % consumers;
        const std::uint32_t turn = (entry.transfer.to.value + consumers - shift) % consumers;
        return std::tuple(entry.from, entry.transfer.at, turn);
    };
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
    std::vector<std::uint32_t> counts(std::size_t{producers} + 1);
    transfers_.reserve(entries.size());
    for (const auto& [from, transfer] : entries) {
        WEIR_ASSERT(from.value < producers && transfer.to.value < consumers && transfer.bytes > Bytes{0});
        WEIR_ASSERT(transfer.phase < phases_.size() && transfer.at >= Duration{});
        transfers_.push_back(transfer);
        ++counts[from.value];
        set_bytes_[from.value] += transfer.bytes;
        received_[transfer.to.value] += transfer.bytes;
    }
    first_transfer_ = begins(std::move(counts));
    number_pairs(entries);
    order_by_consumer(entries);
}

void TrafficPlan::order_by_consumer(std::vector<Entry>& entries) {
    const auto place = [](const Entry& entry) {
        return std::tuple(entry.transfer.to, entry.from, entry.transfer.at);
    };
    std::sort(entries.begin(), entries.end(),
              [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
    std::vector<std::uint32_t> counts(received_.size() + 1);
    incoming_.reserve(entries.size());
    for (const auto& [from, transfer] : entries) {
        incoming_.push_back({from, transfer.phase, transfer.at, transfer.bytes});
        ++counts[transfer.to.value];
    }
    first_incoming_ = begins(std::move(counts));
}

void TrafficPlan::number_pairs(const std::vector<Entry>& entries) {
    std::vector<std::pair<ProducerId, ConsumerId>> pairs;
    pairs.reserve(entries.size());
    for (const auto& [from, transfer] : entries) {
        pairs.emplace_back(from, transfer.to);
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    std::vector<std::uint32_t> by_producer(set_bytes_.size() + 1);
    std::vector<std::uint32_t> by_consumer(received_.size() + 1);
    receivers_.reserve(pairs.size());
    for (const auto& [producer, consumer] : pairs) {
        receivers_.push_back(consumer);
        ++by_producer[producer.value];
        ++by_consumer[consumer.value];
    }
    first_pair_ = begins(std::move(by_producer));
    first_sender_ = begins(std::move(by_consumer));
    senders_.resize(pairs.size());
    std::vector<std::uint32_t> next = first_sender_;
    for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) {
        senders_[next[pairs[pair].second.value]++] = {pairs[pair].first, pair};
    }
}

std::optional<std::uint32_t> TrafficPlan::pair(ProducerId producer, ConsumerId consumer) const {
    const std::span<const ConsumerId> receivers = receivers_of(producer);
    const std::uint32_t first = first_pair(producer);
    if (receivers.size() == consumers()) {
        return first + consumer.value;
    }
    const auto found = std::lower_bound(receivers.begin(), receivers.end(), consumer);
    if (found == receivers.end() || *found != consumer) {
        return std::nullopt;
    }
    return first + static_cast<std::uint32_t>(found - receivers.begin());
}

Bytes TrafficPlan::first_bytes(ProducerId producer) const {
    Bytes bytes;
    for (const AddressedTransfer& transfer : of(producer)) {
        bytes += transfer.at == Duration{} ? transfer.bytes : Bytes{};
    }
    return bytes;
}

Bytes TrafficPlan::largest_set() const {
    return *std::max_element(set_bytes_.begin(), set_bytes_.end());
}

Bytes TrafficPlan::most_received() const {
    return *std::max_element(received_.begin(), received_.end());
}

Bytes TrafficPlan::total() const {
    return std::accumulate(set_bytes_.begin(), set_bytes_.end(), Bytes{});
}

Bytes TrafficPlan::largest_transfer() const {
    Bytes largest;
    for (const AddressedTransfer& transfer : transfers_) {
        largest = std::max(largest, transfer.bytes);
    }
    return largest;
}

Duration TrafficPlan::last_at() const {
    Duration last;
    for (std::uint32_t producer = 0; producer < producers(); ++producer) {
        last = std::max(last, last_at(ProducerId{producer}));
    }
    return last;
}

}  // namespace weir::core
