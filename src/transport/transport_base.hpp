// What all transports have in common: control packets, warm-up, the orderly end and the disorderly one. How a
// chunk gets into its slot is what they differ in; what carries control packets, and the end of what carries
// data, comes from the engine: mpi_transport.hpp, ucx_transport.hpp.
//
// Life of an object, on every rank: construct (collective) - expose_buffers (collective) - begin_warmup,
// warmup_step until true - the contract - shut_down (collective) - destroy - MPI_Finalize. After an error:
// destroy and MPI_Abort; the destructor waits for no rank. (Rejected: exposing in the constructor. Then a
// rank that finds its memory too small could not report it before the others wait for it.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/buffers.hpp"
#include "transport/chunk_header.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

// The producer's side of every transport over MPI: which chunks are under way, which chunk buffer each one
// lies in, and what is written in front of it before it leaves. Bookkeeping and bytes; the transport moves
// them.

class OutgoingChunks {
  public:
    /// One chunk that is under way.
    struct Chunk {
        core::StreamId stream;
        std::uint32_t sequence = 0;
        core::PlaceId place;
        core::ConsumerId to;
        std::size_t buffer = 0;  ///< of all of this producer's
        std::size_t in_ring = 0;
        std::size_t message_bytes = 0;  ///< header and payload
        bool cancelled = false;         ///< it is not reported when it leaves
        int copies = 0;                 ///< of it that have not left: 1, with an injected duplicate 2
    };

    OutgoingChunks() = default;
    /// `buffers` are the producer's and outlive this object.
    OutgoingChunks(const core::Plan& plan, const ChunkBuffers& buffers);

    /// Chunks that can be under way at a time: for each stream `window`, or all of an event if it has fewer.
    /// A chunk has one of so many entries.
    [[nodiscard]] std::size_t entries() const { return chunks_.size(); }

    /// Takes the next chunk buffer of the stream, writes header and, if payloads are verified, stamps into
    /// it, and damages or doubles it if `disturbance` is set. Returns the chunk's entry. The stream must have
    /// one left.
    std::size_t begin(const core::SendChunk& chunk, std::optional<DisturbanceKind> disturbance);

    /// The same without a byte written: the caller makes a message of `message_bytes` out of it.
    std::size_t reserve(const core::SendChunk& chunk, std::size_t message_bytes, int copies);

    [[nodiscard]] const Chunk& at(std::size_t entry) const { return chunks_[entry]; }
    /// The bytes that go over the wire.
    [[nodiscard]] std::span<std::byte> message(std::size_t entry) const;
    /// The chunk of a stream that is under way with this sequence number, if there is one.
    [[nodiscard]] std::optional<std::size_t> find(core::StreamId stream, std::uint32_t sequence) const;

    /// All chunks of the stream that are under way are cancelled.
    void cancel(core::StreamId stream);

    /// One copy has left. True when it was the last one: its buffer is free again, and its entry too.
    bool end_copy(std::size_t entry);

    [[nodiscard]] std::size_t under_way() const { return under_way_; }

  private:
    std::size_t reserve_entry(core::StreamId stream);
    /// Buffers are as a rule used in turn and out of memory: a header that is written there without this
    /// holds up all that is stored after it until the memory has come.
    void fetch_ahead(core::StreamId stream, std::size_t in_ring) const;

    const ChunkBuffers* buffers_ = nullptr;
    core::Verify verify_ = core::Verify::header;
    std::size_t window_ = 0;  ///< of chunks of a stream that can be under way
    std::size_t per_stream_ = 0;
    std::size_t capacity_bytes_ = 0;
    std::vector<Chunk> chunks_;  ///< `window_` entries per stream
    /// Which of them are free, `window_` for each stream, of which the first free_count_[stream] count: a
    /// search through a window of datagrams would cost as much as all the rest here.
    std::vector<std::uint32_t> free_;
    std::vector<std::size_t> free_count_;
    std::vector<BufferRing> rings_;
    BufferSums sums_;  ///< none unless payloads are verified
    std::size_t under_way_ = 0;
};

/// What the network library has chosen for connections of a rank, and how many it has of these.
struct UsedPath {
    std::string network;  ///< "control" or "data"
    std::string path;
    std::int64_t connections = 0;
};

struct WarmupProgress {
    std::int64_t messages_done = 0;
    std::int64_t messages_total = 0;
};

class Warmup;

class TransportBase : public Transport {
  public:
    TransportBase(const TransportBase&) = delete;
    TransportBase& operator=(const TransportBase&) = delete;
    /// Withdraws what it can in at most a second, on its own, and never waits for a peer.
    ~TransportBase() override;

    // The contract.
    [[nodiscard]] std::size_t packet_limit() const final { return ControlChannel::packet_limit; }
    void send_packet(Rank to, std::span<const std::byte> packet) final;
    void poll(Polled& found) final;
    void close_places() final;
    void disturb_next_chunk(DisturbanceKind kind) final { next_disturbance_ = kind; }
    [[nodiscard]] std::size_t packets_under_way() const final;

    /// Collective, once, when all ranks have constructed theirs: makes this rank, and those chunk buffers
    /// that peers reach into, reachable. Throws CapacityError and TransportError, maybe on this rank only:
    /// others may then hang here, so the job must be aborted.
    virtual void expose_buffers() {}

    // Warm-up (warmup.hpp). All ranks do it; until it is done nothing else may be sent. Also fills the
    // producers' buffers with payload.

    /// Starts this rank's part; does not wait.
    void begin_warmup();
    /// Does a bounded piece of it without waiting; true, then and ever after, when this rank's part is
    /// complete.
    [[nodiscard]] bool warmup_step();
    [[nodiscard]] WarmupProgress warmup_progress() const;

    /// For exchanges outside this class that poll nothing: what was sent goes on its way. What arrives is
    /// kept for the next poll(). Nothing where the exchanges themselves make progress.
    virtual void make_progress() {}

    /// How other ranks reach this one; empty where the transport does without.
    [[nodiscard]] virtual PeerAddress address() const { return {}; }
    /// Of this rank's connections, each path once; empty where it is not known.
    [[nodiscard]] virtual std::vector<UsedPath> paths() const { return {}; }
    /// That the data of a producer and a consumer take in turn.
    [[nodiscard]] virtual std::uint32_t connections_per_pair() const { return 1; }
    /// --on-failure continue, before expose_buffers(): this process takes the place of one that was lost, and
    /// there is no warm-up.
    virtual void returns(std::uint32_t /*life*/) {}

    // End.

    /// Chunks handed to send_chunk() that have not left yet.
    [[nodiscard]] std::size_t chunks_under_way() const { return outgoing_.under_way(); }
    /// The orderly end, collective: waits until everything has left and all ranks are here, then withdraws
    /// what waits for data and frees what the engine holds. Packets that arrive meanwhile are dropped.
    /// `limit` bounds the whole; false: it was not enough (then MPI_Finalize may hang: use MPI_Abort). Throws
    /// TransportError.
    [[nodiscard]] bool shut_down(core::Duration limit);

    /// The rank that an MPI call of this one is waiting for and does not return without; -1: none. For other
    /// threads to ask.
    [[nodiscard]] virtual int waits_for() const { return -1; }

  protected:
    /// `self` is this rank's part. Throws CapacityError for a chunk of 2 GiB. The derived constructor calls
    /// use_control().
    TransportBase(core::NodeId self, core::RoleMap roles, core::Plan plan);

    /// What carries control packets.
    void use_control(std::unique_ptr<ControlChannel> control) { control_ = std::move(control); }

    // What each transport does in its own way.

    [[nodiscard]] virtual std::unique_ptr<Warmup> make_warmup();
    /// Makes progress with chunks and appends what finished; may poll for packets with them, and calls
    /// control_polled() then.
    virtual void poll_data(Polled& found) = 0;
    /// From now on no chunk is taken in; `late` gets those that had arrived. False: `deadline` came first.
    virtual bool stop_receiving(Deadline deadline, Polled& late) = 0;
    /// Whether nothing that a peer waits for is still with this rank.
    [[nodiscard]] virtual bool all_left() const { return chunks_under_way() == 0; }
    /// All ranks are ending: that a peer cannot be reached any more is no error from now on.
    virtual void expect_departures() {}
    /// At the end: begins to wait for all ranks.
    virtual void begin_last_barrier() = 0;
    /// Whether all have begun.
    [[nodiscard]] virtual bool last_barrier_done() = 0;
    /// Frees what the engine holds for data; all ranks are in here. False: `deadline` came first.
    virtual bool release(Deadline deadline) = 0;
    /// Frees what the engine holds for control; last of all, and all ranks are in here.
    virtual void release_control() {}
    /// Whether the engine still works, so that something can be withdrawn.
    [[nodiscard]] virtual bool works() const { return true; }

    /// For destructors: withdraws everything, data by `withdraw_data`, unless shut_down() has done it. False:
    /// something is under way that cannot be withdrawn, and it must not end in memory that has a new owner.
    bool withdraw_all(const std::function<bool(Deadline)>& withdraw_data) noexcept;

    [[nodiscard]] int rank_of(core::ConsumerId consumer) const {
        return roles_.rank(core::node_of(consumer));
    }
    /// How the next chunk is disturbed, once.
    [[nodiscard]] std::optional<DisturbanceKind> next_disturbance() {
        return std::exchange(next_disturbance_, std::nullopt);
    }
    /// poll_data() has polled for packets.
    void control_polled() { control_polled_ = true; }
    [[nodiscard]] bool warming_up() const { return warmup_ != nullptr && !warm_; }
    /// Packets that may be under way to this rank before it polls, and from it.
    [[nodiscard]] std::size_t control_receives() const;
    [[nodiscard]] std::size_t control_sends() const;

    core::RoleMap roles_;
    core::Plan plan_;
    core::NodeId self_;
    ChunkBounds bounds_;
    bool closed_ = false;      ///< no place is open any more
    ChunkBuffers buffers_;     ///< of this rank's role; none for the scheduler
    OutgoingChunks outgoing_;  ///< of a producer

  private:
    std::unique_ptr<ControlChannel> control_;
    bool control_polled_ = false;
    std::unique_ptr<Warmup> warmup_;
    bool warm_ = false;
    bool shut_down_ = false;  ///< nothing is left that MPI or UCX refer to
    Polled late_;             ///< what arrived while places were closed, or after warm-up in its last step
    std::optional<DisturbanceKind> next_disturbance_;
};

}  // namespace weir::transport
