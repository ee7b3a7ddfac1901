// Policy `none`: to which producer a consumer hands its next free slot. To each in turn, consumer c beginning
// with producer c, but not to those that have nothing left. Addressed events: only to producers that send to
// the consumer, and a slot stays with its producer, or one that has nothing at the moment could hold all
// slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/plan.hpp"

namespace weir::core {

class ProducerTurns {
  public:
    ProducerTurns(const Plan& plan, ConsumerId self)
        : drained_(plan.producers, plan.addressed()), next_(self.value % plan.producers) {
        if (plan.addressed()) {
            for (const TrafficPlan::Sender& sender : plan.traffic->senders_to(self)) {
                drained_[sender.producer.value] = false;
            }
        }
        keeps_producer_ = plan.addressed();
    }

    /// Nothing if no producer is left. `last`: that the slot was handed to before.
    std::optional<ProducerId> next(std::optional<ProducerId> last) {
        if (keeps_producer_ && last && !drained_[last->value]) {
            return last;
        }
        for (std::size_t tried = 0; tried < drained_.size(); ++tried) {
            const ProducerId producer{next_};
            next_ = next_ + 1 < drained_.size() ? next_ + 1 : 0;
            if (!drained_[producer.value]) {
                return producer;
            }
        }
        return std::nullopt;
    }
    void leave_out(ProducerId producer) { drained_[producer.value] = true; }

  private:
    std::vector<bool> drained_;
    std::uint32_t next_;
    bool keeps_producer_ = false;
};

}  // namespace weir::core
