// Control messages and results that do not share the links with data. A message takes the latency and its
// bytes on the slower of two links. Messages do not queue behind each other; results do, one after the other
// on their consumer's link, and messages that are sent behind a result arrive behind it. With extra delays,
// order between two nodes is kept explicitly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/random.hpp"
#include "simulation/network.hpp"

namespace weir::simulation {

class SeparateControl : public Network {
  public:
    void send_message(core::Instant now, FlatNode from, FlatNode to, core::Bytes bytes,
                      std::uint32_t handle) override {
        if (bytes != timed_bytes_) {
            timed_bytes_ = bytes;
            std::transform(payload_rates_.begin(), payload_rates_.end(), times_.begin(),
                           [&](core::BitRate rate) { return core::time_for(rate, bytes); });
        }
        const core::Instant begin = to == 0 ? std::max(now, results_left_[from]) : now;
        push_message(begin + latency_ + std::max(times_[from], times_[to]) + path_delay(from, to), from, to,
                     handle);
    }
    void send_result(core::Instant now, FlatNode from, core::Bytes bytes, std::uint32_t handle) override {
        core::Instant& left = results_left_[from];
        left = std::max(now, left) + core::time_for(payload_rates_[from], bytes);
        push(left + latency_, message, handle);
    }
    void set_extra_delay(core::Duration most) final {
        extra_delay_ = most;
        keeps_order_ = keeps_order_ || most > core::Duration{};
    }
    void handle(core::Instant now, const QueueEvent& event) final {
        if (event.kind() == message) {
            client_.message_arrived(event.a());
        } else {
            handle_data(now, event);
        }
    }

  protected:
    SeparateControl(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                    NetworkClient& client)
        : row_{plan.producers, plan.consumers},
          latency_(network.latency),
          events_(events),
          client_(client),
          seed_(plan.seed),
          breaks_ties_(network.model == core::NetworkModel::fluid && plan.consumers_grant() &&
                       !plan.addressed() && plan.order != core::SendOrder::barrel && plan.producers > 1 &&
                       plan.streams < plan.consumers),
          results_left_(row_.size(), core::Instant{std::numeric_limits<std::int64_t>::min()}) {
        for (const core::BitRate link :
             core::rank_links(network, plan.producers, plan.consumers,
                              std::max(network.producer_link, network.consumer_link))) {
            payload_rates_.push_back(core::payload_rate(network, link));
        }
        times_.resize(payload_rates_.size());
    }

    virtual void handle_data(core::Instant now, const QueueEvent& event) = 0;
    /// `kind`: from `first_data_kind` on.
    void push(core::Instant at, std::uint8_t kind, std::uint32_t a, std::uint32_t b = 0) {
        events_.push(at, {true, kind, a, b});
    }
    static constexpr std::uint8_t first_data_kind = 1;

    /// A message arrives at `arrival`, or later by the extra delay.
    void push_message(core::Instant arrival, FlatNode from, FlatNode to, std::uint32_t handle) {
        if (keeps_order_) {
            const auto stream = [&] {
                return core::random_stream(core::RandomPurpose::delay, row_.identity(from),
                                           row_.identity(to));
            };
            const std::uint64_t key = (std::uint64_t{from} << 32U) | to;
            auto found = pairs_.find(key);
            if (found == pairs_.end()) {
                found = pairs_.emplace(key, Pair{core::Random(seed_, stream()), arrival}).first;
            }
            Pair& pair = found->second;
            arrival = arrival + core::Duration{static_cast<std::int64_t>(
                                    pair.delays.below(static_cast<std::uint64_t>(extra_delay_.ns) + 1))};
            pair.last_arrival = arrival = std::max(arrival, pair.last_arrival);
        }
        push(arrival, message, handle);
    }
    /// Whether there is an extra delay, or messages may still be under way that had one.
    [[nodiscard]] bool delays_messages() const { return keeps_order_; }

    [[nodiscard]] const NodeRow& row() const { return row_; }
    [[nodiscard]] core::Duration latency() const { return latency_; }
    [[nodiscard]] NetworkClient& client() { return client_; }
    /// What the node's link carries of payload, by wire speed alone.
    [[nodiscard]] core::BitRate payload_rate(FlatNode node) const { return payload_rates_[node]; }

  private:
    static constexpr std::uint8_t message = 0;
    /// About what cables of 20 m differ by.
    static constexpr std::uint64_t most_path_delay_ns = 100;

    /// Without scheduling, consumers begin at one instant and give all producers their slots. If these
    /// came in the same order everywhere, producers with few streams would all send to the same consumer, and
    /// end and begin together for ever. So the paths between two nodes differ a little, always by the same.
    /// Barrel order and addressed events need none: there each producer begins with another consumer.
    [[nodiscard]] core::Duration path_delay(FlatNode from, FlatNode to) const {
        if (!breaks_ties_ || from == 0 || to == 0) {
            return {};
        }
        core::Random random(seed_, core::random_stream(core::RandomPurpose::delay, row_.identity(from),
                                                       row_.identity(to), 1));
        return core::Duration{static_cast<std::int64_t>(random.below(most_path_delay_ns))};
    }

    NodeRow row_;
    core::Duration latency_;
    Events& events_;
    NetworkClient& client_;
    std::uint64_t seed_;
    bool breaks_ties_;
    std::vector<core::BitRate> payload_rates_;
    core::Bytes timed_bytes_;
    std::vector<core::Duration> times_;        ///< by node: of a message of so many bytes on its link
    std::vector<core::Instant> results_left_;  ///< by node: when the last result has left its link
    core::Duration extra_delay_;
    bool keeps_order_ = false;  ///< messages have been delayed
    /// Messages from one node to another one.
    struct Pair {
        core::Random delays;
        core::Instant last_arrival;
    };
    std::unordered_map<std::uint64_t, Pair> pairs_;  ///< by both nodes
};

}  // namespace weir::simulation
