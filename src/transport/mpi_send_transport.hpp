// Transport `send`: two-sided MPI. A chunk is one MPI_Isend from a producer's chunk buffer into an MPI_Irecv
// that was posted when the slot was opened; under UCX on RDMA networks that is a rendezvous without a copy.
// Data and control have communicators of their own. (Rejected: persistent requests, which Open MPI's UCX
// layer turns into ordinary ones; receives posted for the granted producer only, which would need the grant
// to travel to the consumer first.)
//
// Life of an object, on every rank: construct (collective) - begin_warmup, warmup_step until true - the
// contract - shut_down (collective) - destroy - MPI_Finalize. After an error: destroy and MPI_Abort; the
// destructor waits for nobody.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/memory_need.hpp"
#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/buffers.hpp"
#include "transport/chunk_header.hpp"
#include "transport/fault_injection.hpp"
#include "transport/mpi_control.hpp"
#include "transport/mpi_warmup.hpp"
#include "transport/transport.hpp"
#include "transport/transport_error.hpp"

namespace weir::transport {

/// What a transport has moved since warm-up. Bytes are payload.
struct TransportCounters {
    std::uint64_t chunks_sent = 0;
    std::int64_t bytes_sent = 0;
    std::uint64_t chunks_received = 0;
    std::int64_t bytes_received = 0;
    std::uint64_t packets_sent = 0;
    std::uint64_t packets_received = 0;
};

struct WarmupProgress {
    std::int64_t messages_done = 0;
    std::int64_t messages_total = 0;
};

class MpiSendTransport final : public Transport, public FaultHook {
  public:
    /// Collective over `comm`, which is duplicated and may be freed afterwards; rank r of it plays
    /// roles.node(r). MPI must be initialised. Allocates the chunk buffers of this rank's role. Throws
    /// CapacityError (memory, or more slots than MPI has tags, or a chunk of 2 GiB) and TransportError, in
    /// both cases on this rank only.
    MpiSendTransport(MPI_Comm comm, core::RoleMap roles, core::Plan plan);
    MpiSendTransport(const MpiSendTransport&) = delete;
    MpiSendTransport& operator=(const MpiSendTransport&) = delete;
    /// Withdraws what it can in at most a second, on its own, and never waits for a peer.
    ~MpiSendTransport() override;

    // The contract.
    [[nodiscard]] std::size_t packet_limit() const override { return MpiControl::packet_limit; }
    void send_packet(Rank to, std::span<const std::byte> packet) override;
    void open_slot(core::SlotId slot) override;
    void send_chunk(const core::SendChunk& chunk) override;
    void poll(Polled& found) override;
    void close_slots() override;
    [[nodiscard]] std::size_t packets_under_way() const override;

    // Warm-up. All ranks do it, before any slot is opened; until it is done no chunk may be sent. Also fills
    // the producers' buffers with payload. Packets may be sent and polled meanwhile.

    /// Starts this rank's part; does not wait.
    void begin_warmup();
    /// Does a bounded piece of it without waiting; true, then and ever after, when this rank's part is
    /// complete.
    [[nodiscard]] bool warmup_step();
    [[nodiscard]] WarmupProgress warmup_progress() const;

    // End.

    /// Chunks handed to send_chunk() that have not left yet.
    [[nodiscard]] std::size_t chunks_under_way() const { return chunks_under_way_; }
    /// The orderly end, collective: waits until everything has left and all ranks are here, then withdraws
    /// all receives and frees the communicators. Packets that arrive meanwhile are dropped. `limit` bounds
    /// the whole; false: it was not enough (then MPI_Finalize may hang: use MPI_Abort). Throws
    /// TransportError.
    [[nodiscard]] bool shut_down(core::Duration limit);

    [[nodiscard]] TransportCounters counters() const;

    // FaultHook.
    void fault_next_chunk(FaultKind kind) override { next_fault_ = kind; }

  private:
    /// A send that is under way; parallel to requests_.
    struct Sending {
        core::StreamId stream;
        std::uint32_t sequence = 0;
        std::size_t buffer = 0;  ///< in its stream's ring
        int to = -1;
        std::int64_t bytes = 0;
        int copies = 0;  ///< messages of it that have not left: 1, with an injected duplicate 2
    };
    /// A posted receive behind those that are watched.
    struct Posted {
        MPI_Request request = MPI_REQUEST_NULL;
        std::size_t buffer = 0;
    };
    struct Withdrawing {
        MPI_Request request = MPI_REQUEST_NULL;
        std::size_t slot = 0;
        std::size_t buffer = 0;
    };
    /// Rings of fixed size; nothing is allocated after construction.
    struct Slot {
        std::vector<std::size_t> idle;  ///< buffers without a receive, ring
        std::size_t idle_head = 0;
        std::size_t idle_count = 0;
        std::vector<Posted> queue;  ///< posted and not watched, in posting order, ring
        std::size_t queue_head = 0;
        std::size_t queue_count = 0;
    };
    /// A second copy of a chunk; only with fault injection.
    struct Duplicate {
        MPI_Request request = MPI_REQUEST_NULL;
        std::size_t entry = 0;
    };

    void set_up_producer();
    void set_up_consumer();
    void poll_data(Polled& found);
    void poll_duplicates(Polled& found);
    void sent_copy(std::size_t entry, Polled& found);
    void arrived(std::size_t slot, std::size_t buffer, const MPI_Status& status, Polled& found);
    void watch_next(std::size_t entry);
    bool withdraw_receives(Deadline deadline);
    std::size_t control_receives() const;
    std::size_t control_sends() const;

    core::RoleMap roles_;
    core::Plan plan_;
    core::NodeId self_;
    ChunkBounds bounds_;
    MPI_Comm data_ = MPI_COMM_NULL;
    MPI_Comm control_comm_ = MPI_COMM_NULL;
    std::unique_ptr<MpiControl> control_;
    std::unique_ptr<MpiWarmup> warmup_;
    bool warm_ = false;
    bool closed_ = false;     ///< no slot is open any more
    bool shut_down_ = false;  ///< nothing is left that MPI could know of

    ChunkBuffers buffers_;
    /// What one poll tests: a producer's sends, `window` entries per stream; of a consumer's receives the
    /// oldest of each slot, at most `window`.
    std::vector<MPI_Request> requests_;
    std::vector<int> finished_;         ///< scratch
    std::vector<MPI_Status> statuses_;  ///< scratch

    std::vector<Sending> sending_;   ///< producer, parallel to requests_
    std::vector<BufferRing> rings_;  ///< producer, per stream
    std::size_t chunks_under_way_ = 0;

    std::size_t watched_per_slot_ = 0;
    std::vector<std::size_t> watched_;  ///< consumer, parallel to requests_: the buffer
    std::vector<Slot> slots_;
    std::vector<Withdrawing> withdrawing_;  ///< what close_slots could not withdraw so far
    Polled late_;                           ///< what arrived while slots were closed

    std::optional<FaultKind> next_fault_;
    std::vector<Duplicate> duplicates_;
    TransportCounters counters_;
};

}  // namespace weir::transport
