// Names of things in a run. A producer, consumer, slot or stream has an index that starts at 0 within its
// kind; distinct types keep one from being used as another. An event's id has who generated it and as which.
#pragma once

#include <compare>
#include <cstdint>

namespace weir::core {

/// As wide as an index: a node's name is read at once, which a byte beside an index is not.
enum class Role : std::uint32_t { scheduler, producer, consumer };

/// "scheduler", "producer" or "consumer".
constexpr const char* role_name(Role role) {
    switch (role) {
        case Role::scheduler:
            return "scheduler";
        case Role::producer:
            return "producer";
        case Role::consumer:
            return "consumer";
    }
    return "unknown";
}

template <typename Kind>
struct Index {
    std::uint32_t value = 0;
    constexpr auto operator<=>(const Index&) const = default;
};

using ProducerId = Index<struct ProducerKind>;
using ConsumerId = Index<struct ConsumerKind>;
/// One event buffer of a consumer.
using SlotId = Index<struct SlotKind>;
/// Room for one fragment in a consumer's slot, counted over all its slots. core::Plan converts between both.
using PlaceId = Index<struct PlaceKind>;
/// One of the transfers that a producer may have under way at a time.
using StreamId = Index<struct StreamKind>;

/// Which life of a consumer: 0, and one more each time that it was lost (--on-failure continue).
using Epoch = std::uint16_t;

/// A participant of the protocol, whatever rank it runs on.
struct NodeId {
    Role role = Role::scheduler;
    std::uint32_t index = 0;
    constexpr auto operator<=>(const NodeId&) const = default;
};
constexpr NodeId scheduler_node() {
    return {Role::scheduler, 0};
}
constexpr NodeId node_of(ProducerId id) {
    return {Role::producer, id.value};
}
constexpr NodeId node_of(ConsumerId id) {
    return {Role::consumer, id.value};
}

/// Identity of an event: the producer in the upper 20 bits, the sequence number (0, 1, 2, ... per producer,
/// also for events that were dropped) in the lower 44. Unique in a run.
struct EventId {
    std::uint64_t value = 0;

    static constexpr int sequence_bits = 44;
    /// Sequence numbers are below.
    static constexpr std::uint64_t sequence_limit = std::uint64_t{1} << sequence_bits;
    static constexpr EventId of(ProducerId producer, std::uint64_t sequence) {
        return {(static_cast<std::uint64_t>(producer.value) << sequence_bits) | sequence};
    }
    [[nodiscard]] constexpr ProducerId producer() const {
        return {static_cast<std::uint32_t>(value >> sequence_bits)};
    }
    [[nodiscard]] constexpr std::uint64_t sequence() const { return value & (sequence_limit - 1); }
    constexpr auto operator<=>(const EventId&) const = default;
};

}  // namespace weir::core
