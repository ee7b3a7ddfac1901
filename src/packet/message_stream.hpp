// The messages of a connection and the packets that they are cut into, which are numbered 0, 1, 2, ...
// throughout. Both ends in one object: what has been acknowledged, and what has arrived in order.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/assertion.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::packet {

/// What the caller calls a message.
using MessageHandle = std::uint64_t;

class MessageStream {
  public:
    /// Every packet of a message but its last one carries `payload`.
    explicit MessageStream(core::Bytes payload) : payload_(payload.count) { WEIR_ASSERT(payload_ > 0); }

    void post(MessageHandle handle, core::Bytes bytes) {
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
    /// After the last packet of the last message.
    [[nodiscard]] std::uint32_t end() const { return end_; }
    /// Of all messages.
    [[nodiscard]] std::int64_t payload_bytes() const { return posted_bytes_; }

    /// Payload of packet `sequence`, which must be neither acknowledged nor beyond end().
    [[nodiscard]] std::int64_t payload_bytes_of(std::uint32_t sequence) {
        return sequence - full_from_ < full_count_ ? payload_ : find_payload_bytes(sequence);
    }

    /// All packets before `until` are acknowledged. Appends the messages that are so as a whole.
    void acknowledge(std::uint32_t until, std::vector<MessageHandle>& sent) {
        while (!sending_.empty() && sending_.front().end <= until) {
            sent.push_back(sending_.pop().handle);
            cursor_ -= cursor_ > 0 ? 1 : 0;
        }
    }
    /// All packets before `until` have arrived. Appends the messages that have so as a whole; returns whether
    /// there are any.
    bool arrive(std::uint32_t until, std::vector<MessageHandle>& arrived) {
        return until >= first_arriving_end_ && complete(until, arrived);
    }

  private:
    struct Message {
        MessageHandle handle = 0;
        std::int64_t bytes = 0;
        std::uint32_t first = 0;
        std::uint32_t end = 0;
    };
    [[nodiscard]] std::int64_t find_payload_bytes(std::uint32_t sequence) {
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
    bool complete(std::uint32_t until, std::vector<MessageHandle>& arrived) {
        const std::size_t before = arrived.size();
        while (!arriving_.empty() && arriving_.front().end <= until) {
            arrived.push_back(arriving_.pop().handle);
        }
        if (!arriving_.empty()) {
            first_arriving_end_ = arriving_.front().end;
        }
        return arrived.size() != before;
    }

    core::RingQueue<Message> sending_;   ///< not acknowledged as a whole
    core::RingQueue<Message> arriving_;  ///< not arrived as a whole
    std::size_t cursor_ = 0;             ///< in sending_: where the last packet looked for was
    // What is read for every packet comes last, beside what follows in a Flow.
    std::int64_t payload_;
    std::int64_t posted_bytes_ = 0;
    /// Packets that are known to be full and not the last of their message.
    std::uint32_t full_from_ = 0;
    std::uint32_t full_count_ = 0;
    std::uint32_t first_arriving_end_ = 0;  ///< of the first message in arriving_
    std::uint32_t end_ = 0;
};

}  // namespace weir::packet
