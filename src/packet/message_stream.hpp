// The messages of a connection and the packets that they are cut into, which are numbered 0, 1, 2, ...
// throughout. Both ends in one object: what has been acknowledged, and what has arrived in order.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::packet {

/// What the caller calls a message.
using MessageHandle = std::uint64_t;

class MessageStream {
  public:
    /// Every packet of a message but its last one carries `payload`.
    explicit MessageStream(core::Bytes payload);

    void post(MessageHandle handle, core::Bytes bytes);
    /// After the last packet of the last message.
    [[nodiscard]] std::uint32_t end() const { return end_; }
    /// Of all messages.
    [[nodiscard]] std::int64_t payload_bytes() const { return posted_bytes_; }

    /// Payload of packet `sequence`, which must be neither acknowledged nor beyond end().
    [[nodiscard]] std::int64_t payload_bytes_of(std::uint32_t sequence) {
        return sequence - full_from_ < full_count_ ? payload_ : find_payload_bytes(sequence);
    }

    /// All packets before `until` are acknowledged. Appends the messages that are so as a whole.
    void acknowledge(std::uint32_t until, std::vector<MessageHandle>& sent);
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
    [[nodiscard]] std::int64_t find_payload_bytes(std::uint32_t sequence);
    bool complete(std::uint32_t until, std::vector<MessageHandle>& arrived);

    std::int64_t payload_;
    /// Packets that are known to be full and not the last of their message: payload_bytes_of() is
    /// called for every packet.
    std::uint32_t full_from_ = 0;
    std::uint32_t full_count_ = 0;
    std::uint32_t first_arriving_end_ = 0;  ///< of the first message in arriving_
    core::RingQueue<Message> sending_;      ///< not acknowledged as a whole
    core::RingQueue<Message> arriving_;     ///< not arrived as a whole
    std::size_t cursor_ = 0;                ///< in sending_: where the last packet looked for was
    std::uint32_t end_ = 0;
    std::int64_t posted_bytes_ = 0;
};

}  // namespace weir::packet
