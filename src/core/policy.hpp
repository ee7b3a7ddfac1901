// Policies: who is paired with whom next. A policy gets standings and nothing else: no messages, no slots, no
// time. The scheduler (mechanism) reports every change to it and calls it to choose.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/assertion.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

struct ProducerStanding {
    bool eligible = false;  ///< has an offered event without grant and a free stream
    Bytes waiting;          ///< offered and not granted: how full it is
    Bytes granted;          ///< granted so far, estimated while a transfer is under way
};

struct ConsumerStanding {
    std::uint32_t free_slots = 0;      ///< credits
    std::uint32_t occupied_slots = 0;  ///< granted, arriving, or waiting for processing
    Bytes granted;                     ///< granted so far, estimated while a transfer is under way
    bool present = true;               ///< false: it was lost, and its credits with it
};

struct Pairing {
    ProducerId producer;
    ConsumerId consumer;
};

class Policy {
  public:
    Policy() = default;
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;
    virtual ~Policy() = default;

    virtual void update(ProducerId producer, const ProducerStanding& standing) = 0;
    virtual void update(ConsumerId consumer, const ConsumerStanding& standing) = 0;

    /// Addressed events: what a producer has offered for a consumer and was not granted. Policies for other
    /// events are never reported.
    virtual void update(ProducerId producer, ConsumerId consumer, const Traffic& waiting) {
        (void)producer, (void)consumer, (void)waiting;
        WEIR_UNREACHABLE("a policy for events without an address is told of addresses");
    }

    /// An eligible producer and a consumer with a free slot, or nothing. The scheduler grants the pair and
    /// updates both standings before the next call.
    virtual std::optional<Pairing> choose() = 0;

    /// Whether choose() would find a producer (a consumer), the other side left aside.
    [[nodiscard]] virtual bool producer_available() const = 0;
    [[nodiscard]] virtual bool consumer_available() const = 0;
};

}  // namespace weir::core
