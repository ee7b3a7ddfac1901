#include "packet/message_stream.hpp"

#include <limits>

#include "core/assertion.hpp"

namespace weir::packet {

MessageStream::MessageStream(core::Bytes payload) : payload_(payload.count) {
    WEIR_ASSERT(payload_ > 0);
}

void MessageStream::post(MessageHandle handle, core::Bytes bytes) {
    WEIR_ASSERT(bytes.count > 0);
    const std::int64_t packets = (bytes.count + payload_ - 1) / payload_;
    WEIR_ASSERT(end_ + packets < std::numeric_limits<std::uint32_t>::max());
    const Message message{handle, bytes.count, end_, end_ + static_cast<std::uint32_t>(packets)};
    end_ = message.end;
    posted_bytes_ += bytes.count;
    sending_.push(message);
    if (arriving_.empty()) {
        first_arriving_end_ = message.end;
    }
    arriving_.push(message);
}

std::int64_t MessageStream::find_payload_bytes(std::uint32_t sequence) {
    if (cursor_ >= sending_.size() || sequence < sending_.at(cursor_).first) {
        cursor_ = 0;
    }
    while (sending_.at(cursor_).end <= sequence) {
        ++cursor_;
    }
    const Message& message = sending_.at(cursor_);
    WEIR_ASSERT(sequence >= message.first);
    full_from_ = message.first;
    full_count_ = message.end - 1 - message.first;
    return sequence + 1 < message.end ? payload_
                                      : message.bytes - payload_ * (message.end - 1 - message.first);
}

void MessageStream::acknowledge(std::uint32_t until, std::vector<MessageHandle>& sent) {
    while (!sending_.empty() && sending_.front().end <= until) {
        sent.push_back(sending_.pop().handle);
        cursor_ -= cursor_ > 0 ? 1 : 0;
    }
}

bool MessageStream::complete(std::uint32_t until, std::vector<MessageHandle>& arrived) {
    const std::size_t before = arrived.size();
    while (!arriving_.empty() && arriving_.front().end <= until) {
        arrived.push_back(arriving_.pop().handle);
    }
    if (!arriving_.empty()) {
        first_arriving_end_ = arriving_.front().end;
    }
    return arrived.size() != before;
}

}  // namespace weir::packet
