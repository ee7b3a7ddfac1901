// Initiation `pull`: what a consumer requests. A slot that it was assigned an event for needs all
// of the event's fragments, and no more than `requests` are asked for and not there at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"

namespace weir::core {

class FragmentRequests {
  public:
    FragmentRequests(const Plan& plan, ConsumerId self);

    /// Asks for the fragments of the event that a slot is for, as far as the limit lets it.
    void add(const Plan& plan, const Assign& assign, Actions& out);
    /// Whether what belongs into this place was asked for and is not complete.
    [[nodiscard]] bool is_waiting(PlaceId place) const { return waiting_[place.value]; }
    /// Nothing more will come into this place; requests the next fragments.
    void complete(PlaceId place, Actions& out);

  private:
    struct Request {
        ProducerId producer;
        Grant grant;
    };
    void send(Actions& out);

    ConsumerId self_;
    std::uint32_t limit_;
    RingQueue<Request> queue_;   ///< to be sent
    std::uint32_t sent_ = 0;     ///< and not complete
    std::vector<bool> waiting_;  ///< by place: one of these
};

}  // namespace weir::core
