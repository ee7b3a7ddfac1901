// A TCP connection with selective acknowledgements: window, acknowledgement clock, fast retransmit,
// retransmission time-out. Congestion control is NewReno (RFC 6582), CUBIC (RFC 9438) or DCTCP (RFC 8257).
// What is not modelled: connection set-up, the receiver's window, segmentation offload, pacing, HyStart.
#pragma once

#include "core/ring_queue.hpp"
#include "core/switch_plan.hpp"
#include "packet/flow.hpp"

namespace weir::packet {

class TcpConnection final : public Flow {
  public:
    /// `plan` must outlive the connection.
    TcpConnection(const core::TcpPlan& plan, const Ends& ends);

    [[nodiscard]] std::int64_t next_wire_bytes() override {
        return messages_.payload_bytes_of(resend_next_ < lost_until_ ? resend_next_ : next_) +
               plan_->overhead.count;
    }
    Packet send(Picoseconds now) override;
    void on_reply(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) override;
    [[nodiscard]] Picoseconds timeout_at() const override {
        return acknowledged_ == highest_ ? Picoseconds::never() : progress_at_ + timeout_;
    }
    bool on_timeout(Picoseconds now) override;
    Replies on_data(const Packet& packet, Picoseconds now, std::vector<MessageHandle>& arrived) override;

    /// Packets.
    [[nodiscard]] double window() const { return window_; }
    /// Reductions of the window because of a loss, and of marks.
    [[nodiscard]] std::uint64_t reductions() const { return reductions_; }

  private:
    void update() override;
    [[nodiscard]] std::uint32_t most_under_way() const { return plan_->most_packets; }
    [[nodiscard]] bool recovering() const { return acknowledged_ < recover_until_; }
    void acknowledge(std::uint32_t until, Picoseconds now, std::vector<MessageHandle>& sent);
    void note_received(std::uint32_t sequence);
    void find_lost();
    void skip_known();
    void grow(std::uint32_t packets, Picoseconds now);
    void grow_cubic(std::uint32_t packets, Picoseconds now);
    void reduce(double factor);
    void on_marks(const Packet& reply, std::uint32_t packets);
    void measure(Picoseconds round_trip);

    const core::TcpPlan* plan_;
    double window_;
    double threshold_ = 1e9;  ///< of slow start

    std::uint32_t acknowledged_ = 0;
    std::uint32_t next_ = 0;
    std::uint32_t highest_ = 0;
    std::uint32_t under_way_ = 0;      ///< in the network, as far as the sender can tell
    std::uint32_t known_count_ = 0;    ///< beyond acknowledged_ and received
    std::uint32_t known_highest_ = 0;  ///< after the last of them
    std::uint32_t lost_until_ = 0;     ///< what is not known to be there before this one is lost
    std::uint32_t resend_next_ = 0;
    std::uint32_t recover_until_ = 0;
    ReceivedAhead known_;
    ReceivedAhead ahead_;

    // Time-out (RFC 6298) and round trips, of one packet at a time.
    Picoseconds progress_at_;
    Picoseconds normal_timeout_;  ///< without the doubling
    Picoseconds timeout_;
    double smoothed_s_ = 0;
    double deviation_s_ = 0;
    std::uint32_t timed_ = 0;  ///< its acknowledgement gives a round trip
    Picoseconds timed_at_ = Picoseconds::never();

    // CUBIC.
    Picoseconds epoch_ = Picoseconds::never();
    double window_max_ = 0;
    double reno_window_ = 0;

    // Marks.
    double marked_share_ = 1;  ///< DCTCP's alpha
    std::uint32_t round_end_ = 0;
    std::uint32_t round_packets_ = 0;
    std::uint32_t round_marked_ = 0;
    std::uint64_t reductions_ = 0;

    // Receiver.
    std::uint32_t unacknowledged_ = 0;
    bool echoed_ = false;  ///< the last packet was marked
};

}  // namespace weir::packet
