// The checker's part about events with an address: each goes to its consumer, a grant is for a pair of which
// something waits, nothing is left waiting that could be granted, and what was generated is what the traffic
// plan says, in every interval. Keeps accounts of its own by the numbers of both ranks, not by the pairs of
// the traffic plan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/ids.hpp"
#include "core/messages.hpp"
#include "core/plan.hpp"

namespace weir::simulation {

class AddressChecker {
  public:
    using Objection = std::optional<std::string>;
    using IsAble = std::function<bool(std::uint32_t)>;

    explicit AddressChecker(core::Plan plan);

    Objection generated(core::ProducerId producer, core::NodeId to, core::Bytes bytes);
    /// The scheduler learns of an offer; `more` is set to the events that were not offered before.
    Objection offered(core::ProducerId producer, const core::Offer& offer, std::uint64_t& more);
    Objection granted(core::ProducerId producer, core::ConsumerId consumer);
    /// The scheduler learns that nothing more will be sent.
    void drained(core::ProducerId producer);
    /// After a turn of the scheduler: no pair waits whose producer has a stream and whose consumer a credit.
    /// All pairs are looked at, so in large runs not at each call.
    Objection decided(const IsAble& producer_is_free, const IsAble& consumer_has_credit);
    /// At the end: each pair has whole intervals of the traffic plan, all equally many.
    [[nodiscard]] Objection finished() const;

  private:
    struct Pair {
        core::Bytes generated;
        std::uint64_t offered = 0;
        std::uint64_t granted = 0;
    };
    Pair& pair(std::uint32_t producer, std::uint32_t consumer) {
        return pairs_[(std::uint64_t{producer} << 32U) | consumer];
    }

    core::Plan plan_;
    std::unordered_map<std::uint64_t, Pair> pairs_;
    std::uint64_t turns_ = 0;
};

}  // namespace weir::simulation
