#include "packet/queue_pair.hpp"

#include "core/random.hpp"

namespace weir::packet {

namespace {

/// Selective repeat keeps a bit for each packet under way, so their number has a limit also without a window.
constexpr std::uint32_t most_under_way = 4096;

/// Until a NIC sends again it could have sent so many packets, at most: 2.6 us at 100 Gb/s.
constexpr double turn_back_packets = 8;
constexpr std::uint32_t rounds_of_normal_length = 8;
constexpr std::uint32_t most_doublings = 12;
constexpr core::Duration longest_delay = core::Duration::seconds(10);
/// Doubling of time-outs ends here.
constexpr std::uint32_t most_doublings_of_timeout = 24;
/// Packets in a row that were acknowledged within the plan's time-out, so that a longer one is forgotten.
constexpr std::uint32_t enough_in_time = 16;
constexpr core::Duration longest_timeout = core::Duration::seconds(60);
/// IRN (Mittal et al., SIGCOMM 2018, 3.1): with so few packets under way the short time-out holds, because
/// what comes behind a lost one may not suffice to tell of it.
constexpr std::uint32_t few_packets = 3;

std::uint32_t window_packets(const core::NicPlan& plan) {
    const auto packets =
        static_cast<std::uint32_t>((plan.window.count + plan.payload.count - 1) / plan.payload.count);
    return packets == 0 && plan.recovery == core::LossRecovery::selective ? most_under_way : packets;
}

std::uint32_t bits_needed(const core::NicPlan& plan) {
    return plan.recovery == core::LossRecovery::selective ? window_packets(plan) : 0;
}

std::uint32_t reorder_packets(const core::NicPlan& plan) {
    return static_cast<std::uint32_t>((plan.reorder.count + plan.payload.count - 1) / plan.payload.count);
}

}  // namespace

QueuePair::QueuePair(const core::NicPlan& plan, const Ends& ends)
    : Flow(ends, plan.payload),
      plan_(&plan),
      control_(make_sender_control(plan, ends.line_rate, window_packets(plan))),
      reaction_point_(plan.control == core::PairControl::dcqcn ? static_cast<ReactionPoint*>(control_.get())
                                                               : nullptr),
      reorder_(reorder_packets(plan)),
      // No CNP has been sent yet.
      notified_at_(Picoseconds{} - Picoseconds::of(plan.dcqcn.cnp_spacing)),
      demand_(unasked_bytes(plan.credits, ends.line_rate)),
      known_(bits_needed(plan)),
      ahead_(std::max(bits_needed(plan), reorder_)) {
    is_queue_pair = true;
    demand = plan.control == core::PairControl::credits ? &demand_ : nullptr;
}

// Sender

Picoseconds QueuePair::planned_timeout() const {
    if (!selective()) {
        return Picoseconds::of(plan_->ack_timeout);
    }
    const bool few = highest_ - acknowledged_ <= few_packets;
    return Picoseconds::of(few ? plan_->selective_timeout_low : plan_->selective_timeout_high);
}

/// That of the plan, doubled by each time-out until something is acknowledged. IBTA's is constant, and ends
/// the connection after a few.
Picoseconds QueuePair::timeout() const {
    const Picoseconds longest = Picoseconds::of(longest_timeout);
    const Picoseconds once = std::max(planned_timeout(), learnt_timeout_);
    const std::uint32_t doublings = waits_for_leave() ? vain_asks_ : doublings_;
    return once > Picoseconds{longest.count >> doublings} ? longest : once * (std::int64_t{1} << doublings);
}

/// Behind deep queues and slow links, where round trips are longer than the plan's time-out, everything would
/// be sent again for ever. NICs adapt ("adaptive retransmission"), in ways that are not public. Here a
/// time-out teaches if it was too early: a packet that was sent once is answered after it (as Eifel detection
/// tells by time stamps, RFC 3522). Packets that the receiver had already teach nothing: after a lost
/// acknowledgement, NAK or tail there are such, too. What was learnt is forgotten when acknowledgements come
/// in time.
void QueuePair::learn_timeout(const Packet& reply, Picoseconds now) {
    if (doublings_ > 0 && reply.kind == Packet::Kind::ack && !reply.again) {
        learnt_timeout_ = (now - waited_from_) * 2;
        in_time_ = 0;
    }
    if (timed_at_ == Picoseconds::never() || reply.sequence <= timed_) {
        return;
    }
    const Picoseconds took = now - timed_at_;
    timed_at_ = Picoseconds::never();
    in_time_ = took < planned_timeout() ? in_time_ + 1 : 0;
    if (in_time_ == enough_in_time) {
        learnt_timeout_ = {};
    } else if (in_time_ == 0) {
        learnt_timeout_ = std::max(learnt_timeout_, took * 2);
    }
}

/// On the wire, what is to be sent; again: full packets.
std::int64_t QueuePair::waiting_bytes() const {
    const std::uint32_t again = highest_ - next_ + (recovering() ? resend_end_ - resend_next_ : 0);
    return messages_.payload_bytes() - payload_sent_ +
           plan_->overhead.count * static_cast<std::int64_t>(messages_.end() - highest_) +
           (plan_->payload + plan_->overhead).count * static_cast<std::int64_t>(again);
}

std::uint32_t QueuePair::next_sequence(Picoseconds now) {
    // With credits, what is sent again may have waited for one.
    if (acknowledged_ == highest_ || (demand != nullptr && begins())) {
        progress_at_ = now;
        starts_timer_ = true;
    }
    const bool again = recovering();
    const std::uint32_t sequence = again ? resend_next_++ : next_++;
    if (again) {
        skip_known();
    }
    if (sequence < highest_) {
        ++packets_sent_again_;
        timed_at_ = sequence == timed_ ? Picoseconds::never() : timed_at_;
        return sequence;
    }
    ++highest_;
    if (learnt_timeout_ > Picoseconds{} && timed_at_ == Picoseconds::never()) [[unlikely]] {
        timed_ = sequence;
        timed_at_ = now;
    }
    return sequence;
}

Packet QueuePair::send(Picoseconds now) {
    Packet packet{.flow = ends_.index, .to = ends_.to, .priority = ends_.priority};
    starts_timer_ = control_->tells_demand();  // else only where next_sequence() says so
    if (turn_ == SenderControl::Turn::ask) [[unlikely]] {
        packet.kind = Packet::Kind::ask;
        packet.wire_bytes = static_cast<std::uint16_t>(plan_->ack_bytes.count);
        progress_at_ = begins() ? now : progress_at_;
    } else {
        vain_asks_ = 0;
        const std::uint32_t sent_before = highest_;
        packet.sequence = next_sequence(now);
        packet.again = highest_ == sent_before;
        const std::int64_t payload_bytes = messages_.payload_bytes_of(packet.sequence);
        payload_sent_ += highest_ != sent_before ? payload_bytes : 0;
        packet.wire_bytes = static_cast<std::uint16_t>(payload_bytes + plan_->overhead.count);
        packet.ecn_capable = true;
    }
    const std::int64_t waiting = control_->tells_demand() ? waiting_bytes() : 0;
    next_send_ = std::max(next_send_, now) + (reaction_point_ != nullptr
                                                  ? reaction_point_->on_sent(packet, waiting, now)
                                                  : control_->on_sent(packet, waiting, now));
    packet.last = control_->turn() != SenderControl::Turn::send;
    update();
    return packet;
}

void QueuePair::skip_known() {
    while (recovering() && known_.has(resend_next_)) {
        ++resend_next_;
    }
}

void QueuePair::acknowledge(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) {
    const std::uint32_t until = reply.sequence;
    if (until <= acknowledged_) {
        return;
    }
    WEIR_ASSERT(until <= highest_);
    learn_timeout(reply, now);
    doublings_ = 0;
    if (selective()) {
        for (std::uint32_t sequence = acknowledged_; sequence < until; ++sequence) {
            known_.clear(sequence);
        }
        resend_next_ = std::max(resend_next_, until);
        resend_end_ = std::max(resend_end_, until);
    }
    acknowledged_ = until;
    rounds_ = 0;
    next_ = std::max(next_, until);
    progress_at_ = now;
    messages_.acknowledge(until, sent);
}

/// A NIC needs a while until it sends again, which varies. If it did not, a full queue could drop the same
/// packet in every round, or those of one sender only; so that this cannot last, the while grows if many
/// rounds in a row bring nothing.
void QueuePair::delay_resending(Picoseconds now) {
    const std::uint32_t doublings =
        std::min(rounds_ < rounds_of_normal_length ? 0 : rounds_ - rounds_of_normal_length, most_doublings);
    const auto most = static_cast<std::uint64_t>(turn_back_packets * (1U << doublings) *
                                                 static_cast<double>(plan_->payload.count) * 8e12 /
                                                 static_cast<double>(ends_.line_rate.bits_per_second));
    const std::uint64_t drawn = core::SplitMix64(ends_.identity + packets_sent_again_).next();
    // On a slow link a few rounds would add up to hours.
    const Picoseconds longest = Picoseconds::of(longest_delay);
    const Picoseconds delay{static_cast<std::int64_t>(drawn % (most + 1))};
    next_send_ = std::min(std::max(next_send_, now) + delay, std::max(next_send_, now + longest));
    ++rounds_;
}

void QueuePair::on_nak(const Packet& nak, Picoseconds now) {
    if (!selective()) {
        if (nak.sequence == acknowledged_ && next_ != acknowledged_) {
            next_ = acknowledged_;
            delay_resending(now);
        }
        return;
    }
    if (nak.detail < acknowledged_) {
        return;
    }
    known_.set(nak.detail);
    if (acknowledged_ >= recover_until_) {
        recover_until_ = highest_;
        resend_next_ = acknowledged_;
        delay_resending(now);
    }
    resend_end_ = std::max(resend_end_, nak.detail);
    skip_known();
}

void QueuePair::on_reply(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) {
    const std::uint32_t before = acknowledged_;
    if (reply.kind == Packet::Kind::ack || reply.kind == Packet::Kind::nak) {
        on_acknowledgement(reply, now, sent);
    }
    if (acknowledged_ == highest_ || waits_for_leave()) {
        progress_at_ = now;
    }
    control_->on_reply(reply, acknowledged_ - before, acknowledged_ == messages_.end(), now);
    update();
}

void QueuePair::on_acknowledgement(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) {
    acknowledge(reply, now, sent);
    if (reply.kind == Packet::Kind::ack && selective() && reply.detail > reply.sequence &&
        reply.detail >= acknowledged_) {
        known_.set(reply.detail);
    }
    if (reply.kind == Packet::Kind::nak) {
        on_nak(reply, now);
    }
}

bool QueuePair::on_timeout(Picoseconds now) {
    const bool acknowledgement = !waits_for_leave();
    waited_from_ = doublings_ == 0 ? progress_at_ : waited_from_;
    progress_at_ = now;
    std::uint32_t& doublings = acknowledgement ? doublings_ : vain_asks_;
    doublings = std::min(doublings + 1, most_doublings_of_timeout);
    control_->on_timeout(acknowledgement, now);
    if (!acknowledgement) {
        update();
        return false;
    }
    if (selective()) {
        resend_next_ = acknowledged_;
        resend_end_ = recover_until_ = highest_;
        skip_known();
    } else {
        next_ = acknowledged_;
        delay_resending(now);
    }
    update();
    return true;
}

// Receiver

/// Go-back-N: one NAK for a missing packet (IBTA 9.7.5.2.8), and one more each time the sender has gone back
/// and the packet is missing again. If a NAK is lost, the sender's time-out helps. Where packets overtake
/// each other, a lower number does not tell that the sender has gone back.
bool QueuePair::wants_nak(std::uint32_t sequence, Picoseconds now) {
    nak_due_ = nak_due_ || !nak_sent_ || (sequence <= last_ahead_ && !plan_->may_be_overtaken);
    last_ahead_ = sequence;
    if (!nak_due_ || (nak_sent_ && now - nak_at_ < Picoseconds::of(plan_->nak_spacing))) {
        return false;
    }
    nak_due_ = false;
    nak_sent_ = true;
    nak_at_ = now;
    return true;
}

Flow::Replies QueuePair::on_data(const Packet& packet, Picoseconds now, std::vector<MessageHandle>& arrived) {
    const bool ahead = packet.sequence > expected_;
    if (packet.last) [[unlikely]] {
        answer_at_ = packet.sequence + 1;
    }
    Replies replies = place(packet, now, arrived);
    replies.notify =
        plan_->dcqcn.on && wants_cnp(packet.marked, ahead && !replies.kept, replies.negative, now);
    return replies;
}

/// Rules of 2015: at most one in a spacing. Of HPCC's simulator: for each marked packet, because the sender
/// has the spacing; and, where losses are notified, with each NAK (conweave-ns3, rdma-hw.cc).
bool QueuePair::wants_cnp(bool marked, bool ahead, bool nak, Picoseconds now) {
    const core::DcqcnPlan& dcqcn = plan_->dcqcn;
    if (dcqcn.rules == core::DcqcnRules::hpcc) {
        return marked || (dcqcn.notify_losses && nak);
    }
    if (!(marked || (dcqcn.notify_losses && ahead)) ||
        now - notified_at_ < Picoseconds::of(dcqcn.cnp_spacing)) {
        return false;
    }
    notified_at_ = now;
    return true;
}

/// A packet that may have overtaken the missing one is kept; selective repeat acknowledges it, and nothing is
/// sent again for that.
Flow::Replies QueuePair::place_ahead(std::uint32_t sequence, Picoseconds now) {
    if ((selective() || reorder_ > 0) && ahead_.covers(expected_, sequence)) {
        ahead_.set(sequence);
    }
    if (may_have_overtaken(sequence)) {
        return {.acknowledge = selective(), .kept = true};
    }
    return {.negative = selective() || wants_nak(sequence, now)};
}

Flow::Replies QueuePair::place(const Packet& packet, Picoseconds now, std::vector<MessageHandle>& arrived) {
    Replies replies;
    if (packet.sequence < expected_) {
        replies.acknowledge = true;  // the sender lacks it
        return replies;
    }
    if (packet.sequence > expected_) {
        return place_ahead(packet.sequence, now);
    }
    const std::uint32_t before = expected_++;
    ++unacknowledged_;
    nak_sent_ = false;
    if (selective() || reorder_ > 0) {
        const std::uint32_t next = ahead_.consume(expected_);
        // Of what came ahead nothing was acknowledged.
        unacknowledged_ += reorder_ > 0 ? next - expected_ : 0;
        expected_ = next;
    }
    const bool whole = messages_.arrive(expected_, arrived);
    const bool asked = answer_at_ > before && answer_at_ <= expected_;
    if (whole || asked || unacknowledged_ >= core::packets_per_ack(*plan_)) {
        replies.acknowledge = true;
        unacknowledged_ = 0;
    }
    return replies;
}

}  // namespace weir::packet
