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
#include <mpi.h>
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "core/assertion.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "transport/chunk_header.hpp"
#include "transport/mpi/mpi_support.hpp"
#include "transport/mpi/mpi_transport.hpp"
#include "transport/mpi/rma_window.hpp"

namespace weir::transport {

namespace {

/// Writes that a producer can have to do at a time; each chunk may be doubled on purpose.
std::size_t writes_bound(const core::Plan& plan) {
    return 2 * std::size_t{plan.streams} * plan.window;
}

class MpiPutTransport final : public RmaTransport {
  public:
    /// Collective, see MpiTransport. Allocates a producer's chunk buffers, and finds out whether a
    /// consumer's can be had. Throws CapacityError and TransportError, in both cases on this rank only.
    MpiPutTransport(MPI_Comm comm, const core::RoleMap& roles, const core::Plan& plan)
        : RmaTransport(comm, roles, plan, writes_bound(plan)), waiting_(writes_bound(plan_)) {
        if (self_.role == core::Role::producer) {
            buffers_ = ChunkBuffers::for_producer(plan_);
            outgoing_ = OutgoingChunks(plan_, buffers_);
            requests_ = RequestPool(std::min(RmaWindow::requests_limit, writes_bound(plan_)));
            entry_of_.resize(requests_.size());
            targets_.resize(roles_.consumers());
        } else if (self_.role == core::Role::consumer) {
            // Given back at once: the window will be of MPI's memory. But then it is too late for a clear
            // word.
            static_cast<void>(ChunkBuffers::for_consumer(plan_));
        }
    }

    MpiPutTransport(const MpiPutTransport&) = delete;
    MpiPutTransport& operator=(const MpiPutTransport&) = delete;
    ~MpiPutTransport() override {
        withdraw([this] { return outgoing_.under_way() == 0; });
    }

    void expose_buffers() override {
        WEIR_ASSERT(window_ == nullptr);
        const bool consumer = self_.role == core::Role::consumer;
        window_ = std::make_unique<RmaWindow>(data_comm_, consumer ? core::consumer_memory_bytes(plan_) : 0,
                                              "put", "--slots or --event-size");
        if (consumer) {
            buffers_ = ChunkBuffers::for_consumer(plan_, window_->memory());
        }
    }

    void open_place(core::PlaceId place) override {
        // A place's memory can be written to at any time; the protocol
        // ensures that only a producer with a grant does; the warm-up has touched it for the window's owner.
        WEIR_ASSERT(self_.role == core::Role::consumer && place.value < plan_.places());
        WEIR_ASSERT(!closed_);
        if (warming_up()) {
            window_->sync();  // it has stored to that memory
        }
    }

    void send_chunk(const core::SendChunk& chunk) override {
        WEIR_ASSERT(self_.role == core::Role::producer && chunk.place.value < plan_.places());
        WEIR_ASSERT(chunk.to.value < targets_.size() && chunk.chunk.sequence < plan_.chunks_per_fragment());
        const std::size_t entry = outgoing_.begin(chunk, next_disturbance());
        for (int copy = 0; copy < outgoing_.at(entry).copies; ++copy) {
            waiting_.push(entry);
        }
        begin_writes();
    }

    [[nodiscard]] int waits_for() const override { return window_ == nullptr ? -1 : window_->waits_for(); }

  private:
    /// What a producer has under way to one consumer.
    struct Target {
        std::size_t writing = 0;           ///< requests that have not completed
        std::vector<std::size_t> written;  ///< entries of outgoing_ whose requests have, one for each copy
    };

    void poll_data(Polled& found) override {
        if (self_.role == core::Role::consumer) {
            if (closed_) {
                static_cast<void>(notices_.poll());  // to free them; nothing acts on them any more
            } else {
                receive_notices(found);
            }
            return;
        }
        if (outgoing_.under_way() > 0) {
            complete_writes(found);
            begin_writes();
        }
        notices_.send();
        for (const RmaNotices::Received& received : notices_.poll()) {
            refuse_notice(received);
        }
    }

    bool stop_receiving(Deadline deadline, Polled& late) override {
        if (self_.role == core::Role::consumer && !closed_) {
            while (receive_notices(late) && std::chrono::steady_clock::now() < deadline) {
            }
        }
        closed_ = true;
        return true;
    }

    [[nodiscard]] bool all_left() const override {
        return outgoing_.under_way() == 0 && notices_.under_way() == 0;
    }

    void begin_writes() {
        while (!waiting_.empty() && requests_.has_free()) {
            const std::size_t entry = waiting_.pop();
            const std::size_t request = requests_.take();
            const OutgoingChunks::Chunk& chunk = outgoing_.at(entry);
            const std::int64_t buffer =
                std::int64_t{chunk.place.value} * core::chunk_buffers_per_place(plan_) + chunk.sequence;
            entry_of_[request] = entry;
            ++targets_[chunk.to.value].writing;
            window_->put(outgoing_.message(entry), rank_of(chunk.to),
                         buffer * core::chunk_stride_bytes(plan_), requests_.at(request));
        }
    }

    void complete_writes(Polled& found) {
        const auto entry_of = [this](auto request) { return entry_of_[static_cast<std::size_t>(request)]; };
        const auto finished = requests_.complete("writing a chunk", [&](std::size_t request) {
            return rank_of(outgoing_.at(entry_of(request)).to);
        });
        for (const int request : finished) {
            Target& target = targets_[outgoing_.at(entry_of(request)).to.value];
            --target.writing;
            target.written.push_back(entry_of(request));
        }
        for (const int request : finished) {
            const core::ConsumerId consumer = outgoing_.at(entry_of(request)).to;
            if (targets_[consumer.value].writing == 0) {
                flush(consumer, found);
            }
        }
    }

    void flush(core::ConsumerId consumer, Polled& found) {
        Target& target = targets_[consumer.value];
        if (target.written.empty()) {
            return;
        }
        const int rank = rank_of(consumer);
        window_->flush(rank);
        for (const std::size_t entry : target.written) {
            const OutgoingChunks::Chunk& chunk = outgoing_.at(entry);
            notices_.add(rank, notice_of(RmaNotice::Kind::written, entry));
            if (outgoing_.end_copy(entry)) {
                found.sent.push_back({chunk.stream, chunk.sequence});
            }
        }
        target.written.clear();
    }

    /// Whether there were any.
    bool receive_notices(Polled& found) {
        const auto& notices = notices_.poll();
        if (notices.empty()) {
            return false;
        }
        window_->sync();
        for (const RmaNotices::Received& received : notices) {
            if (!is_possible(received)) {
                refuse_notice(received);
            }
            const RmaNotice& notice = received.notice;
            const auto per_place = static_cast<std::size_t>(core::chunk_buffers_per_place(plan_));
            const std::span<const std::byte> message =
                buffers_.at(notice.place.value * per_place + notice.sequence).first(notice.message_bytes);
            found.chunks.push_back(inspect(message, received));
        }
        return true;
    }

    [[nodiscard]] bool is_possible(const RmaNotices::Received& received) const {
        const RmaNotice& notice = received.notice;
        return roles_.node(received.from).role == core::Role::producer &&
               notice.kind == RmaNotice::Kind::written && notice.place.value < plan_.places() &&
               notice.sequence < plan_.chunks_per_fragment() && notice.message_bytes > header_bytes &&
               notice.message_bytes <= buffers_.message_bytes();
    }

    // Producer.
    core::RingQueue<std::size_t> waiting_;  ///< entries of outgoing_ without a request
    RequestPool requests_;
    std::vector<std::size_t> entry_of_;  ///< by request
    std::vector<Target> targets_;        ///< by consumer
};

}  // namespace

std::unique_ptr<TransportBase> make_mpi_put(MPI_Comm comm, const core::RoleMap& roles,
                                            const core::Plan& plan) {
    return std::make_unique<MpiPutTransport>(comm, roles, plan);
}

}  // namespace weir::transport
