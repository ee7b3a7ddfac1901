#include "transport/ucx_warmup.hpp"

#include <algorithm>
#include <string>

#include "core/assertion.hpp"
#include "core/memory_need.hpp"
#include "transport/payload.hpp"

namespace weir::transport {

namespace {

constexpr std::int64_t greetings_at_a_time = 64;

}  // namespace

UcxWarmup::UcxWarmup(core::NodeId self, const core::RoleMap& roles, const core::Plan& plan,
                     UcxControl& control, UcxData* data, const ChunkBuffers& buffers)
    : roles_(roles),
      buffers_(buffers),
      control_(control),
      data_(data),
      partners_(greeting_partners(self, roles)),
      per_pair_(warmup_messages_per_pair(plan)),
      consumer_buffers_(core::chunk_buffers_per_place(plan) * plan.places()),
      fill_seed_(payload_seed(plan, self.index)) {
    switch (self.role) {
        case core::Role::scheduler:
            break;
        case core::Role::producer:
            to_send_ = per_pair_ * roles.consumers();
            // Producers begin at different consumers, so that these do not all get their data at the same
            // time.
            first_consumer_ =
                static_cast<std::uint32_t>(std::uint64_t{self.index} * roles.consumers() / roles.producers());
            // No more than there are buffers, so that none is sent from twice at a time.
            sending_.assign(
                std::min({std::size_t{plan.streams} * plan.window, buffers.count(), sends_at_a_time}), false);
            break;
        case core::Role::consumer:
            to_receive_ = per_pair_ * roles.producers();
            receiving_.assign(buffers.count(), false);
            received_from_.assign(static_cast<std::size_t>(roles.ranks()), 0);
            break;
    }
}

bool UcxWarmup::step() {
    control_.network().progress();
    greet();
    control_.network().report_failures(unreachable_);
    if (data_ != nullptr) {
        data_->progress();
        complete_sent();
        send();
        begin_receiving();
        complete_received();
        data_->report_failures(unreachable_);
    }
    if (!unreachable_.empty()) {
        throw TransportError("warm-up", unreachable_.front().rank, unreachable_.front().why);
    }
    return messages_done() == messages_total();
}

std::int64_t UcxWarmup::messages_done() const {
    return sent_ + received_ + control_.greetings_sent() + control_.greetings_received();
}

std::int64_t UcxWarmup::messages_total() const {
    return to_send_ + to_receive_ + static_cast<std::int64_t>(partners_.to.size()) + partners_.expected;
}

void UcxWarmup::greet() {
    while (greeted_ < partners_.to.size() &&
           static_cast<std::int64_t>(greeted_) - control_.greetings_sent() < greetings_at_a_time) {
        control_.greet(partners_.to[greeted_++]);
    }
}

void UcxWarmup::complete_sent() {
    for (const UcxData::Sent& sent : data_->sent()) {
        sending_[sent.sending] = false;
        sent_ += sent.delivered ? 1 : 0;
    }
    data_->sent().clear();
}

void UcxWarmup::send() {
    std::size_t filled_bytes = 0;
    while (handed_over_ < to_send_ && filled_bytes < fill_bytes_per_step) {
        // The message that had this index before is through, and those older than it: this one's buffer is
        // free.
        const std::size_t index = static_cast<std::size_t>(handed_over_) % sending_.size();
        if (sending_[index]) {
            return;
        }
        const std::size_t buffer = static_cast<std::size_t>(handed_over_) % buffers_.count();
        const auto memory = buffers_.at(buffer);
        if (static_cast<std::size_t>(handed_over_) < buffers_.count()) {
            fill_payload(memory.subspan(core::chunk_header_bytes), buffer_seed(fill_seed_, buffer));
            filled_bytes += memory.size();
        }
        const core::ConsumerId to{
            static_cast<std::uint32_t>((first_consumer_ + handed_over_) % roles_.consumers())};
        sending_[index] = true;
        // With put, all buffers of the consumer are written to in turn.
        const auto target =
            static_cast<std::uint32_t>((handed_over_ / roles_.consumers()) % consumer_buffers_);
        ++handed_over_;
        data_->send(UcxData::Kind::warmup, roles_.rank(core::node_of(to)), {0, target}, memory, index);
    }
}

void UcxWarmup::begin_receiving() {
    std::vector<UcxData::Arrival>& arrivals = data_->arrivals(UcxData::Kind::warmup);
    std::size_t begun = 0;
    for (; begun < arrivals.size(); ++begun) {
        const UcxData::Arrival arrival = arrivals[begun];
        const auto source = static_cast<std::size_t>(arrival.source.value);
        if (receiving_.empty() || arrival.bytes != buffers_.message_bytes() ||
            received_from_[source] == per_pair_) {
            throw TransportError("warm-up", arrival.source,
                                 "it sent a message of " + std::to_string(arrival.bytes) + " bytes after " +
                                     std::to_string(receiving_.empty() ? 0 : received_from_[source]) +
                                     " of " + std::to_string(per_pair_) + " of " +
                                     std::to_string(buffers_.message_bytes()) +
                                     " bytes: do all ranks run the same plan?");
        }
        const std::size_t buffer = static_cast<std::size_t>(begun_) % receiving_.size();
        if (receiving_[buffer]) {
            break;
        }
        receiving_[buffer] = true;
        ++received_from_[source];
        ++begun_;
        data_->receive(arrival, buffer);
    }
    arrivals.erase(arrivals.begin(), arrivals.begin() + static_cast<std::ptrdiff_t>(begun));
}

void UcxWarmup::complete_received() {
    for (const UcxData::Received& received : data_->received()) {
        receiving_[received.buffer] = false;
        received_ += received.complete ? 1 : 0;
    }
    data_->received().clear();
}

}  // namespace weir::transport
