// A reliable connection as RoCE's RC queue pairs are: the receiver acknowledges, and what is lost is sent
// again, either everything from the first missing packet on (go-back-N) or only what is missing (selective
// repeat, as in Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018). A SenderControl sets the
// pace.
#pragma once

#include <memory>

#include "core/switch_plan.hpp"
#include "packet/credits.hpp"
#include "packet/dcqcn.hpp"
#include "packet/flow.hpp"
#include "packet/sender_control.hpp"

namespace weir::packet {

class QueuePair final : public Flow {
  public:
    /// `plan` must outlive the queue pair.
    QueuePair(const core::NicPlan& plan, const Ends& ends);

    [[nodiscard]] std::int64_t next_wire_bytes() override {
        return turn_ == SenderControl::Turn::ask
                   ? plan_->ack_bytes.count
                   : messages_.payload_bytes_of(next_to_send()) + plan_->overhead.count;
    }
    Packet send(Picoseconds now) override;
    void on_reply(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) override;
    [[nodiscard]] Picoseconds timeout_at() const override {
        return acknowledged_ == highest_ && turn_ != SenderControl::Turn::wait ? Picoseconds::never()
                                                                               : progress_at_ + timeout();
    }
    [[nodiscard]] std::uint64_t cuts() const override { return cuts_before_ + control_->cuts(); }
    bool on_timeout(Picoseconds now) override;
    Replies on_data(const Packet& packet, Picoseconds now, std::vector<MessageHandle>& arrived) override;

  private:
    void update() override {
        const bool may_send = (next_ < messages_.end() &&
                               (control_->window() == 0 || next_ - acknowledged_ < control_->window())) ||
                              recovering();
        turn_ = may_send ? control_->turn() : SenderControl::Turn::send;
        has_packet_ = may_send && turn_ != SenderControl::Turn::wait;
    }
    [[nodiscard]] bool recovering() const { return resend_next_ < resend_end_; }
    [[nodiscard]] std::uint32_t next_to_send() const { return recovering() ? resend_next_ : next_; }
    /// The next packet that it sends is the first that is not acknowledged.
    [[nodiscard]] bool begins() const { return next_to_send() == acknowledged_; }
    /// Its receiver's leave has to come before an acknowledgement can.
    [[nodiscard]] bool waits_for_leave() const { return turn_ != SenderControl::Turn::send && begins(); }
    /// The packet came ahead of a missing one, which may come yet.
    [[nodiscard]] bool may_have_overtaken(std::uint32_t sequence) const {
        return sequence - expected_ < reorder_;
    }
    [[nodiscard]] bool selective() const { return plan_->recovery == core::LossRecovery::selective; }
    [[nodiscard]] Picoseconds timeout() const;
    [[nodiscard]] std::int64_t waiting_bytes() const;
    [[nodiscard]] std::uint32_t next_sequence(Picoseconds now);
    void acknowledge(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent);
    void delay_resending(Picoseconds now);
    void learn_timeout(const Packet& reply, Picoseconds now);
    [[nodiscard]] Picoseconds planned_timeout() const;
    [[nodiscard]] bool wants_cnp(bool marked, bool ahead, bool nak, Picoseconds now);
    Replies place(const Packet& packet, Picoseconds now, std::vector<MessageHandle>& arrived);
    Replies place_ahead(std::uint32_t sequence, Picoseconds now);
    [[nodiscard]] bool wants_nak(std::uint32_t sequence, Picoseconds now);
    void on_acknowledgement(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent);
    void on_nak(const Packet& nak, Picoseconds now);
    void skip_known();

    // What is read for every packet comes first, beside the end of Flow.
    const core::NicPlan* plan_;
    std::unique_ptr<SenderControl> control_;
    ReactionPoint* reaction_point_;  ///< the same, if it is one
    std::uint32_t acknowledged_ = 0;
    std::uint32_t next_ = 0;
    std::uint32_t highest_ = 0;  ///< after the last packet ever sent
    std::uint32_t resend_next_ = 0;
    std::uint32_t resend_end_ = 0;
    std::uint32_t vain_asks_ = 0;    ///< time-outs of leave since something was sent
    std::int64_t payload_sent_ = 0;  ///< bytes before `highest_`
    Picoseconds learnt_timeout_;     ///< at least: where round trips are longer than the plan's time-out
    std::uint32_t reorder_;          ///< NicPlan::reorder, in packets
    std::uint32_t unacknowledged_ = 0;
    std::uint32_t answer_at_ = 0;  ///< expected: the sender stopped before that
    SenderControl::Turn turn_ = SenderControl::Turn::send;
    bool nak_sent_ = false;  ///< for what is missing now
    bool nak_due_ = false;   ///< for what is missing now, not sent yet
    Picoseconds notified_at_;

    CreditDemand demand_;
    Picoseconds progress_at_;
    std::uint32_t doublings_ = 0;  ///< time-outs since there was progress
    // Where round trips are longer than the plan's time-out.
    Picoseconds waited_from_;                      ///< until the first time-out since there was progress
    Picoseconds timed_at_ = Picoseconds::never();  ///< no packet is timed
    std::uint32_t timed_ = 0;                      ///< a packet that was sent once
    std::uint32_t in_time_ = 0;  ///< so many in a row were acknowledged within the plan's time-out
    std::uint32_t rounds_ = 0;   ///< how often everything was sent again since an acknowledgement
    // Selective repeat.
    std::uint32_t recover_until_ = 0;  ///< a NAK starts no new recovery before this one is acknowledged
    ReceivedAhead known_;              ///< to the sender, by NAKs
    ReceivedAhead ahead_;              ///< at the receiver: selective, or it waits for what is late

    std::uint32_t last_ahead_ = 0;  ///< the last packet that came ahead of a missing one
    Picoseconds nak_at_;
};

}  // namespace weir::packet
