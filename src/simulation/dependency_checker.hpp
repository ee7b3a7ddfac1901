// The checker's part about transfers that wait for others: none begins before all of its inputs have arrived
// at the consumer of its worker, and the time of computing after the last of them is over. Keeps accounts of
// its own, of bytes by transfer, from what producers and consumers observe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "core/plan.hpp"

namespace weir::simulation {

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
