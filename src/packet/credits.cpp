#include "packet/credits.hpp"

#include <utility>

namespace weir::packet {

namespace {

/// Packets carry the last 32 bits of a count, so what they tell is less than 2 GiB ahead of what is known.
constexpr std::int64_t most_told = 1'000'000'000;

/// What was told, if it is more than is known already.
void raise(std::int64_t& count, std::uint32_t told) {
    count += std::max(0, static_cast<std::int32_t>(told - static_cast<std::uint32_t>(count)));
}

}  // namespace

// Sender

CreditedSender::CreditedSender(const core::CreditPlan& plan, core::BitRate line_rate, std::uint32_t window)
    : SenderControl(window),
      line_rate_(static_cast<double>(line_rate.bits_per_second)),
      unasked_(unasked_bytes(plan, line_rate)),
      granted_(unasked_) {
    tells_demand_ = true;
    choose_turn();
}

/// A packet may be longer than what is left of a credit; the next credit is so much less.
void CreditedSender::choose_turn() {
    turn_ = sent_ < granted_ ? Turn::send : told_ > granted_ ? Turn::wait : Turn::ask;
}

Picoseconds CreditedSender::on_sent(Packet& packet, std::int64_t waiting_bytes, Picoseconds /*now*/) {
    if (packet.kind == Packet::Kind::data) {
        sent_ += packet.wire_bytes;
    }
    told_ = sent_ + std::min(waiting_bytes, most_told);
    packet.detail = static_cast<std::uint32_t>(told_);
    packet.burst = burst_;
    choose_turn();
    return duration(packet, line_rate_);
}

void CreditedSender::on_reply(const Packet& reply, std::uint32_t /*acknowledged*/, bool idle,
                              Picoseconds /*now*/) {
    if (reply.kind == Packet::Kind::credit && reply.burst == burst_) {
        raise(granted_, reply.detail);
    }
    if (idle && sent_ > 0) {
        begin_burst();
    }
    choose_turn();
}

/// If nothing was under way, the request or its credit may be lost; the receiver tells its count again.
void CreditedSender::on_timeout(bool under_way, Picoseconds /*now*/) {
    if (under_way) {
        begin_burst();
    } else {
        told_ = 0;
    }
    choose_turn();
}

void CreditedSender::begin_burst() {
    ++burst_;
    sent_ = told_ = 0;
    granted_ = unasked_;
}

// Receiver

std::int64_t CreditDemand::hear(const Packet& packet) {
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

std::int64_t CreditDemand::give(std::int64_t most) {
    const std::int64_t given = std::clamp(told_ - given_, std::int64_t{0}, most);
    given_ += given;
    return given;
}

}  // namespace weir::packet
