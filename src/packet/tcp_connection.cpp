#include "packet/tcp_connection.hpp"

#include <cmath>

namespace weir::packet {

namespace {

constexpr std::uint32_t duplicate_threshold = 3;  // RFC 5681
constexpr double cubic_growth = 0.4;              // RFC 9438, C
constexpr double cubic_factor = 0.7;              // RFC 9438, beta
constexpr double dctcp_gain = 1.0 / 16;           // RFC 8257, g
constexpr double initial_window = 10;             // RFC 6928

}  // namespace

TcpConnection::TcpConnection(const core::TcpPlan& plan, const Ends& ends)
    : Flow(ends, plan.payload),
      plan_(&plan),
      window_(initial_window),
      known_(plan.most_packets),
      ahead_(plan.most_packets),
      normal_timeout_(Picoseconds::of(plan.initial_timeout)),
      timeout_(normal_timeout_) {}

// Sender

void TcpConnection::update() {
    const bool room = under_way_ < static_cast<std::uint32_t>(window_);
    const bool lost = resend_next_ < lost_until_;
    const bool fresh = next_ < messages_.end() && next_ - acknowledged_ < most_under_way();
    has_packet_ = room && (lost || fresh);
}

void TcpConnection::skip_known() {
    while (resend_next_ < lost_until_ && known_.has(resend_next_)) {
        ++resend_next_;
    }
}

Packet TcpConnection::send(Picoseconds now) {
    std::uint32_t sequence = 0;
    if (acknowledged_ == highest_) {
        progress_at_ = now;
    }
    if (resend_next_ < lost_until_) {
        sequence = resend_next_++;
        skip_known();
        ++packets_sent_again_;
    } else {
        sequence = next_++;
        highest_ = std::max(highest_, next_);
        if (timed_at_ == Picoseconds::never()) {
            timed_ = sequence;
            timed_at_ = now;
        }
    }
    ++under_way_;
    const std::int64_t payload_bytes = messages_.payload_bytes_of(sequence);
    next_send_ = now;
    update();
    return {.flow = ends_.index,
            .to = ends_.to,
            .sequence = sequence,
            .wire_bytes = static_cast<std::uint16_t>(payload_bytes + plan_->overhead.count),
            .priority = ends_.priority,
            .ecn_capable = plan_->ecn};
}

/// RFC 6298.
void TcpConnection::measure(Picoseconds round_trip) {
    const double seconds = round_trip.seconds();
    if (smoothed_s_ == 0) {
        smoothed_s_ = seconds;
        deviation_s_ = seconds / 2;
    } else {
        deviation_s_ = 0.75 * deviation_s_ + 0.25 * std::abs(smoothed_s_ - seconds);
        smoothed_s_ = 0.875 * smoothed_s_ + 0.125 * seconds;
    }
    const Picoseconds wanted = Picoseconds::microseconds((smoothed_s_ + 4 * deviation_s_) * 1e6);
    normal_timeout_ = std::max(Picoseconds::of(plan_->least_timeout), wanted);
}

void TcpConnection::acknowledge(std::uint32_t until, Picoseconds now, std::vector<MessageHandle>& sent) {
    for (std::uint32_t sequence = acknowledged_; sequence < until; ++sequence) {
        if (known_.has(sequence)) {
            known_.clear(sequence);
            --known_count_;
        } else if (under_way_ > 0) {
            --under_way_;
        }
    }
    if (timed_at_ != Picoseconds::never() && until > timed_) {
        if (!recovering()) {
            measure(now - timed_at_);
        }
        timed_at_ = Picoseconds::never();
    }
    // With time stamps (RFC 7323), any progress ends the doubling.
    timeout_ = normal_timeout_;
    const std::uint32_t packets = until - acknowledged_;
    const bool was_recovering = recovering();
    acknowledged_ = until;
    next_ = std::max(next_, until);
    resend_next_ = std::max(resend_next_, until);
    lost_until_ = std::max(lost_until_, until);
    progress_at_ = now;
    messages_.acknowledge(until, sent);
    if (!was_recovering) {
        grow(packets, now);
    }
}

void TcpConnection::note_received(std::uint32_t sequence) {
    if (sequence < acknowledged_ || sequence >= highest_ || known_.has(sequence)) {
        return;
    }
    known_.set(sequence);
    ++known_count_;
    known_highest_ = std::max(known_highest_, sequence + 1);
    if (under_way_ > 0) {
        --under_way_;
    }
}

/// What is missing three packets before the last that has come is lost (RFC 6675).
void TcpConnection::find_lost() {
    if (known_count_ < duplicate_threshold) {
        return;
    }
    if (!recovering()) {
        recover_until_ = highest_;
        resend_next_ = lost_until_ = acknowledged_;
        reduce(plan_->control == core::CongestionControl::cubic ? cubic_factor : 0.5);
    }
    const std::uint32_t until = known_highest_ - std::min(known_highest_, duplicate_threshold - 1);
    for (; lost_until_ < until; ++lost_until_) {
        if (!known_.has(lost_until_) && under_way_ > 0) {
            --under_way_;
        }
    }
    skip_known();
}

void TcpConnection::reduce(double factor) {
    ++reductions_;
    window_max_ = window_;
    window_ = std::max(2.0, window_ * factor);
    reno_window_ = window_;
    threshold_ = window_;
    epoch_ = Picoseconds::never();
}

void TcpConnection::grow(std::uint32_t packets, Picoseconds now) {
    const double most = most_under_way();
    if (window_ < threshold_) {
        window_ = std::min({window_ + packets, std::max(threshold_, window_), most});
        return;
    }
    if (plan_->control == core::CongestionControl::cubic) {
        grow_cubic(packets, now);
    } else {
        window_ += packets / window_;
    }
    window_ = std::min(window_, most);
}

/// RFC 9438, 4.2 to 4.4.
void TcpConnection::grow_cubic(std::uint32_t packets, Picoseconds now) {
    if (epoch_ == Picoseconds::never()) {
        epoch_ = now;
        window_max_ = std::max(window_max_, window_);
        reno_window_ = window_;
    }
    const double elapsed_s = (now - epoch_).seconds() + smoothed_s_;
    const double plateau_s = std::cbrt((window_max_ - threshold_) / cubic_growth);
    const double target = cubic_growth * std::pow(elapsed_s - plateau_s, 3) + window_max_;
    constexpr double reno_growth = 3 * (1 - cubic_factor) / (1 + cubic_factor);
    reno_window_ += (reno_window_ < window_max_ ? reno_growth : 1.0) * packets / window_;
    if (target > window_) {
        window_ += (std::min(target, 1.5 * window_) - window_) / window_ * packets;
    }
    window_ = std::max(window_, reno_window_);
}

/// Once in a round trip: by a half or by as much as was marked.
void TcpConnection::on_marks(const Packet& reply, std::uint32_t packets) {
    round_packets_ += packets;
    round_marked_ += reply.marked ? std::max(packets, 1U) : 0;
    const bool dctcp = plan_->control == core::CongestionControl::dctcp;
    if (!dctcp && reply.marked && acknowledged_ >= round_end_ && !recovering()) {
        round_end_ = highest_;
        reduce(plan_->control == core::CongestionControl::cubic ? cubic_factor : 0.5);
        return;
    }
    if (dctcp && acknowledged_ >= round_end_) {
        if (round_packets_ > 0) {
            const double share = std::min(1.0, static_cast<double>(round_marked_) / round_packets_);
            marked_share_ = (1 - dctcp_gain) * marked_share_ + dctcp_gain * share;
        }
        if (round_marked_ > 0 && !recovering()) {
            reduce(1 - marked_share_ / 2);
        }
        round_end_ = highest_;
        round_packets_ = round_marked_ = 0;
    }
}

void TcpConnection::on_reply(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) {
    const std::uint32_t packets = reply.sequence > acknowledged_ ? reply.sequence - acknowledged_ : 0;
    if (packets > 0) {
        acknowledge(reply.sequence, now, sent);
    }
    if (reply.kind == Packet::Kind::nak) {
        note_received(reply.detail);
        find_lost();
    }
    if (plan_->ecn) {
        on_marks(reply, packets);
    }
    update();
}

bool TcpConnection::on_timeout(Picoseconds now) {
    progress_at_ = now;
    timeout_ = std::min(timeout_ * 2, Picoseconds::of(plan_->most_timeout));
    reduce(0.5);
    window_ = 1;
    recover_until_ = highest_;
    resend_next_ = acknowledged_;
    lost_until_ = highest_;
    under_way_ = 0;
    timed_at_ = Picoseconds::never();
    skip_known();
    update();
    return true;
}

// Receiver

Flow::Replies TcpConnection::on_data(const Packet& packet, Picoseconds /*now*/,
                                     std::vector<MessageHandle>& arrived) {
    Replies replies;
    // RFC 8257, 3.2: an acknowledgement stands for packets that are all marked or all not.
    const bool changed = plan_->ecn && packet.marked != echoed_;
    echoed_ = packet.marked;
    replies.echo = packet.marked;
    if (packet.sequence > expected_) {
        if (ahead_.covers(expected_, packet.sequence)) {
            ahead_.set(packet.sequence);
        }
        replies.negative = true;  // carries which packet came
        return replies;
    }
    if (packet.sequence < expected_) {
        replies.acknowledge = true;
        return replies;
    }
    expected_ = ahead_.consume(expected_ + 1);
    ++unacknowledged_;
    const bool whole = messages_.arrive(expected_, arrived);
    // A single segment would wait for the receiver's timer, which is not modelled: Linux acknowledges what
    // comes after a loss at once ("quick ack").
    const bool single = window_ < 2;
    if (whole || changed || single || unacknowledged_ >= 2 || expected_ > packet.sequence + 1) {
        replies.acknowledge = true;
        unacknowledged_ = 0;
    }
    return replies;
}

}  // namespace weir::packet
