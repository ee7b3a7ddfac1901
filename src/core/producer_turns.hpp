// Policy `none`: to which producer a consumer hands its next free slot. To each in turn, consumer c beginning
// with producer c, but not to those that have nothing left.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ids.hpp"

namespace weir::core {

class ProducerTurns {
  public:
    ProducerTurns(std::uint32_t producers, ConsumerId self)
        : drained_(producers, false), next_(self.value % producers) {}

    /// Nothing if no producer is left.
    std::optional<ProducerId> next() {
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
};

}  // namespace weir::core
