// Transport `get`: one-sided reads. The producers' chunk buffers are a window; a producer gives a consumer
// where each chunk for it lies, the consumer reads it into its place and sends `taken`, and only then is the
// buffer used again. A chunk is read into a buffer of the place that open_place() made available, so data
// moves into open places only, as with `send`; a chunk that finds none waits. Chunks are reported as sent
// when the consumer's word is here. Nothing here blocks: a request of MPI_Rget completes when the data has
// arrived.
#include <mpi.h>
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "core/assertion.hpp"
#include "core/plan.hpp"
#include "transport/chunk_header.hpp"
#include "transport/mpi/mpi_support.hpp"
#include "transport/mpi/mpi_transport.hpp"
#include "transport/mpi/rma_window.hpp"

namespace weir::transport {

namespace {

/// Chunks that can be on offer to a consumer at a time: a place is granted to one stream, which has `window`
/// under way, and each may be doubled on purpose.
std::size_t offers_bound(const core::Plan& plan) {
    return 2 * std::size_t{plan.places()} * plan.window;
}

class MpiGetTransport final : public RmaTransport {
  public:
    /// Collective, see MpiTransport. Allocates a consumer's chunk buffers, and finds out whether a
    /// producer's can be had. Throws CapacityError and TransportError, in both cases on this rank only.
    MpiGetTransport(MPI_Comm comm, const core::RoleMap& roles, const core::Plan& plan)
        : RmaTransport(comm, roles, plan, 2 * std::size_t{plan.streams} * plan.window + offers_bound(plan)) {
        if (self_.role == core::Role::consumer) {
            set_up_consumer();
        } else if (self_.role == core::Role::producer) {
            // Given back at once: the window will be of MPI's memory. But then it is too late for a clear
            // word.
            static_cast<void>(ChunkBuffers::for_producer(plan_));
        }
    }

    MpiGetTransport(const MpiGetTransport&) = delete;
    MpiGetTransport& operator=(const MpiGetTransport&) = delete;
    ~MpiGetTransport() override {
        withdraw([this] { return reading() == 0; });
    }

    void expose_buffers() override {
        WEIR_ASSERT(window_ == nullptr);
        const bool producer = self_.role == core::Role::producer;
        window_ = std::make_unique<RmaWindow>(data_comm_, producer ? core::producer_memory_bytes(plan_) : 0,
                                              "get", "--buffer, --streams, --window or --chunk-size");
        if (producer) {
            buffers_ = ChunkBuffers::for_producer(plan_, window_->memory());
            outgoing_ = OutgoingChunks(plan_, buffers_);
        }
    }

    void open_place(core::PlaceId place) override {
        WEIR_ASSERT(self_.role == core::Role::consumer && place.value < plan_.places());
        WEIR_ASSERT(!closed_);
        places_.open(place.value);
    }

    void send_chunk(const core::SendChunk& chunk) override {
        WEIR_ASSERT(self_.role == core::Role::producer && chunk.place.value < plan_.places());
        const std::size_t entry = outgoing_.begin(chunk, next_disturbance());
        const OutgoingChunks::Chunk& begun = outgoing_.at(entry);
        window_->sync();
        for (int copy = 0; copy < begun.copies; ++copy) {
            notices_.add(rank_of(begun.to), notice_of(RmaNotice::Kind::offered, entry));
        }
        notices_.send();  // the consumer's time to read begins now, not at this rank's next turn
    }

  private:
    /// A chunk that is being read.
    struct Reading {
        RmaNotices::Received offer;
        std::size_t buffer = 0;
    };

    void poll_data(Polled& found) override {
        if (self_.role != core::Role::consumer) {
            receive_answers(found);
        } else if (!closed_) {
            progress_reads(found);
        } else {
            Polled dropped;  // producers are still answered, or they would wait for it
            progress_reads(dropped);
        }
    }

    bool stop_receiving(Deadline deadline, Polled& late) override {
        closed_ = true;
        if (self_.role != core::Role::consumer) {
            return true;
        }
        // A read cannot be called back, but needs nothing from the producer either.
        do {
            progress_reads(late);
        } while (reading() > 0 && std::chrono::steady_clock::now() < deadline);
        return reading() == 0;
    }

    [[nodiscard]] bool all_left() const override {
        return outgoing_.under_way() == 0 && reading() == 0 && offers_.empty() && notices_.under_way() == 0;
    }

    void set_up_consumer() {
        buffers_ = ChunkBuffers::for_consumer(plan_);
        places_ = PlaceBuffers(plan_.places(), buffers_);
        requests_ = RequestPool(std::min(RmaWindow::requests_limit, offers_bound(plan_)));
        readings_.resize(requests_.size());
    }

    void progress_reads(Polled& found) {
        receive_offers();
        begin_reads();
        complete_reads(found);
        notices_.send();
    }

    void receive_answers(Polled& found) {
        for (const RmaNotices::Received& received : notices_.poll()) {
            const RmaNotice& notice = received.notice;
            const bool answers =
                self_.role == core::Role::producer &&
                (notice.kind == RmaNotice::Kind::taken || notice.kind == RmaNotice::Kind::refused);
            const auto entry =
                answers ? outgoing_.find({notice.stream}, notice.sequence) : std::optional<std::size_t>();
            if (!entry || rank_of(outgoing_.at(*entry).to) != received.from) {
                refuse_notice(received);
            }
            // A chunk that was refused has not been sent: the run is over, and its ledger without it.
            if (outgoing_.end_copy(*entry) && notice.kind == RmaNotice::Kind::taken) {
                found.sent.push_back({{notice.stream}, notice.sequence});
            }
        }
    }

    void receive_offers() {
        for (const RmaNotices::Received& offer : notices_.poll()) {
            if (!is_possible(offer) || (offers_.size() == offers_bound(plan_) && !warming_up())) {
                refuse_notice(offer);
            }
            offers_.push_back(offer);
        }
    }

    [[nodiscard]] bool is_possible(const RmaNotices::Received& offer) const {
        const RmaNotice& notice = offer.notice;
        const auto buffers =
            static_cast<std::uint64_t>(core::chunk_buffers_per_stream(plan_)) * plan_.streams;
        return roles_.node(offer.from).role == core::Role::producer &&
               notice.kind == RmaNotice::Kind::offered && notice.place.value < plan_.places() &&
               notice.buffer < buffers && notice.message_bytes > header_bytes &&
               notice.message_bytes <= buffers_.message_bytes();
    }

    void begin_reads() {
        std::size_t kept = 0;
        for (const RmaNotices::Received& offer : offers_) {
            if (closed_) {
                answer(offer, RmaNotice::Kind::refused);
                continue;
            }
            const std::uint32_t place = offer.notice.place.value;
            if (!requests_.has_free() || !places_.has_available(place)) {
                offers_[kept++] = offer;
                continue;
            }
            const std::size_t request = requests_.take();
            const std::size_t buffer = places_.take(place);
            readings_[request] = {offer, buffer};
            window_->get(buffers_.at(buffer).first(offer.notice.message_bytes), offer.from,
                         std::int64_t{offer.notice.buffer} * core::chunk_stride_bytes(plan_),
                         requests_.at(request));
        }
        offers_.resize(kept);
    }

    void complete_reads(Polled& found) {
        for (const int request : requests_.complete(
                 "reading a chunk", [this](std::size_t reading) { return readings_[reading].offer.from; })) {
            const auto& [offer, buffer] = readings_[static_cast<std::size_t>(request)];
            const std::span<const std::byte> message = buffers_.at(buffer).first(offer.notice.message_bytes);
            found.chunks.push_back(inspect(message, offer));
            places_.give_back(buffer);
            answer(offer, RmaNotice::Kind::taken);
        }
    }

    void answer(const RmaNotices::Received& offer, RmaNotice::Kind kind) {
        notices_.add(offer.from,
                     {.kind = kind, .sequence = offer.notice.sequence, .stream = offer.notice.stream});
    }

    [[nodiscard]] std::size_t reading() const { return requests_.under_way(); }

    // Consumer.
    PlaceBuffers places_;
    std::vector<RmaNotices::Received> offers_;  ///< of chunks that are not being read yet, in order
    RequestPool requests_;
    std::vector<Reading> readings_;  ///< by request
};

}  // namespace

std::unique_ptr<TransportBase> make_mpi_get(MPI_Comm comm, const core::RoleMap& roles,
                                            const core::Plan& plan) {
    return std::make_unique<MpiGetTransport>(comm, roles, plan);
}

}  // namespace weir::transport
