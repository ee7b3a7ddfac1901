#include "simulation/separate_control.hpp"

#include <algorithm>
#include <limits>

namespace weir::simulation {

using core::BitRate;
using core::Duration;
using core::Instant;

namespace {

/// About what cables of 20 m differ by.
constexpr std::uint64_t most_path_delay_ns = 100;

}  // namespace

SeparateControl::SeparateControl(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                                 NetworkClient& client)
    : row_{plan.producers, plan.consumers},
      latency_(network.latency),
      events_(events),
      client_(client),
      seed_(plan.seed),
      breaks_ties_(network.model == core::NetworkModel::fluid && plan.consumers_grant() &&
                   !plan.addressed() && plan.order != core::SendOrder::barrel && plan.producers > 1 &&
                   plan.streams < plan.consumers),
      results_left_(row_.size(), Instant{std::numeric_limits<std::int64_t>::min()}) {
    payload_rates_.push_back(
        core::payload_rate(network, std::max(network.producer_link, network.consumer_link)));
    for (const BitRate link : core::producer_links(network, plan.producers)) {
        payload_rates_.push_back(core::payload_rate(network, link));
    }
    for (const BitRate link : core::consumer_links(network, plan.consumers)) {
        payload_rates_.push_back(core::payload_rate(network, link));
    }
    times_.resize(payload_rates_.size());
}

void SeparateControl::send_message(Instant now, FlatNode from, FlatNode to, core::Bytes bytes,
                                   std::uint32_t handle) {
    if (bytes != timed_bytes_) {
        timed_bytes_ = bytes;
        std::transform(payload_rates_.begin(), payload_rates_.end(), times_.begin(),
                       [&](BitRate rate) { return core::time_for(rate, bytes); });
    }
    const Instant begin = to == 0 ? std::max(now, results_left_[from]) : now;
    push_message(begin + latency_ + std::max(times_[from], times_[to]) + path_delay(from, to), from, to,
                 handle);
}

core::Duration SeparateControl::path_delay(FlatNode from, FlatNode to) const {
    if (!breaks_ties_ || from == 0 || to == 0) {
        return {};
    }
    core::Random random(
        seed_, core::random_stream(core::RandomPurpose::delay, row_.identity(from), row_.identity(to), 1));
    return Duration{static_cast<std::int64_t>(random.below(most_path_delay_ns))};
}

void SeparateControl::push_message(Instant arrival, FlatNode from, FlatNode to, std::uint32_t handle) {
    if (keeps_order_) {
        const auto stream = [&] {
            return core::random_stream(core::RandomPurpose::delay, row_.identity(from), row_.identity(to));
        };
        const std::uint64_t key = (std::uint64_t{from} << 32U) | to;
        auto found = pairs_.find(key);
        if (found == pairs_.end()) {
            found = pairs_.emplace(key, Pair{core::Random(seed_, stream()), arrival}).first;
        }
        Pair& pair = found->second;
        arrival = arrival + Duration{static_cast<std::int64_t>(
                                pair.delays.below(static_cast<std::uint64_t>(extra_delay_.ns) + 1))};
        pair.last_arrival = arrival = std::max(arrival, pair.last_arrival);
    }
    push(arrival, message, handle);
}

void SeparateControl::send_result(Instant now, FlatNode from, core::Bytes bytes, std::uint32_t handle) {
    Instant& left = results_left_[from];
    left = std::max(now, left) + core::time_for(payload_rates_[from], bytes);
    push(left + latency_, message, handle);
}

void SeparateControl::set_extra_delay(Duration most) {
    extra_delay_ = most;
    keeps_order_ = keeps_order_ || most > Duration{};
}

}  // namespace weir::simulation
