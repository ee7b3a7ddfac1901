// The checker's part about events with an address: each goes to its consumer, a grant is for a pair of which
// something waits, nothing is left waiting that could be granted, and what was generated is what the traffic
// plan says, in every interval. Of who comes first (docs/traffic.md, "Who may send when") it holds what all
// policies guarantee, that no pair starves, and what those guarantee that serve in rounds, that no consumer
// is left out by a producer for which it has a credit. Keeps accounts of its own by the numbers of both
// ranks, not by the pairs of the traffic plan.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/messages.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::simulation {

class AddressChecker {
  public:
    using MaybeObjection = std::optional<std::string>;
    using IsAble = std::function<bool(std::uint32_t)>;
    using Credits = std::function<std::uint32_t(std::uint32_t)>;

    explicit AddressChecker(core::Plan plan);

    MaybeObjection generated(core::ProducerId producer, core::NodeId to, core::Bytes bytes);
    /// The scheduler has read an offer; `more` is set to the events that were not offered before.
    MaybeObjection offered(core::ProducerId producer, const core::Offer& offer, std::uint64_t& more);
    /// `credits`: of a consumer, before this grant.
    MaybeObjection granted(core::ProducerId producer, core::ConsumerId consumer, const Credits& credits);
    /// The scheduler has read that nothing more will be sent.
    void drained(core::ProducerId producer);
    /// After a turn of the scheduler: no pair waits whose producer has a stream and whose consumer a credit
    /// that is not kept for another pair. All pairs are looked at, so in large runs not at each call.
    MaybeObjection decided(const IsAble& producer_is_free, const Credits& credits);
    /// At the end: each pair has whole intervals of the traffic plan, all equally many.
    [[nodiscard]] MaybeObjection finished() const;

  private:
    struct Pair {
        core::Bytes generated;
        std::uint64_t offered = 0;
        std::uint64_t granted = 0;
        // Since it was granted last or began to wait.
        std::uint64_t producer_grants = 0;  ///< of its producer, until then
        std::uint64_t consumer_grants = 0;
        std::uint64_t left_out = 0;  ///< grants of its producer to others, with a credit here for anyone
        [[nodiscard]] bool waits() const { return offered > granted; }
    };
    struct Passed {
        std::uint64_t by_producer = 0;  ///< grants to others, for each partner
        std::uint64_t by_consumer = 0;
    };
    [[nodiscard]] Passed passed_over(std::uint64_t key, const Pair& account) const;
    [[nodiscard]] bool is_overdue(std::uint64_t key, const Pair& account) const;
    [[nodiscard]] bool has_overdue(std::uint32_t consumer) const;
    MaybeObjection check_turns(core::ProducerId producer, core::ConsumerId consumer, const Credits& credits);
    MaybeObjection check_starving(core::ConsumerId consumer) const;
    Pair& pair(std::uint32_t producer, std::uint32_t consumer) {
        return pairs_[(std::uint64_t{producer} << 32U) | consumer];
    }

    core::Plan plan_;
    std::unordered_map<std::uint64_t, Pair> pairs_;
    bool fair_;
    std::vector<std::uint64_t> producer_grants_;
    std::vector<std::uint64_t> consumer_grants_;
    std::uint64_t turns_ = 0;
};

/// The checker's part about transfers that wait for others: none begins before all of its inputs have arrived
/// at the consumer of its worker, and the time of computing after the last of them is over. Keeps accounts of
/// its own, of bytes by transfer, from what producers and consumers observe.
class DependencyChecker {
  public:
    using MaybeObjection = std::optional<std::string>;

    /// The plan's traffic has dependencies.
    explicit DependencyChecker(const core::Plan& plan);

    /// `at`: when it was to be generated.
    void generated(core::EventId event, core::ConsumerId to, core::Instant at);
    /// All of the event has arrived.
    void received(core::Instant now, core::EventId event, core::Bytes bytes);
    /// A producer begins to send the event.
    [[nodiscard]] MaybeObjection started(core::Instant now, core::EventId event) const;

  private:
    /// Of one interval: producer, consumer and time in the interval.
    using Name = std::tuple<std::uint32_t, std::uint32_t, core::Duration>;
    struct Input {
        Name name;
        core::Bytes bytes;
        core::Duration compute;
    };
    struct Arrived {
        core::Bytes bytes;
        core::Instant last;
    };
    struct Place {
        Name name;
        std::int64_t interval = 0;
        auto operator<=>(const Place&) const = default;
    };

    core::Duration interval_;
    std::map<Name, std::vector<Input>> inputs_;
    std::unordered_map<std::uint64_t, Place> events_;  ///< generated and not received
    std::map<Place, Arrived> arrived_;
};

}  // namespace weir::simulation
