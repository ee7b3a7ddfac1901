// Addressed events that wait: a queue for each consumer, in one pool. Chosen: lists linked by indices, so
// that memory follows the number of events that wait and not the number of consumers times the longest queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/waiting_events.hpp"

namespace weir::core {

class EventsByConsumer final : public WaitingEvents {
  public:
    EventsByConsumer(std::uint32_t consumers, std::size_t bound);

    [[nodiscard]] bool empty() const override { return waiting_ == 0; }
    [[nodiscard]] bool full() const override { return waiting_ == bound_; }
    [[nodiscard]] std::size_t size() const override { return waiting_; }
    void push(const WaitingEvent& event, ConsumerId to) override;
    /// The oldest for the grant's consumer.
    std::optional<WaitingEvent> take(const Grant& grant) override;
    WaitingEvent pop_oldest() override;
    [[nodiscard]] std::span<const std::uint64_t> addressees() const override { return addressees_; }

  private:
    static constexpr std::uint32_t none = 0xffffffffU;
    struct Entry {
        WaitingEvent event;
        std::uint32_t next = none;  ///< of its queue; of an unused entry: the next unused one
    };
    struct Queue {
        std::uint32_t first = none;
        std::uint32_t last = none;
    };
    WaitingEvent pop(std::uint32_t consumer);

    std::size_t bound_;
    std::vector<Entry> entries_;
    std::uint32_t unused_ = none;
    std::vector<Queue> queues_;  ///< by consumer
    std::vector<std::uint64_t> addressees_;
    std::size_t waiting_ = 0;
};

}  // namespace weir::core
