// Congestion control of a queue pair: how fast its sender sends, how much may be under way, and whether it
// has leave to send. One file for each kind: dcqcn, swift, credits. It decides nothing about what is lost and
// sent again; the queue pair does that, with whatever control it has.
//
// A control tells the receiver what it has to in the packets that are sent anyway, and is given every reply.
// Rejected: a branch for each kind in the queue pair, where each would have to be read with all others.
#pragma once

#include <cstdint>
#include <memory>

#include "core/switch_plan.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

class SenderControl {
  public:
    enum class Turn : std::uint8_t {
        send,
        ask,  ///< its receiver for leave, with a packet of its own
        wait
    };

    /// `window`: packets that the NIC lets be under way; 0: no limit.
    explicit SenderControl(std::uint32_t window) : window_(window) {}
    SenderControl(const SenderControl&) = delete;
    SenderControl& operator=(const SenderControl&) = delete;
    virtual ~SenderControl() = default;

    // What is read for every packet, without a virtual call.
    /// Packets that may be under way; 0: no limit.
    [[nodiscard]] std::uint32_t window() const { return window_; }
    /// What comes next, of a sender that has something to send and room in its window.
    [[nodiscard]] Turn turn() const { return turn_; }
    /// Whether it tells its receiver what waits.
    [[nodiscard]] bool tells_demand() const { return tells_demand_; }
    /// How often it has lowered rate or window.
    [[nodiscard]] std::uint64_t cuts() const { return cuts_; }

    /// `packet` is sent at `now`, which must not go back; then `waiting_bytes` on the wire are still to be
    /// sent, known to who tells_demand(). It is complete but for what the control tells the receiver. Returns
    /// for how long no other may follow.
    virtual Picoseconds on_sent(Packet& packet, std::int64_t waiting_bytes, Picoseconds now) = 0;
    /// The queue pair has seen to a reply, which acknowledged so many packets. `idle`: nothing is to be sent
    /// or under way.
    virtual void on_reply(const Packet& reply, std::uint32_t acknowledged, bool idle, Picoseconds now) = 0;
    /// Nothing was acknowledged for long; `under_way`: of what was sent, and not only of what waits.
    virtual void on_timeout(bool under_way, Picoseconds now) = 0;

  protected:
    static Picoseconds duration(const Packet& packet, double bits_per_second) {
        return {static_cast<std::int64_t>(packet.wire_bytes * 8e12 / bits_per_second)};
    }

    std::uint32_t window_;
    Turn turn_ = Turn::send;
    bool tells_demand_ = false;
    std::uint64_t cuts_ = 0;
};

/// `plan` must outlive it. `window`: as for SenderControl.
std::unique_ptr<SenderControl> make_sender_control(const core::NicPlan& plan, core::BitRate line_rate,
                                                   std::uint32_t window);

}  // namespace weir::packet
