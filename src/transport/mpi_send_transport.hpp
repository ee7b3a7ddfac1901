// Transport `send`: two-sided MPI. A chunk is one MPI_Isend from a producer's chunk buffer into an MPI_Irecv
// that was posted when the slot was opened; under UCX on RDMA networks that is a rendezvous without a copy.
// (Rejected: persistent requests, which Open MPI's UCX layer turns into ordinary ones; receives posted for
// the granted producer only, which would need the grant to travel to the consumer first.)
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "transport/mpi_transport.hpp"
#include "transport/outgoing_chunks.hpp"

namespace weir::transport {

class MpiSendTransport final : public MpiTransport {
  public:
    /// Collective, see MpiTransport. Allocates the chunk buffers of this rank's role. Throws CapacityError
    /// (memory, or more slots than MPI has tags) and TransportError, in both cases on this rank only.
    MpiSendTransport(MPI_Comm comm, core::RoleMap roles, core::Plan plan);
    MpiSendTransport(const MpiSendTransport&) = delete;
    MpiSendTransport& operator=(const MpiSendTransport&) = delete;
    ~MpiSendTransport() override;

    void open_slot(core::SlotId slot) override;
    void send_chunk(const core::SendChunk& chunk) override;
    [[nodiscard]] std::size_t chunks_under_way() const override { return outgoing_.under_way(); }

  private:
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

    std::unique_ptr<Warmup> make_warmup() override;
    void poll_data(Polled& found) override;
    bool stop_receiving(Deadline deadline, Polled& late) override;
    bool release_data(Deadline deadline) override;

    void set_up_producer();
    void set_up_consumer();
    /// Of requests_, those of chunks; the receive of the next packet comes after them.
    [[nodiscard]] std::size_t chunk_entries() const { return requests_.size() - 1; }
    /// Tests requests_. How many are complete: finished_ has their places, statuses_ what became of them.
    std::size_t complete_requests();
    void poll_duplicates(Polled& found);
    void sent_copy(std::size_t entry, Polled& found);
    void arrived(std::size_t slot, std::size_t buffer, const MPI_Status& status, Polled& found);
    void watch_next(std::size_t entry);

    ChunkBuffers buffers_;
    /// What one poll tests: a producer's sends, an entry of outgoing_ each; of a consumer's receives the
    /// oldest of each slot, at most `window`.
    std::vector<MPI_Request> requests_;
    std::vector<int> finished_;         ///< scratch
    std::vector<MPI_Status> statuses_;  ///< scratch

    OutgoingChunks outgoing_;            ///< producer
    std::vector<Duplicate> duplicates_;  ///< producer

    std::size_t watched_per_slot_ = 0;
    std::vector<std::size_t> watched_;  ///< consumer, parallel to requests_: the buffer
    std::vector<Slot> slots_;
    std::vector<Withdrawing> withdrawing_;  ///< what stop_receiving could not withdraw so far
};

}  // namespace weir::transport
