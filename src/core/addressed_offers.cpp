#include "core/addressed_offers.hpp"

#include <utility>

#include "core/assertion.hpp"

namespace weir::core {

AddressedOffers::AddressedOffers(std::shared_ptr<const TrafficPlan> traffic, ProducerId producer)
    : traffic_(std::move(traffic)),
      producer_(producer),
      offered_(traffic_->receivers_of(producer).size()),
      changed_(offered_.size(), false) {}

void AddressedOffers::add(ConsumerId to, Bytes bytes) {
    const auto pair = traffic_->pair(producer_, to);
    WEIR_ASSERT(pair.has_value());
    const std::uint32_t index = *pair - traffic_->first_pair(producer_);
    offered_[index] += {1, bytes};
    if (!changed_[index]) {
        changed_[index] = true;
        to_announce_.push_back(to);
    }
}

void AddressedOffers::send(Actions& out) {
    for (const ConsumerId to : to_announce_) {
        const std::uint32_t index = *traffic_->pair(producer_, to) - traffic_->first_pair(producer_);
        changed_[index] = false;
        out.messages.emplace_back(scheduler_node(), Offer{offered_[index], Offer::More::expected, to});
    }
    to_announce_.clear();
}

}  // namespace weir::core
