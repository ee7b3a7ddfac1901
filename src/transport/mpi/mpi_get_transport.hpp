// Transport `get`: one-sided reads. The producers' chunk buffers are a window; a producer gives a consumer
// where each chunk for it lies, the consumer reads it into its place and sends `taken`, and only then is the
// buffer used again. A chunk is read into a buffer of the place that open_place() made available, so data
// moves into open places only, as with `send`; a chunk that finds none waits. Chunks are reported as sent
// when the consumer's word is here. Nothing here blocks: a request of MPI_Rget completes when the data has
// arrived.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "core/ring_queue.hpp"
#include "transport/mpi/mpi_transport.hpp"
#include "transport/mpi/rma_notices.hpp"
#include "transport/mpi/rma_window.hpp"

namespace weir::transport {

class MpiGetTransport final : public MpiTransport {
  public:
    /// Collective, see MpiTransport. Allocates a consumer's chunk buffers, and finds out whether a
    /// producer's can be had. Throws CapacityError and TransportError, in both cases on this rank only.
    MpiGetTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan);
    MpiGetTransport(const MpiGetTransport&) = delete;
    MpiGetTransport& operator=(const MpiGetTransport&) = delete;
    ~MpiGetTransport() override;

    void expose_buffers() override;
    void open_place(core::PlaceId place) override;
    void send_chunk(const core::SendChunk& chunk) override;

  private:
    /// A chunk that is being read.
    struct Reading {
        RmaNotices::Received offer;
        std::size_t buffer = 0;
    };

    void poll_data(Polled& found) override;
    bool stop_receiving(Deadline deadline, Polled& late) override;
    [[nodiscard]] bool all_left() const override;
    bool release_data(Deadline deadline) override;

    void set_up_consumer();
    void progress_reads(Polled& found);
    void receive_answers(Polled& found);
    void receive_offers();
    [[nodiscard]] bool is_possible(const RmaNotices::Received& offer) const;
    void begin_reads();
    void complete_reads(Polled& found);
    void answer(const RmaNotices::Received& offer, RmaNotice::Kind kind);
    [[nodiscard]] std::size_t reading() const { return requests_.under_way(); }

    std::unique_ptr<RmaWindow> window_;
    RmaNotices notices_;

    // Consumer.
    PlaceBuffers places_;
    std::vector<RmaNotices::Received> offers_;  ///< of chunks that are not being read yet, in order
    RequestPool requests_;
    std::vector<Reading> readings_;  ///< by request
};

}  // namespace weir::transport
