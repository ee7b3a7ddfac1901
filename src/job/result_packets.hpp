// Results of events on their way from consumers to the scheduler. A result is cut into control packets, which
// arrive in order, so the credit that is sent behind it also arrives behind it. Nothing is put together
// again: the scheduler checks each part and keeps a few numbers per rank. How much can be under way is
// bounded by the credits: a slot has one result at a time, and config bounds slots x size.
//
// The bytes are pseudo-random, seeded by event and place, and compared on arrival. Rejected: messages of
// their own size on a communicator of their own, which would need receives as large as the largest result
// from every consumer, and an order between two communicators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/actions.hpp"
#include "transport/transport.hpp"

namespace weir::job {

/// Sends `result` to `rank` in as many packets as it takes. `packet` is scratch memory.
void send_result(transport::Transport& transport, transport::Rank rank, const core::SendResult& result,
                 std::vector<std::byte>& packet);

class ResultArrivals {
  public:
    explicit ResultArrivals(int ranks) : partial_(static_cast<std::size_t>(ranks)) {}

    struct Received {
        std::optional<core::SendResult> whole;  ///< its last part has arrived
        std::string refusal;                    ///< not empty: what is wrong with the packet
    };
    /// Receives one packet of kind `result` that came from `rank`.
    Received receive(int rank, std::span<const std::byte> packet);

  private:
    struct Partial {
        core::SendResult result;
        std::int64_t arrived = 0;
    };
    std::vector<Partial> partial_;  ///< by rank: the result whose parts are arriving
    std::vector<std::byte> expected_;
};

}  // namespace weir::job
