#include "core/traffic_plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace weir::core {

namespace {

/// Where each index begins in a list that is ordered by index: a count of each, made into sums.
std::vector<std::uint32_t> begins(std::vector<std::uint32_t> counts) {
    std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), 0U);
    return counts;
}

}  // namespace

TrafficPlan::TrafficPlan(std::uint32_t producers, std::uint32_t consumers, std::vector<TrafficPhase> phases,
                         std::vector<Entry> entries, bool is_trace,
                         const std::vector<Dependency>& dependencies, std::vector<Collective> collectives)
    : is_trace_(is_trace),
      phases_(std::move(phases)),
      collectives_(std::move(collectives)),
      set_bytes_(producers),
      received_(consumers) {
    WEIR_ASSERT(producers > 0 && consumers > 0);
    WEIR_ASSERT(collectives_.empty() || collectives_.size() == phases_.size());
    std::vector<std::pair<Entry, Entry>> of_entries;  // before they are put in order
    of_entries.reserve(dependencies.size());
    for (const Dependency& dependency : dependencies) {
        of_entries.emplace_back(entries.at(dependency.transfer), entries.at(dependency.input));
    }
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
    if (!dependencies.empty()) {
        order_inputs(of_entries, dependencies);
    }
}

std::optional<std::uint32_t> TrafficPlan::find_incoming(ConsumerId consumer, ProducerId from,
                                                        Duration at) const {
    const std::span<const Incoming> incoming = to(consumer);
    const auto place = [](const Incoming& transfer) { return std::pair(transfer.from, transfer.at); };
    const auto found =
        std::lower_bound(incoming.begin(), incoming.end(), std::pair(from, at),
                         [&](const Incoming& transfer, const auto& key) { return place(transfer) < key; });
    if (found == incoming.end() || place(*found) != std::pair(from, at)) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(found - incoming.begin());
}

void TrafficPlan::order_inputs(const std::vector<std::pair<Entry, Entry>>& of_entries,
                               const std::vector<Dependency>& dependencies) {
    std::vector<std::pair<ProducerId, Input>> found;
    found.reserve(of_entries.size());
    std::vector<std::uint32_t> counts(set_bytes_.size() + 1);
    for (std::size_t i = 0; i < of_entries.size(); ++i) {
        const auto& [waits, input] = of_entries[i];
        WEIR_ASSERT(input.transfer.to.value == waits.from.value);
        const std::span<const AddressedTransfer> sent = of(waits.from);
        const auto at_that_time =
            std::lower_bound(sent.begin(), sent.end(), waits.transfer.at,
                             [](const AddressedTransfer& other, Duration at) { return other.at < at; });
        const auto transfer =
            std::find_if(at_that_time, sent.end(),
                         [to = waits.transfer.to](const AddressedTransfer& other) { return other.to == to; });
        const auto incoming = find_incoming(input.transfer.to, input.from, input.transfer.at);
        found.emplace_back(waits.from,
                           Input{incoming.value(), static_cast<std::uint32_t>(transfer - sent.begin()),
                                 dependencies[i].compute});
        ++counts[waits.from.value];
    }
    std::sort(found.begin(), found.end());
    inputs_.reserve(found.size());
    for (const auto& [producer, input] : found) {
        inputs_.push_back(input);
    }
    first_input_ = begins(std::move(counts));
}

std::span<const TrafficPlan::Input> TrafficPlan::waiting_for(ProducerId producer,
                                                             std::uint32_t incoming) const {
    const std::span<const Input> inputs = inputs_of(producer);
    const auto [first, last] =
        std::equal_range(inputs.begin(), inputs.end(), Input{.incoming = incoming, .compute = {}},
                         [](const Input& a, const Input& b) { return a.incoming < b.incoming; });
    return inputs.subspan(static_cast<std::size_t>(first - inputs.begin()),
                          static_cast<std::size_t>(last - first));
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
