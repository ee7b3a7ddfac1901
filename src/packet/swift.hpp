// The window of Swift: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
// Datacenter", SIGCOMM 2020. A round trip that is shorter than the target makes the window grow by a fixed
// number of packets in a round trip; a longer one cuts it in proportion to how much longer it is, once in a
// round trip (algorithm 1). The target is longer for a small window, so that flows become equal (section 3.5,
// flow scaling). Below one packet, packets are further apart than a round trip.
//
// A round trip is that of one packet, from its transmission until its acknowledgement is there, so each
// packet is acknowledged. What the paper has and this has not: a window of its own for the delay in hosts,
// and a target by the number of hops (make it longer where paths are long). A flow begins with the largest
// window: what its link sends in the time of the target, for what is more under way cannot come back in time.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "packet/sender_control.hpp"

namespace weir::packet {

class SwiftWindow final : public SenderControl {
  public:
    /// `plan` must outlive it.
    SwiftWindow(const core::NicPlan& plan, core::BitRate line_rate, std::uint32_t window)
        : SenderControl(window),
          plan_(&plan.swift),
          line_rate_(static_cast<double>(line_rate.bits_per_second)),
          packet_bits_(static_cast<double>((plan.payload + plan.overhead).count) * 8),
          of_nic_(window),
          most_(std::min(
              std::ceil(line_rate_ * static_cast<double>(plan.swift.target.ns) * 1e-9 / packet_bits_) + 1,
              most_packets)),
          packets_(most_),
          sent_when_(std::bit_ceil(static_cast<std::uint32_t>(most_) + 1U)) {
        set(most_, {});
    }

    Picoseconds on_sent(Packet& packet, std::int64_t /*waiting_bytes*/, Picoseconds now) override {
        const bool again = packet.sequence < sent_until_;
        sent_when_[packet.sequence & (sent_when_.size() - 1)] = again ? Picoseconds::never() : now;
        sent_until_ = std::max(sent_until_, packet.sequence + 1);
        const double paced = packets_ >= 1 || round_trip_ == Picoseconds{}
                                 ? line_rate_
                                 : packet_bits_ * packets_ / round_trip_.seconds();
        return duration(packet, std::min(line_rate_, paced));
    }
    void on_reply(const Packet& reply, std::uint32_t acknowledged, bool /*idle*/, Picoseconds now) override {
        if (reply.kind == Packet::Kind::nak) {
            timeouts_ = 0;
            cut(1 - plan_->largest_cut, now);
            return;
        }
        if (reply.kind != Packet::Kind::ack || sent_until_ - reply.detail > sent_when_.size()) {
            return;
        }
        timeouts_ = 0;
        const Picoseconds sent = sent_when_[reply.detail & (sent_when_.size() - 1)];
        if (sent != Picoseconds::never()) {
            adjust(now - sent, acknowledged, now);
        }
    }
    void on_timeout(bool /*under_way*/, Picoseconds now) override {
        if (++timeouts_ >= most_timeouts) {
            set(least_window, now);
        } else {
            cut(1 - plan_->largest_cut, now);
        }
    }

    /// Of a round trip, with the window of now.
    [[nodiscard]] Picoseconds target() const {
        const double at_most = 1 / std::sqrt(plan_->range_to);
        const double scale =
            (1 / std::sqrt(packets_) - at_most) / (1 / std::sqrt(plan_->range_from) - at_most);
        const double longer_ns = std::clamp(scale, 0.0, 1.0) * static_cast<double>(plan_->range.ns);
        return Picoseconds::of(plan_->target) + Picoseconds{static_cast<std::int64_t>(longer_ns * 1000)};
    }

  private:
    /// Packets. A pause of a hundred round trips.
    static constexpr double least_window = 0.01;
    /// Memory for times of transmission.
    static constexpr double most_packets = 65536;
    /// RETX_RESET_THRESHOLD of algorithm 1; csg-htsim has 5.
    static constexpr std::uint32_t most_timeouts = 5;

    void adjust(Picoseconds delay, std::uint32_t acknowledged, Picoseconds now) {
        round_trip_ = delay;
        if (delay < target()) {
            set(packets_ + plan_->increase * acknowledged / std::max(packets_, 1.0), now);
        } else {
            const double over = (delay - target()).seconds() / delay.seconds();
            cut(std::max(1 - plan_->cut * over, 1 - plan_->largest_cut), now);
        }
    }
    /// To `factor` of what it is, at most once in a round trip.
    void cut(double factor, Picoseconds now) {
        if (now - cut_at_ >= round_trip_) {
            set(packets_ * factor, now);
        }
    }
    void set(double packets, Picoseconds now) {
        const double before = packets_;
        packets_ = std::clamp(packets, least_window, most_);
        const auto whole = std::max(1U, static_cast<std::uint32_t>(packets_));
        window_ = of_nic_ == 0 ? whole : std::min(of_nic_, whole);
        if (packets_ < before) {
            cut_at_ = now;
            ++cuts_;
        }
    }

    const core::SwiftPlan* plan_;
    double line_rate_;
    double packet_bits_;
    std::uint32_t of_nic_;  ///< packets; 0: no limit
    double most_;           ///< packets
    double packets_;        ///< the window
    Picoseconds round_trip_;
    Picoseconds cut_at_ = Picoseconds{} - Picoseconds::of(core::Duration::seconds(3600));  ///< never yet
    std::uint32_t timeouts_ = 0;          ///< since an acknowledgement
    std::uint32_t sent_until_ = 0;        ///< packet
    std::vector<Picoseconds> sent_when_;  ///< by packet; never(): again, so whose reply comes is not known
};

}  // namespace weir::packet
