// What a core state machine needs done by its surroundings, and what it found. A core never acts: every
// input appends to an Actions, and the loop (or the simulator) carries it out in this order:
// open_places, cancelled, chunks, results, messages. A slot is therefore open, and its result under way,
// before the credit for it leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ledger.hpp"
#include "core/messages.hpp"
#include "core/units.hpp"

namespace weir::core {

/// What one message of data on the wire holds, and where that lies in its event.
struct ChunkDescription {
    EventId event;
    Bytes event_bytes;
    Bytes offset;  ///< of the chunk's first byte in the event
    Bytes length;
    std::uint32_t sequence = 0;  ///< 0, 1, 2, ... within the event
    Epoch epoch = 0;             ///< of the consumer that it was granted to
    Instant generated_at;        ///< when the event was generated
    Instant begun_at{};          ///< when the fragment's first chunk was handed over
    bool operator==(const ChunkDescription&) const = default;
};

/// Send one chunk. The core keeps at most `window` of them under way per stream.
struct SendChunk {
    ConsumerId to;
    PlaceId place;
    StreamId stream;
    ChunkDescription chunk;
    Instant due_at{};  ///< shaping: when it should have been handed over
};

/// Send the result of an event to the scheduler: bytes of no meaning, ahead of the credit of the slot
/// that the event was in.
struct SendResult {
    SlotId slot;
    EventId event;
    Bytes bytes;
    bool operator==(const SendResult&) const = default;
};

struct SendMessage {
    SendMessage() = default;
    /// `body`: a message of any kind, which is written where it stays.
    template <typename Body>
    SendMessage(NodeId receiver, const Body& body) : to(receiver), message(body) {}

    NodeId to;
    ControlMessage message;
};

/// What happened to one event or slot; for logs and histograms, not for control.
struct Observation {
    enum class Kind : std::uint8_t {
        generated,         ///< producer: `bytes`
        dropped,           ///< producer: at overflow, as it was generated
        left_over,         ///< producer: given up at the end; `elapsed` since it was generated
        gone,              ///< producer: no byte of it is backlog any more; `elapsed` since it was generated
        granted,           ///< producer: `elapsed` since it was offered; 0 if the grant was there before
        transfer_started,  ///< producer: first chunk handed over; `elapsed` since event and grant were there
        chunk_sent,        ///< producer: `bytes` of `chunks` left
        chunk_sent_again,  ///< producer: the same, because the consumer asked again
        transfer_completed,  ///< producer: last chunk left; `elapsed` since the first was handed over
        asked_again,         ///< consumer: for a fragment of `peer`
        transfer_noticed,    ///< consumer: of a fragment; `elapsed` since its first chunk was handed over
                             ///< (common clock)
        chunk_received,      ///< consumer: `bytes` (lossy: of `chunks`, as of the following)
        chunk_duplicate,     ///< consumer, lossy: had arrived before; `bytes`
        chunk_late,          ///< consumer, lossy: of an event that was given up, or of none; `bytes`
        chunk_corrupt,       ///< consumer, lossy: does not verify, so it counts as missing; `bytes`
        received,            ///< consumer: whole fragment; `elapsed` since it was generated (common clock)
        given_up,            ///< consumer: fragment of `bytes` that never became whole (declined: of 0)
        event_finished,  ///< consumer, pattern build: all fragments; `elapsed` since the first was generated
        event_given_up,  ///< consumer, pattern build: an event of which a fragment was given up
        processed,       ///< consumer: `elapsed` processing time of the event
        // With --on-failure continue.
        consumer_lost,      ///< scheduler: `peer` is taken out
        consumer_admitted,  ///< scheduler: `peer` is taken in again
        taken_back,         ///< producer: from the lost `peer`, which was sent `bytes` of it
        chunk_stale,        ///< consumer: sent to an earlier life of it; `bytes`
    };
    Kind kind = Kind::generated;
    NodeId peer{};  ///< the other side, where there is one
    EventId event{};
    Bytes bytes{};
    Duration elapsed{};
    std::uint32_t chunks = 1;
};

/// Something that must not happen, with all that is known about it. The run goes on where it can and fails at
/// the end, or fails at once; the loop chooses by kind.
struct Fault {
    enum class Kind : std::uint8_t {
        corrupt_header,      ///< a chunk whose header does not verify
        corrupt_payload,     ///< a chunk whose payload does not verify
        unexpected_chunk,    ///< a chunk of an event that its slot was not receiving, or out of bounds
        duplicate_chunk,     ///< a chunk that had already arrived
        incomplete_event,    ///< chunks of an event were still missing when the run closed
        protocol_violation,  ///< a control message that cannot be right; `detail` has the reason
    };
    Kind kind = Kind::protocol_violation;
    NodeId source{};
    NodeId destination{};
    EventId event{};
    Bytes offset{};
    std::uint32_t sequence = 0;
    const char* detail = "";  ///< a literal
};

struct Actions {
    std::vector<PlaceId> open_places;
    /// Streams whose transfer is not to go on: chunks that have not left do not leave.
    std::vector<StreamId> cancelled;
    std::vector<SendChunk> chunks;
    std::vector<SendResult> results;
    std::vector<SendMessage> messages;
    std::vector<Observation> observations;
    std::vector<Fault> faults;
    bool close_places = false;  ///< withdraw every posted receive: the run is over

    /// Inlined and field by field, so that each is written where it stays: a copy of the whole would have to
    /// wait for what was just stored in parts.
    [[gnu::always_inline]] void observe(Observation::Kind kind, NodeId peer, EventId event = {},
                                        Bytes bytes = {}, Duration elapsed = {}, std::uint32_t count = 1) {
        Observation& kept = observations.emplace_back();
        kept.kind = kind;
        kept.peer = peer;
        kept.event = event;
        kept.bytes = bytes;
        kept.elapsed = elapsed;
        kept.chunks = count;
    }

    /// Empties the lists and keeps their memory.
    void clear() {
        open_places.clear();
        cancelled.clear();
        chunks.clear();
        results.clear();
        messages.clear();
        observations.clear();
        faults.clear();
        close_places = false;
    }
};

/// What is known of the socket of a rank whose chunks are datagrams: a transport keeps it, recorders make
/// seconds of it. Counts since the warm-up, and sizes as they are now.
struct SocketState {
    std::uint64_t sent_datagrams = 0;    ///< that the kernel took
    std::uint64_t sent_bytes = 0;        ///< of them
    std::uint64_t sent_frames = 0;       ///< by core::wire_cost
    std::uint64_t wire_bytes = 0;        ///< by core::wire_cost
    std::uint64_t refused_by_queue = 0;  ///< times that a queue of this host was full, of send_retries
    std::uint64_t send_retries = 0;      ///< times that the kernel had no room for a datagram, which was kept
    std::uint64_t receive_drops = 0;     ///< datagrams that the kernel dropped because the socket was full
    std::uint64_t strays = 0;            ///< datagrams that came from no producer of this run
    std::int64_t occupancy_bytes = 0;    ///< of the receive buffer, as the kernel charges it, when looked at
    std::int64_t send_buffer_bytes = 0;  ///< what the kernel gave
    std::int64_t receive_buffer_bytes = 0;  ///< what the kernel gave
    std::int64_t mtu_bytes = 0;  ///< producer: the least of its consumers' interfaces; loopback: of Ethernet
};

// A ledger travels to the scheduler as one control message per entry, in the order of LedgerEntry.

/// Appends the messages that report `ledger` to the scheduler.
void append_ledger_report(const Ledger& ledger, Actions& out);

/// Adds one received entry to `ledger`. False if there is no such entry, or no sum can hold it.
[[nodiscard]] bool add_ledger_entry(const LedgerPart& part, Ledger& ledger);

/// Number of messages in a report.
inline constexpr std::uint32_t ledger_report_messages = 8;

}  // namespace weir::core
