// What a producer has offered, by consumer, and which of it was not sent to the scheduler yet.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/actions.hpp"
#include "core/ledger.hpp"
#include "core/traffic_plan.hpp"

namespace weir::core {

class AddressedOffers {
  public:
    /// Only `producer`'s pairs of the traffic plan are used; it is kept.
    AddressedOffers(std::shared_ptr<const TrafficPlan> traffic, ProducerId producer);

    /// One more event for a consumer to which the producer sends.
    void add(ConsumerId to, Bytes bytes);
    /// Appends an offer for every consumer whose sum has changed since the last call.
    void send(Actions& out);

  private:
    std::shared_ptr<const TrafficPlan> traffic_;
    ProducerId producer_;
    std::vector<Traffic> offered_;         ///< by pair, from the producer's first on
    std::vector<bool> changed_;            ///< by pair
    std::vector<ConsumerId> to_announce_;  ///< those that changed, in the order of their first change
};

}  // namespace weir::core
