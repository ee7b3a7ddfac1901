// What a connection between two hosts does, whatever its protocol: has packets to send, takes what comes
// back. Both ends in one object. No clock: time is an argument.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
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
    // What follows is for flows that get replies; those of datagrams and of others' packets have none.
    /// An acknowledgement, a NAK or a CNP. Appends the messages that are through.
    virtual void on_reply(const Packet& /*reply*/, Picoseconds /*now*/,
                          std::vector<MessageHandle>& /*sent*/) {}
    /// When on_timeout() is due; never() while nothing is awaited.
    [[nodiscard]] virtual Picoseconds timeout_at() const { return Picoseconds::never(); }
    /// Whether it has become due earlier by the last packet that was sent.
    [[nodiscard]] bool starts_timer() const { return starts_timer_; }
    /// True: what it had sent was not acknowledged in time. False: it waited for something else.
    virtual bool on_timeout(Picoseconds /*now*/) { return false; }

    // Receiver

    struct Replies {
        bool acknowledge = false;
        bool negative = false;  ///< the acknowledgement is a NAK
        bool notify = false;    ///< and a CNP
        bool echo = false;      ///< the acknowledgement reports a mark
        bool kept = false;      ///< the packet came ahead of a missing one, which is not taken for lost
    };
    /// Appends the messages that are whole.
    virtual Replies on_data(const Packet& /*packet*/, Picoseconds /*now*/,
                            std::vector<MessageHandle>& /*arrived*/) {
        return {};
    }
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
    std::uint64_t timeouts = 0;      ///< the network's: of its acknowledgements
    bool unnumbered = false;         ///< its packets have no numbers: which of them are missing is not known
    CreditDemand* demand = nullptr;  ///< where its receiver gives credits
    bool in_credit_row = false;      ///< the receiving host's: it stands in the row of those that want some
    std::uint32_t unanswered = 0;    ///< of others: messages that are not through
    Picoseconds timer_at = Picoseconds::never();  ///< the network's: an event for timeout_at() is pending

  protected:
    /// Sets has_packet_ after anything has changed.
    virtual void update() = 0;

    std::uint64_t packets_sent_again_ = 0;
    std::uint64_t cuts_before_ = 0;  ///< of flows whose place it takes

    // What follows is read for every packet, without a virtual call: it lies in few cache lines, together
    // with the end of MessageStream and the beginning of QueuePair.
    Ends ends_;
    MessageStream messages_;
    std::uint32_t expected_ = 0;
    bool has_packet_ = false;
    bool starts_timer_ = true;

  public:
    bool is_queue_pair = false;  ///< a QueuePair: called without a look at its type
    bool queued = false;         ///< it stands in a FlowRow
    bool lacks_packets = false;  ///< the network's: a failure lost some that have not come since
    bool of_others = false;      ///< the network's: nobody is told of its messages
    WireBytes traffic;           ///< counted by the network

  protected:
    Picoseconds next_send_;
};

// The flows of a host and a priority that have packets, in turn: the first whose time to send has come sends
// a packet, and goes to the end of the row with all that stand before it.
//
// The row is a ring: to go to the end is to be passed by the place whose turn it is. Beside each flow stands
// a time before which it does not send, and such a time for each block of flows, so that of a thousand with
// low rates most are passed sixty-four at a time.
//
// Rejected: a heap of those that wait, by their time. A flow whose time has come stands where its turn is,
// between others that still wait.

class FlowRow {
  public:
    [[nodiscard]] bool empty() const { return places_.empty(); }
    /// One that is not in the row, to its end. Its time to send does not go back while it is.
    void push(Flow& flow) {
        flow.queued = true;
        places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(turn_), {&flow, flow.next_send()});
        forget_blocks();
        ++turn_;
    }
    /// The first flow in turn with a packet whose time has come; sent() must follow. nullptr: none, and
    /// `earliest` is lowered to a time before which there is none. Flows without packets leave the row.
    Flow* next(Picoseconds now, Picoseconds& earliest);
    /// What next() returned has sent a packet.
    void sent();
    /// A flow of the row has no packets any more; it leaves when it is passed.
    void note_empty(const Flow& flow) {
        const auto found = std::find_if(places_.begin(), places_.end(),
                                        [&](const Place& place) { return place.flow == &flow; });
        WEIR_ASSERT(found != places_.end());
        found->not_before = {};
        if (const auto number = static_cast<std::size_t>(found - places_.begin()) / block;
            number < blocks_.size()) {
            blocks_[number] = {};
        }
    }
    /// A time before which none of them sends; exact only beyond `until`. never(): of an empty row.
    [[nodiscard]] Picoseconds not_before(Picoseconds until);

  private:
    struct Place {
        Flow* flow = nullptr;
        Picoseconds not_before;
    };
    static constexpr std::size_t block = 64;

    /// Whether all of a block have to wait, until when.
    bool waits(std::size_t number, Picoseconds now, Picoseconds& earliest) {
        if (number >= blocks_.size()) {
            return false;
        }
        Picoseconds& not_before = blocks_[number];
        if (not_before <= now) {
            Picoseconds least = Picoseconds::never();
            for (const Place* place = places_.data() + number * block;
                 place < places_.data() + (number + 1) * block; ++place) {
                if (place->not_before <= now) {
                    return false;
                }
                least = std::min(least, place->not_before);
            }
            not_before = least;
        }
        earliest = std::min(earliest, not_before);
        return true;
    }
    /// Whose turn it is leaves the row.
    void leave() {
        places_[turn_].flow->queued = false;
        places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(turn_));
        forget_blocks();
    }
    /// Places from `turn_` on have changed.
    void forget_blocks() {
        blocks_.resize(places_.size() / block);
        std::fill(blocks_.begin() + static_cast<std::ptrdiff_t>(std::min(turn_ / block, blocks_.size())),
                  blocks_.end(), Picoseconds{});
    }

    std::vector<Place> places_;
    std::vector<Picoseconds> blocks_;  ///< of as many whole blocks as there are; too early, where not known
    std::size_t turn_ = 0;
};

inline Flow* FlowRow::next(Picoseconds now, Picoseconds& earliest) {
    Place* const places = places_.data();
    std::size_t size = places_.size();
    std::size_t turn = turn_;
    for (std::size_t left = size; left > 0;) {
        turn = turn == size ? 0 : turn;
        if (left >= block && turn % block == 0 && waits(turn / block, now, earliest)) {
            turn += block;
            left -= block;
            continue;
        }
        --left;
        Place& place = places[turn];
        if (place.not_before <= now) {
            if (!place.flow->has_packet()) {
                turn_ = turn;
                leave();
                --size;
                continue;
            }
            place.not_before = place.flow->next_send();
            if (place.not_before <= now) {
                turn_ = turn;
                return place.flow;
            }
        }
        earliest = std::min(earliest, place.not_before);
        ++turn;
    }
    turn_ = turn;
    return nullptr;
}

inline void FlowRow::sent() {
    Place& place = places_[turn_];
    if (place.flow->has_packet()) {
        place.not_before = place.flow->next_send();
        ++turn_;
        __builtin_prefetch(places_[turn_ < places_.size() ? turn_ : 0].flow);
    } else {
        leave();
    }
}

inline Picoseconds FlowRow::not_before(Picoseconds until) {
    Picoseconds earliest = Picoseconds::never();
    for (std::size_t number = 0; number < blocks_.size(); ++number) {
        if (!waits(number, until, earliest)) {
            return until;
        }
    }
    const Place* const end = places_.data() + places_.size();
    for (const Place* place = places_.data() + blocks_.size() * block; place < end; ++place) {
        if (place->not_before <= until) {
            return until;
        }
        earliest = std::min(earliest, place->not_before);
    }
    return earliest;
}

}  // namespace weir::packet
