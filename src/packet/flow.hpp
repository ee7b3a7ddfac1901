// What a connection between two hosts does, whatever its protocol: has packets to send, takes what comes
// back. Both ends in one object. No clock: time is an argument.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/assertion.hpp"
#include "packet/message_stream.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

/// Which packets beyond the first missing one are there: one bit each, for a bounded number of packets.
class ReceivedAhead {
  public:
    /// For packets less than `most` beyond the first that is not there.
    explicit ReceivedAhead(std::uint32_t most) : bits_(std::bit_ceil(most + 1U)) {}

    [[nodiscard]] bool has(std::uint32_t sequence) const { return bits_[sequence & mask()]; }
    /// Whether this packet, so far beyond `first`, has a bit.
    [[nodiscard]] bool covers(std::uint32_t first, std::uint32_t sequence) const {
        return sequence - first < bits_.size();
    }
    void set(std::uint32_t sequence) { bits_[sequence & mask()] = true; }
    void clear(std::uint32_t sequence) { bits_[sequence & mask()] = false; }
    /// The first packet from `sequence` on that is not there; those before it are forgotten.
    std::uint32_t consume(std::uint32_t sequence) {
        for (; has(sequence); ++sequence) {
            clear(sequence);
        }
        return sequence;
    }

  private:
    [[nodiscard]] std::uint32_t mask() const { return static_cast<std::uint32_t>(bits_.size() - 1); }
    std::vector<bool> bits_;
};

class CreditDemand;

class Flow {
  public:
    struct Ends {
        FlowIndex index;
        NodeIndex from;
        NodeIndex to;
        Priority priority = 0;
        core::BitRate line_rate;     ///< of the sender's link
        std::uint64_t identity = 0;  ///< a hash of seed, hosts and number: of random times
        std::uint64_t path = 0;      ///< what a switch makes of it for its hash
    };

    Flow(const Ends& ends, core::Bytes payload) : ends_(ends), messages_(payload) {}
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;
    virtual ~Flow() = default;

    // Sender

    /// Neither has anything to send nor waits for an answer: what is posted next starts it.
    [[nodiscard]] bool idle() const { return !has_packet_ && timeout_at() == Picoseconds::never(); }
    /// Size of its next packet on the wire. Only with has_packet().
    [[nodiscard]] virtual std::int64_t next_wire_bytes() = 0;
    /// Its next packet has to wait until then.
    void hold_until(Picoseconds until) { next_send_ = std::max(next_send_, until); }

    void post(MessageHandle handle, core::Bytes bytes) {
        messages_.post(handle, bytes);
        update();
    }
    /// A packet may be sent once next_send() has come.
    [[nodiscard]] bool has_packet() const { return has_packet_; }
    [[nodiscard]] Picoseconds next_send() const { return next_send_; }
    /// Only with has_packet().
    virtual Packet send(Picoseconds now) = 0;
    /// An acknowledgement, a NAK or a CNP. Appends the messages that are through.
    virtual void on_reply(const Packet& reply, Picoseconds now, std::vector<MessageHandle>& sent) = 0;
    /// When on_timeout() is due; never() while nothing is awaited.
    [[nodiscard]] virtual Picoseconds timeout_at() const = 0;
    /// Whether it has become due earlier by the last packet that was sent.
    [[nodiscard]] bool starts_timer() const { return starts_timer_; }
    /// True: what it had sent was not acknowledged in time. False: it waited for something else.
    virtual bool on_timeout(Picoseconds now) = 0;

    // Receiver

    struct Replies {
        bool acknowledge = false;
        bool negative = false;  ///< the acknowledgement is a NAK
        bool notify = false;    ///< and a CNP
        bool echo = false;      ///< the acknowledgement reports a mark
        bool kept = false;      ///< the packet came ahead of a missing one, which is not taken for lost
    };
    /// Appends the messages that are whole.
    virtual Replies on_data(const Packet& packet, Picoseconds now, std::vector<MessageHandle>& arrived) = 0;
    /// A packet of it has been dropped on the way. Appends the messages that can no longer arrive.
    virtual void on_dropped(const Packet& /*packet*/, std::vector<MessageHandle>& /*lost*/) {}
    /// The next packet that the receiver expects: all before have arrived.
    [[nodiscard]] std::uint32_t expected() const { return expected_; }

    [[nodiscard]] const Ends& ends() const { return ends_; }
    [[nodiscard]] std::uint64_t packets_sent_again() const { return packets_sent_again_; }
    /// How often its congestion control has lowered rate or window.
    [[nodiscard]] virtual std::uint64_t cuts() const { return cuts_before_; }

    /// Nothing is to be sent, acknowledged or under way.
    [[nodiscard]] bool quiet() const {
        return !has_packet_ && !queued && !in_credit_row && timeout_at() == Picoseconds::never() &&
               traffic.sent == traffic.arrived + traffic.dropped;
    }
    /// Takes the place of another flow of this sender, which is quiet: what was counted goes on, and so does
    /// its timer.
    void succeed(const Flow& before) {
        traffic = before.traffic;
        timeouts = before.timeouts;
        packets_sent_again_ = before.packets_sent_again_;
        cuts_before_ = before.cuts();
        timer_at = before.timer_at;
    }

    /// Bytes on the wire of its packets, replies included. What is neither arrived nor dropped waits or is on
    /// the way.
    struct WireBytes {
        std::uint64_t sent = 0;
        std::uint64_t arrived = 0;
        std::uint64_t dropped = 0;
        bool operator==(const WireBytes&) const = default;
    };
    WireBytes traffic;           ///< counted by the network
    std::uint64_t timeouts = 0;  ///< the network's: of its acknowledgements

    bool queued = false;             ///< it stands in a FlowRow
    bool unnumbered = false;         ///< its packets have no numbers: which of them are missing is not known
    CreditDemand* demand = nullptr;  ///< where its receiver gives credits
    bool in_credit_row = false;      ///< the receiving host's: it stands in the row of those that want some
    bool lacks_packets = false;      ///< the network's: a failure lost some that have not come since
    bool of_others = false;          ///< the network's: nobody is told of its messages
    std::uint32_t unanswered = 0;    ///< of others: messages that are not through
    Picoseconds timer_at = Picoseconds::never();  ///< the network's: an event for timeout_at() is pending

  protected:
    /// Sets has_packet_ after anything has changed.
    virtual void update() = 0;

    // What the network reads for every packet, without a virtual call.
    bool has_packet_ = false;
    bool starts_timer_ = true;
    Picoseconds next_send_;
    Ends ends_;
    std::uint32_t expected_ = 0;
    std::uint64_t packets_sent_again_ = 0;
    std::uint64_t cuts_before_ = 0;  ///< of flows whose place it takes
    MessageStream messages_;
};

}  // namespace weir::packet
