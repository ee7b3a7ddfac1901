// What a producer has sent over a transport that loses chunks and must be able to send again: one
// fragment per slot of each consumer at most, because a slot is granted again only when its event was
// taken or given up.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "core/waiting_events.hpp"

namespace weir::core {

/// Where a fragment was sent to.
struct Destination {
    ConsumerId consumer;
    PlaceId place;
    bool operator==(const Destination&) const = default;
};

class RetainedFragments {
  public:
    /// Holds nothing, and takes no memory, unless consumers request again.
    explicit RetainedFragments(const Plan& plan);

    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// The fragment was sent there. What was sent there before must have been released.
    void keep(Destination to, const WaitingEvent& event);
    /// Whether this fragment is still kept.
    [[nodiscard]] bool keeps(Destination to, std::uint64_t sequence) const;
    /// It will not be asked for any more. Nothing if it is not kept (any more).
    std::optional<WaitingEvent> release(Destination to, std::uint64_t sequence);
    /// The same for whatever was sent there: the place was granted again, which may be known before it is
    /// said that the last fragment in it was taken.
    std::optional<WaitingEvent> release(Destination to);

    /// The consumer requests it again. False if it is not kept, or is already to be sent again.
    bool ask_again(Destination to, std::uint64_t sequence);
    struct Asked {
        Destination to;
        WaitingEvent event;
    };
    /// The next that is to be sent again; nothing if all that were asked for were released since.
    std::optional<Asked> pop_asked();

  private:
    struct Kept {
        bool active = false;
        bool asked = false;  ///< and not taken from the queue yet
        WaitingEvent event;
    };
    [[nodiscard]] std::size_t index(Destination to) const;

    std::uint32_t slots_;
    std::uint32_t fragments_;
    std::vector<Kept> kept_;  ///< by consumer and slot
    /// In the order in which they were asked for; among them some that were released since.
    RingQueue<Asked> asked_;
    std::size_t count_ = 0;
};

}  // namespace weir::core
