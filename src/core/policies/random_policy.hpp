// Blind choice: any consumer with a free slot and any eligible producer, all equally likely, whatever their
// load. The baseline that a policy with knowledge has to beat. Not weighted by free slots: that would already
// be a kind of balancing.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/policy.hpp"
#include "core/random.hpp"

namespace weir::core {

class RandomPolicy final : public Policy {
  public:
    RandomPolicy(std::uint32_t producers, std::uint32_t consumers, Random random);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return !producers_.empty(); }
    [[nodiscard]] bool consumer_available() const override { return !consumers_.empty(); }

  private:
    /// A set of indices from which one can be drawn in constant time: an array without gaps and the place of
    /// every index in it.
    class IndexSet {
      public:
        explicit IndexSet(std::uint32_t capacity) : places_(capacity, absent) { members_.reserve(capacity); }

        [[nodiscard]] bool empty() const { return members_.empty(); }
        void set(std::uint32_t index, bool member);
        [[nodiscard]] std::uint32_t draw(Random& random) const {
            return members_[random.below(members_.size())];
        }

      private:
        static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

        std::vector<std::uint32_t> members_;
        std::vector<std::uint32_t> places_;  ///< by index: where in members_, or absent
    };

    IndexSet producers_;
    IndexSet consumers_;
    Random random_;
};

}  // namespace weir::core
