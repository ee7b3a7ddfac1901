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

#include <vector>

#include "packet/sender_control.hpp"

namespace weir::packet {

class SwiftWindow final : public SenderControl {
  public:
    /// `plan` must outlive it.
    SwiftWindow(const core::NicPlan& plan, core::BitRate line_rate, std::uint32_t window);

    Picoseconds on_sent(Packet& packet, std::int64_t waiting_bytes, Picoseconds now) override;
    void on_reply(const Packet& reply, std::uint32_t acknowledged, bool idle, Picoseconds now) override;
    void on_timeout(bool under_way, Picoseconds now) override;

    /// Of a round trip, with the window of now.
    [[nodiscard]] Picoseconds target() const;

  private:
    void adjust(Picoseconds delay, std::uint32_t acknowledged, Picoseconds now);
    /// To `factor` of what it is, at most once in a round trip.
    void cut(double factor, Picoseconds now);
    void set(double packets, Picoseconds now);

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
