// The transport contract: how chunks and control packets move. One rank owns one Transport and calls it from
// one thread. Nothing here blocks: calls start work, poll() reports what has finished.
//
// Chunks go straight from the producer's buffer into the place that was opened for them; a transport never
// allocates per chunk. Memory is given at the start (see the implementations) and touched by warm-up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/units.hpp"

namespace weir::transport {

/// Until when something that cannot be waited for without a limit is waited for.
using Deadline = std::chrono::steady_clock::time_point;

/// A rank of the job.
struct Rank {
    int value = -1;
    constexpr auto operator<=>(const Rank&) const = default;
};

// What a transport throws. Two types, because they mean different things to a user: a network or peer that
// failed, and a plan that does not fit into this host's memory.

/// An operation of the underlying library failed. The run cannot go on.
class TransportError : public std::runtime_error {
  public:
    /// `operation` is the failed call, `peer` the rank it concerned (-1: none or not known).
    TransportError(const std::string& operation, Rank peer, const std::string& reason)
        : std::runtime_error(operation + (peer.value >= 0 ? " with rank " + std::to_string(peer.value) : "") +
                             ": " + reason),
          operation_(operation),
          peer_(peer) {}

    /// Control packets still go: only data for this peer does not. The transport reports it once per peer.
    [[nodiscard]] bool control_works() const { return control_works_; }
    TransportError&& that_leaves_control() && {
        control_works_ = true;
        return std::move(*this);
    }

    [[nodiscard]] const std::string& operation() const { return operation_; }
    [[nodiscard]] Rank peer() const { return peer_; }

  private:
    std::string operation_;
    Rank peer_;
    bool control_works_ = false;
};

/// Buffers could not be allocated, or the plan needs more than the transport can do. The message names the
/// sizes and the options to change.
class CapacityError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A chunk that a producer's stream had under way has left: its memory is free again. Whether the consumer
/// then has it is up to the transport.
struct ChunkSent {
    core::StreamId stream;
    std::uint32_t sequence = 0;
};

/// How many of these, from the first on, are successive chunks of one stream; 0 of none.
inline std::uint32_t successive(std::span<const ChunkSent> sent) {
    std::uint32_t count = 0;
    while (count < sent.size() && sent[count].stream == sent[0].stream &&
           sent[count].sequence == sent[0].sequence + count) {
        ++count;
    }
    return count;
}

/// Data that ought to be a chunk lies in an open place of this consumer.
struct ChunkArrived {
    core::PlaceId place;
    Rank source;
    bool header_intact = true;   ///< false: `chunk` is what the bytes contain, not to be relied on
    bool payload_intact = true;  ///< always true when it is not checked
    bool payload_checked = false;
    core::ChunkDescription chunk;
};

/// A control packet; its bytes lie in Polled::bytes.
struct PacketArrived {
    Rank source;
    std::size_t begin = 0;
    std::size_t size = 0;
};

/// --on-failure continue: nothing gets to a consumer any more. Found once, until it is back.
struct Unreachable {
    Rank rank;
    std::string why;
};

/// How a rank is reached. `life`: how often the rank was lost before.
struct PeerAddress {
    std::string control;
    std::string data;
    std::uint32_t life = 0;
};

/// What may be done to a chunk on purpose, for tests (disturbing_transport.hpp).
enum class DisturbanceKind : std::uint8_t {
    corrupt_header,   ///< one bit of the event id flips after the checksums were made
    corrupt_payload,  ///< one bit of the payload flips after the checksums were made
    duplicate,        ///< the chunk is sent twice in a row
    lose,             ///< the chunk is reported as sent and is not
};

/// What one poll found, in order of discovery. Reused between polls.
struct Polled {
    std::vector<ChunkSent> sent;
    std::vector<ChunkArrived> chunks;
    std::vector<PacketArrived> packets;
    std::vector<std::byte> bytes;
    std::vector<Unreachable> unreachable;

    [[nodiscard]] bool empty() const {
        return sent.empty() && chunks.empty() && packets.empty() && unreachable.empty();
    }
    [[nodiscard]] std::span<const std::byte> content(const PacketArrived& packet) const {
        return std::span(bytes).subspan(packet.begin, packet.size);
    }
    void add_packet(Rank source, std::span<const std::byte> packet) {
        packets.push_back({source, bytes.size(), packet.size()});
        bytes.insert(bytes.end(), packet.begin(), packet.end());
    }
    /// Appends chunks and packets that were found before.
    void add(const Polled& before) {
        chunks.insert(chunks.end(), before.chunks.begin(), before.chunks.end());
        for (const PacketArrived& packet : before.packets) {
            add_packet(packet.source, before.content(packet));
        }
    }
    void clear() {
        sent.clear();
        chunks.clear();
        packets.clear();
        bytes.clear();
        unreachable.clear();
    }
};

class Transport {
  public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    /// Largest control packet in bytes.
    [[nodiscard]] virtual std::size_t packet_limit() const = 0;

    /// Copies and sends a control packet. Packets between two ranks arrive in order.
    virtual void send_packet(Rank to, std::span<const std::byte> packet) = 0;

    /// Makes every chunk buffer of the place ready to be filled (consumers only), so that all chunks of the
    /// largest fragment find one. On a place that is open already it only tops up: that is what to do after a
    /// chunk that should not have come (a duplicate) filled the buffer of one that is still to come.
    virtual void open_place(core::PlaceId place) = 0;

    /// Starts sending one chunk (producers only). At most `window` chunks of a stream may be under way.
    virtual void send_chunk(const core::SendChunk& chunk) = 0;

    /// The next send_chunk() is disturbed so, by whoever can reach the bytes. Not for `lose`.
    virtual void disturb_next_chunk(DisturbanceKind /*kind*/) {}

    // --on-failure continue, where a transport has it. Only for ranks of consumers.

    /// What the stream has under way is not reported as sent any more.
    virtual void cancel(core::StreamId /*stream*/) {}
    /// The rank is lost. Nothing goes to it any more and nothing that it sends is taken, until reconnect();
    /// chunks under way to it are given up, and when this returns their memory is free. Takes a bounded time.
    /// Throws TransportError if that is not enough.
    virtual void disconnect(Rank /*rank*/) {}
    /// The rank is another process now. Disconnects first what is left of the old one.
    virtual void reconnect(Rank /*rank*/, const PeerAddress& /*address*/) {}

    /// Makes progress and appends what finished to `found`. Throws TransportError when the network fails.
    virtual void poll(Polled& found) = 0;

    /// Takes in no chunk any more; takes a bounded time. Chunks that had arrived before are found by the next
    /// poll(); after that one no chunk arrives.
    virtual void close_places() = 0;

    /// Packets handed to send_packet that have not left yet.
    [[nodiscard]] virtual std::size_t packets_under_way() const = 0;

    /// Nothing where chunks are not datagrams.
    [[nodiscard]] virtual const core::SocketState* socket_state() const { return nullptr; }
};

// How control packets get from rank to rank; one for each engine (mpi_transport.hpp, ucx_network.hpp).

class ControlChannel {
  public:
    /// 80 messages of 48 bytes. Below every eager limit, headers included: Open MPI's shared memory has 4096.
    static constexpr std::size_t packet_limit = 3840;

    ControlChannel() = default;
    ControlChannel(const ControlChannel&) = delete;
    ControlChannel& operator=(const ControlChannel&) = delete;
    virtual ~ControlChannel() = default;

    /// Copies and sends. Packets between two ranks arrive in order. Throws TransportError when too many
    /// packets are under way.
    virtual void send(Rank to, std::span<const std::byte> packet) = 0;
    /// Makes progress, and appends packets that arrived. Throws TransportError.
    virtual void poll(Polled& found) = 0;
    /// Packets that have not left.
    [[nodiscard]] virtual std::size_t under_way() const = 0;
    /// Nothing may be sent afterwards; packets that came after the last poll are lost. False: the deadline
    /// passed with something under way that cannot be withdrawn.
    virtual bool close(Deadline deadline) = 0;
};

// What a transport needs of the job outside its own network: all ranks exchange texts and wait for each
// other.

/// The exchanges in which every rank gets the addresses of the others, by rank.
inline constexpr const char* exchange_of_control_addresses = "exchange of addresses for control";
inline constexpr const char* exchange_of_data_addresses = "exchange of addresses for data";

class Meeting {
  public:
    Meeting() = default;
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;
    virtual ~Meeting() = default;

    [[nodiscard]] virtual int rank() const = 0;
    /// Collective: every rank's text, by rank, on every rank. `what` names the step in messages.
    virtual std::vector<std::string> share(const std::string& mine, const char* what) = 0;
    /// Collective: begin to wait for all ranks.
    virtual void begin_barrier() = 0;
    /// Whether all have begun. Until then it is called again and again.
    [[nodiscard]] virtual bool barrier_done() = 0;
};

}  // namespace weir::transport
