// Transport `put`: one-sided writes. The consumers' slots are a window; a producer writes each chunk to its
// place in the slot that it was granted, and informs the consumer when it lies there.
//
// MPI has no request for that: MPI_Rput's shows that the producer's buffer is free, MPI_Win_flush that
// everything has arrived, and it blocks. So a consumer is flushed only when all requests of writes to it have
// completed. There is then nothing left to wait for but, with some networks, the target's answer; and because
// a stream has at most `window` chunks under way until they were flushed, that moment always comes. Chunks
// are reported as sent, and to the consumer, after the flush. (Rejected: a flush for each chunk, which
// stalls all other streams of the producer for the time of a transfer; a thread for flushes, because one
// thread per rank does it all; telling the consumer by a write of its own, because writes are not ordered.)
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "core/ring_queue.hpp"
#include "transport/mpi/mpi_transport.hpp"
#include "transport/mpi/rma_notices.hpp"
#include "transport/mpi/rma_window.hpp"

namespace weir::transport {

class MpiPutTransport final : public MpiTransport {
  public:
    /// Collective, see MpiTransport. Allocates a producer's chunk buffers, and finds out whether a
    /// consumer's can be had. Throws CapacityError and TransportError, in both cases on this rank only.
    MpiPutTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan);
    MpiPutTransport(const MpiPutTransport&) = delete;
    MpiPutTransport& operator=(const MpiPutTransport&) = delete;
    ~MpiPutTransport() override;

    void expose_buffers() override;
    void open_place(core::PlaceId place) override;
    void send_chunk(const core::SendChunk& chunk) override;
    [[nodiscard]] int waits_for() const override { return window_ == nullptr ? -1 : window_->waits_for(); }

  private:
    /// What a producer has under way to one consumer.
    struct Target {
        std::size_t writing = 0;           ///< requests that have not completed
        std::vector<std::size_t> written;  ///< entries of outgoing_ whose requests have, one for each copy
    };

    void poll_data(Polled& found) override;
    bool stop_receiving(Deadline deadline, Polled& late) override;
    [[nodiscard]] bool all_left() const override;
    bool release_data(Deadline deadline) override;

    void begin_writes();
    void complete_writes(Polled& found);
    void flush(core::ConsumerId consumer, Polled& found);
    /// Whether there were any.
    bool receive_notices(Polled& found);
    [[nodiscard]] bool is_possible(const RmaNotices::Received& received) const;

    std::unique_ptr<RmaWindow> window_;
    RmaNotices notices_;

    // Producer.
    core::RingQueue<std::size_t> waiting_;  ///< entries of outgoing_ without a request
    RequestPool requests_;
    std::vector<std::size_t> entry_of_;  ///< by request
    std::vector<Target> targets_;        ///< by consumer
};

}  // namespace weir::transport
