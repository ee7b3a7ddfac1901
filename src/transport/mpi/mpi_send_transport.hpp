// Transport `send`: two-sided MPI. A chunk is one MPI_Isend from a producer's chunk buffer into an MPI_Irecv
// that was posted when the place was opened; under UCX on RDMA networks that is a rendezvous without a copy.
// (Rejected: persistent requests, which Open MPI's UCX layer turns into ordinary ones; receives posted for
// the granted producer only, which would need the grant to travel to the consumer first.)
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "core/ring_queue.hpp"
#include "transport/mpi/mpi_transport.hpp"

namespace weir::transport {

class MpiSendTransport final : public MpiTransport {
  public:
    /// Collective, see MpiTransport. Allocates the chunk buffers of this rank's role. Throws CapacityError
    /// (memory, or more slots than MPI has tags) and TransportError, in both cases on this rank only.
    MpiSendTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan);
    MpiSendTransport(const MpiSendTransport&) = delete;
    MpiSendTransport& operator=(const MpiSendTransport&) = delete;
    ~MpiSendTransport() override;

    void open_place(core::PlaceId place) override;
    void send_chunk(const core::SendChunk& chunk) override;

  private:
    /// A posted receive behind those that are watched.
    struct Posted {
        MPI_Request request = MPI_REQUEST_NULL;
        std::size_t buffer = 0;
    };
    struct Withdrawing {
        MPI_Request request = MPI_REQUEST_NULL;
        core::PlaceId place;
        std::size_t buffer = 0;
    };
    /// The receives of a place.
    struct Receives {
        core::RingQueue<std::size_t> idle;  ///< buffers without a receive
        core::RingQueue<Posted> queue;      ///< posted and not watched, in posting order
    };
    /// A second copy of a chunk; only with fault injection.
    struct Duplicate {
        MPI_Request request = MPI_REQUEST_NULL;
        std::size_t entry = 0;
    };

    void poll_data(Polled& found) override;
    bool stop_receiving(Deadline deadline, Polled& late) override;
    bool release_data(Deadline deadline) override;

    void set_up_producer();
    void set_up_consumer();
    [[nodiscard]] MPI_Request& watched_request(std::size_t entry) {
        return requests_[receives_of_packets + entry];
    }
    [[nodiscard]] std::size_t buffers_per_place() const { return buffers_.count() / plan_.places(); }
    [[nodiscard]] core::PlaceId place_of(std::size_t entry) const {
        return {static_cast<std::uint32_t>(entry / watched_per_place_)};
    }
    /// Tests requests_. How many are complete: finished_ has their indices, statuses_ what became of them.
    std::size_t complete_requests();
    /// Producer: removes what is complete of requests_ and under_way_.
    void remove_sent(Polled& found);
    void poll_duplicates(Polled& found);
    void sent_copy(std::size_t entry, Polled& found);
    void arrived(core::PlaceId place, std::size_t buffer, const MPI_Status& status, Polled& found);
    void watch_next(std::size_t entry);

    /// What one poll tests. Receives of packets come first, then a producer's sends that are under way; of a
    /// consumer's receives the oldest of each place, at most `window`.
    static constexpr std::size_t receives_of_packets = MpiControl::LentReceives::count;
    std::vector<MPI_Request> requests_;
    std::vector<int> finished_;         ///< scratch
    std::vector<MPI_Status> statuses_;  ///< scratch

    std::vector<std::size_t> under_way_;  ///< producer, parallel to its sends in requests_: the entry
    std::vector<Duplicate> duplicates_;   ///< producer

    std::size_t watched_per_place_ = 0;
    std::vector<std::size_t> watched_;  ///< consumer, parallel to its receives in requests_: the buffer
    std::vector<Receives> places_;
    std::vector<Withdrawing> withdrawing_;  ///< what stop_receiving could not withdraw so far
};

}  // namespace weir::transport
