// First come, first served on both sides. Every slot of a consumer that becomes free is a token; tokens are
// spent in the order in which they came. Producers are served in the order in which they became able to send;
// after a grant a producer that can send more goes to the back. Known from event builders in which free
// builders queue at a supervisor; it needs no knowledge of load, and gives a fast consumer more events
// because it returns its tokens sooner. Tokens are kept one by one, not counted per consumer, because their
// order is the rule.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/index_queue.hpp"
#include "core/policy.hpp"
#include "core/ring_queue.hpp"

namespace weir::core {

class TokenPolicy final : public Policy {
  public:
    /// No consumer ever has more than `slots` free slots.
    TokenPolicy(std::uint32_t producers, std::uint32_t consumers, std::uint32_t slots);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    /// A rise of free_slots since the last update brings new tokens. A fall must be due to a grant that
    /// choose() asked for (choose() takes the token, not this function), or the consumer is not present.
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return !producers_.empty(); }
    [[nodiscard]] bool consumer_available() const override { return !tokens_.empty(); }

  private:
    void remove_tokens(ConsumerId consumer);

    IndexQueue producers_;

    RingQueue<ConsumerId> tokens_;
    std::vector<std::uint32_t> tokens_of_;  ///< by consumer: how many of the queued tokens are its own
};

}  // namespace weir::core
