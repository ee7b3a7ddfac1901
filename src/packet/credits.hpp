// Credits of receivers: a sender asks for what it has to send, and its receiver gives credits at the rate of
// its link, to all senders that ask in turn. So what is under way to a host is what its link carries, however
// many send to it, but for the first window of each sender, which goes unasked.
//
// The rules are those of receiver-credit congestion control (RCCC) of Ultra Ethernet Transport 1.0 and of
// EQDS (Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022), whose
// receivers are told how much waits at each sender; both stand on NDP (Handley et al., SIGCOMM 2017). In
// short:
//
// - A sender counts the bytes on the wire that it has sent, and tells with each packet up to which count it
// has
//   something. A receiver counts what it has given, and tells that count in a credit. Counts heal what is
//   lost.
// - A sender that has no credit, and has told of nothing that is still to come, asks with a packet of its
// own.
// - One that had nothing under way begins a burst: counts begin at 0, and the first window goes unasked.
//
// What is weir's: a receiver keeps account of all that comes by its link (bursts unasked, credits given,
// requests, acknowledgements and other traffic), and gives the next credit when less than one window is left
// of it. So what came unasked is paid back, and the queue that it made at the switch drains. Not modelled:
// packets that switches trim, and credits that depend on marks.
//
// Rejected: a credit for each packet that arrives, as in NDP: what came unasked would stay in the queue.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/ring_queue.hpp"
#include "packet/sender_control.hpp"

namespace weir::packet {

/// The first window of a burst, on such a link.
constexpr std::int64_t unasked_bytes(const core::CreditPlan& plan, core::BitRate line_rate) {
    return core::in_proportion(plan.unasked, line_rate, plan.of_rate).count;
}

/// Packets carry the last 32 bits of a count, so what they tell is less than 2 GiB ahead of what is known.
inline constexpr std::int64_t most_told = 1'000'000'000;

/// What was told, if it is more than is known already.
inline void raise(std::int64_t& count, std::uint32_t told) {
    count += std::max(0, static_cast<std::int32_t>(told - static_cast<std::uint32_t>(count)));
}

class CreditedSender final : public SenderControl {
  public:
    CreditedSender(const core::CreditPlan& plan, core::BitRate line_rate, std::uint32_t window)
        : SenderControl(window),
          line_rate_(static_cast<double>(line_rate.bits_per_second)),
          unasked_(unasked_bytes(plan, line_rate)),
          granted_(unasked_) {
        tells_demand_ = true;
        choose_turn();
    }

    Picoseconds on_sent(Packet& packet, std::int64_t waiting_bytes, Picoseconds /*now*/) override {
        if (packet.kind == Packet::Kind::data) {
            sent_ += packet.wire_bytes;
        }
        told_ = sent_ + std::min(waiting_bytes, most_told);
        packet.detail = static_cast<std::uint32_t>(told_);
        packet.burst = burst_;
        choose_turn();
        return duration(packet, line_rate_);
    }
    void on_reply(const Packet& reply, std::uint32_t /*acknowledged*/, bool idle,
                  Picoseconds /*now*/) override {
        if (reply.kind == Packet::Kind::credit && reply.burst == burst_) {
            raise(granted_, reply.detail);
        }
        if (idle && sent_ > 0) {
            begin_burst();
        }
        choose_turn();
    }
    /// If nothing was under way, the request or its credit may be lost; the receiver tells its count again.
    void on_timeout(bool under_way, Picoseconds /*now*/) override {
        if (under_way) {
            begin_burst();
        } else {
            told_ = 0;
        }
        choose_turn();
    }

  private:
    void begin_burst() {
        ++burst_;
        sent_ = told_ = 0;
        granted_ = unasked_;
    }
    /// A packet may be longer than what is left of a credit; the next credit is so much less.
    void choose_turn() { turn_ = sent_ < granted_ ? Turn::send : told_ > granted_ ? Turn::wait : Turn::ask; }

    double line_rate_;
    std::int64_t unasked_;
    // In bytes on the wire, of this burst.
    std::int64_t sent_ = 0;
    std::int64_t granted_;
    std::int64_t told_ = 0;
    std::uint8_t burst_ = 0;
};

/// What a receiver knows of one sender.
class CreditDemand {
  public:
    explicit CreditDemand(std::int64_t unasked) : unasked_(unasked), given_(unasked) {}

    /// A packet of the sender, data or request. Returns how many bytes it tells of that come unasked.
    std::int64_t hear(const Packet& packet) {
        const auto newer = static_cast<std::int8_t>(packet.burst - burst_);
        if (newer < 0) {
            return 0;
        }
        if (newer > 0) {
            burst_ = packet.burst;
            told_ = 0;
            given_ = unasked_;
        }
        const std::int64_t before = std::min(told_, unasked_);
        raise(told_, packet.detail);
        return std::min(told_, unasked_) - before;
    }
    [[nodiscard]] bool wants() const { return told_ > given_; }
    /// A credit for up to `most` bytes; returns for how many.
    std::int64_t give(std::int64_t most) {
        const std::int64_t given = std::clamp(told_ - given_, std::int64_t{0}, most);
        given_ += given;
        return given;
    }
    /// What a credit has to say.
    void fill(Packet& credit) const {
        credit.detail = static_cast<std::uint32_t>(given_);
        credit.burst = burst_;
    }

  private:
    std::int64_t unasked_;
    // In bytes on the wire, of this burst.
    std::int64_t told_ = 0;
    std::int64_t given_;
    std::uint8_t burst_ = 0;
};

/// Of a receiving NIC: whom it gives the next credit, and when.
class CreditGranter {
  public:
    /// Bytes have come, or may come now, by a link of `byte_time` each.
    void charge(std::int64_t bytes, double byte_time_ps, Picoseconds now) {
        busy_until_ = std::max(busy_until_, now) +
                      Picoseconds{static_cast<std::int64_t>(static_cast<double>(bytes) * byte_time_ps)};
    }
    /// When less than one window is left of what was charged.
    [[nodiscard]] Picoseconds next_at(std::int64_t window, double byte_time_ps) const {
        return busy_until_ -
               Picoseconds{static_cast<std::int64_t>(static_cast<double>(window) * byte_time_ps)};
    }

    core::RingQueue<FlowIndex> row;  ///< flows that want credits
    bool pending = false;            ///< an event is

  private:
    Picoseconds busy_until_;
};

}  // namespace weir::packet
