// Transport `send`: two-sided MPI. A chunk is one MPI_Isend from a producer's chunk buffer into an MPI_Irecv
// that was posted when the place was opened; under UCX on RDMA networks that is a rendezvous without a copy.
// (Rejected: persistent requests, which Open MPI's UCX layer turns into ordinary ones; receives posted for
// the granted producer only, which would need the grant to travel to the consumer first.)
#include <mpi.h>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/assertion.hpp"
#include "core/ring_queue.hpp"
#include "transport/chunk_header.hpp"
#include "transport/mpi/mpi_support.hpp"
#include "transport/mpi/mpi_transport.hpp"

namespace weir::transport {

namespace {

/// Tags 0 .. places - 1 are places.
void check_tags(const core::Plan& plan) {
    void* attribute = nullptr;
    int found = 0;
    check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&attribute), &found),
              "MPI_Comm_get_attr");
    constexpr int least_by_standard = 32767;
    const int largest_tag = found != 0 ? *static_cast<const int*>(attribute) : least_by_standard;
    if (plan.places() > static_cast<std::uint32_t>(largest_tag)) {
        throw CapacityError(std::to_string(plan.places()) +
                            " slots need as many message tags, and this MPI has " +
                            std::to_string(largest_tag) + ": --slots must be at most that");
    }
}

class MpiSendTransport final : public MpiTransport {
  public:
    /// Collective, see MpiTransport. Allocates the chunk buffers of this rank's role. Throws CapacityError
    /// (memory, or more slots than MPI has tags) and TransportError, in both cases on this rank only.
    MpiSendTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan)
        : MpiTransport(comm, roles, std::move(plan)) {
        check_tags(plan_);
        switch (self_.role) {
            case core::Role::scheduler:
                break;
            case core::Role::producer:
                set_up_producer();
                break;
            case core::Role::consumer:
                set_up_consumer();
                break;
        }
    }

    MpiSendTransport(const MpiSendTransport&) = delete;
    MpiSendTransport& operator=(const MpiSendTransport&) = delete;
    ~MpiSendTransport() override {
        Polled dropped;
        const bool clean = withdraw_all([&](Deadline deadline) {
            return stop_receiving(deadline, dropped) && outgoing_.under_way() == 0 && duplicates_.empty();
        });
        if (!clean) {
            buffers_.abandon();
        }
    }

    void open_place(core::PlaceId place) override {
        WEIR_ASSERT(self_.role == core::Role::consumer && place.value < places_.size());
        WEIR_ASSERT(!closed_);
        Receives& receives = places_[place.value];
        const std::size_t first_buffer = place.value * buffers_per_place();
        const std::size_t first_entry = place.value * watched_per_place_;
        while (!receives.idle.empty()) {
            const std::size_t buffer = receives.idle.pop();
            const auto memory = buffers_.at(first_buffer + buffer);
            MPI_Request request = MPI_REQUEST_NULL;
            check_mpi(MPI_Irecv(memory.data(), static_cast<int>(memory.size()), MPI_BYTE, MPI_ANY_SOURCE,
                                static_cast<int>(place.value), data_comm_, &request),
                      "MPI_Irecv for a place");
            receives.queue.push({request, buffer});
        }
        for (std::size_t entry = first_entry; entry < first_entry + watched_per_place_; ++entry) {
            watch_next(entry);
        }
    }

    void send_chunk(const core::SendChunk& chunk) override {
        WEIR_ASSERT(self_.role == core::Role::producer && chunk.place.value < plan_.places());
        const std::size_t entry = outgoing_.begin(chunk, next_disturbance());
        const auto message = outgoing_.message(entry);
        const int to = rank_of(chunk.to);
        const int tag = static_cast<int>(chunk.place.value);
        const int size = static_cast<int>(message.size());
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Isend(message.data(), size, MPI_BYTE, to, tag, data_comm_, &request),
                  "MPI_Isend of a chunk", to);
        requests_.push_back(request);
        under_way_.push_back(entry);
        if (outgoing_.at(entry).copies == 2) {
            Duplicate copy{.entry = entry};
            check_mpi(MPI_Isend(message.data(), size, MPI_BYTE, to, tag, data_comm_, &copy.request),
                      "MPI_Isend of a duplicate", to);
            duplicates_.push_back(copy);
        }
    }

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

    void poll_data(Polled& found) override {
        const bool sends = self_.role == core::Role::producer;
        if (sends ? outgoing_.under_way() == 0 : watched_.empty() || closed_) {
            return;
        }
        const std::size_t finished = complete_requests();
        for (std::size_t i = 0; i < finished; ++i) {
            const auto request = static_cast<std::size_t>(finished_[i]);
            if (request < receives_of_packets) {
                control().completed(request, statuses_[i]);
            } else if (!sends) {
                const std::size_t entry = request - receives_of_packets;
                arrived(place_of(entry), watched_[entry], statuses_[i], found);
                watch_next(entry);
            }
        }
        if (sends && finished > 0) {
            remove_sent(found);
        }
        control().poll_after(found);
        control_polled();
        if (!duplicates_.empty()) {
            poll_duplicates(found);
        }
    }

    bool stop_receiving(Deadline deadline, Polled& late) override {
        closed_ = true;
        for (std::size_t entry = 0; self_.role == core::Role::consumer && entry < watched_.size(); ++entry) {
            for (MPI_Request& request = watched_request(entry); request != MPI_REQUEST_NULL;
                 watch_next(entry)) {
                withdrawing_.push_back({request, place_of(entry), watched_[entry]});
                request = MPI_REQUEST_NULL;
            }
        }
        std::vector<MPI_Request> receives(withdrawing_.size(), MPI_REQUEST_NULL);
        std::transform(withdrawing_.begin(), withdrawing_.end(), receives.begin(),
                       [](const Withdrawing& one) { return one.request; });
        const bool all = withdraw(receives, deadline, [&](std::size_t i, const MPI_Status& status) {
            arrived(withdrawing_[i].place, withdrawing_[i].buffer, status, late);
        });
        std::size_t kept = 0;
        for (std::size_t i = 0; i < receives.size(); ++i) {
            if (receives[i] != MPI_REQUEST_NULL) {
                withdrawing_[kept++] = withdrawing_[i];
            }
        }
        withdrawing_.resize(kept);
        return all;
    }

    bool release_data(Deadline /*deadline*/) override {
        return true;  // its receives are withdrawn
    }

    void set_up_producer() {
        buffers_ = ChunkBuffers::for_producer(plan_);
        outgoing_ = OutgoingChunks(plan_, buffers_);
        const std::size_t most = receives_of_packets + outgoing_.entries();
        requests_.reserve(most);
        requests_.assign(receives_of_packets, MPI_REQUEST_NULL);
        finished_.resize(most);
        statuses_.resize(most);
    }

    void set_up_consumer() {
        buffers_ = ChunkBuffers::for_consumer(plan_);
        const std::size_t per_place = buffers_per_place();
        // Only one sender is active in a place, with at most `window` chunks under way, and MPI gives them
        // the receives in the order in which these were posted. So the next to complete is among the oldest
        // `window`, and however many receives are posted, no more are tested. (A sender whose chunk has left
        // may have begun the next before that one is complete here; then the younger is found one poll
        // later.)
        watched_per_place_ = std::min<std::size_t>(plan_.window, per_place);
        for (std::uint32_t place = 0; place < plan_.places(); ++place) {
            places_.push_back({core::RingQueue<std::size_t>(per_place), core::RingQueue<Posted>(per_place)});
            for (std::size_t buffer = 0; buffer < per_place; ++buffer) {
                places_.back().idle.push(buffer);
            }
        }
        watched_.resize(std::size_t{plan_.places()} * watched_per_place_);
        requests_.assign(receives_of_packets + watched_.size(), MPI_REQUEST_NULL);
        finished_.resize(requests_.size());
        statuses_.resize(requests_.size());
    }

    [[nodiscard]] MPI_Request& watched_request(std::size_t entry) {
        return requests_[receives_of_packets + entry];
    }
    [[nodiscard]] std::size_t buffers_per_place() const { return buffers_.count() / plan_.places(); }
    [[nodiscard]] core::PlaceId place_of(std::size_t entry) const {
        return {static_cast<std::uint32_t>(entry / watched_per_place_)};
    }
    /// Tests requests_. How many are complete: finished_ has their indices, statuses_ what became of them.
    std::size_t complete_requests() {
        const MpiControl::LentReceives packets(control(), requests_);
        const bool sends = self_.role == core::Role::producer;
        return complete_some(
            requests_, finished_, statuses_,
            sends ? "sending chunks and receiving packets" : "receiving chunks and packets",
            [&](std::size_t i) {
                const auto request = static_cast<std::size_t>(finished_[i]);
                return sends && request >= receives_of_packets
                           ? rank_of(outgoing_.at(under_way_[request - receives_of_packets]).to)
                           : statuses_[i].MPI_SOURCE;
            });
    }

    /// Producer: removes what is complete of requests_ and under_way_.
    void remove_sent(Polled& found) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < under_way_.size(); ++i) {
            const MPI_Request request = requests_[receives_of_packets + i];
            if (request == MPI_REQUEST_NULL) {
                sent_copy(under_way_[i], found);
            } else {
                requests_[receives_of_packets + kept] = request;
                under_way_[kept++] = under_way_[i];
            }
        }
        requests_.resize(receives_of_packets + kept);
        under_way_.resize(kept);
    }

    void poll_duplicates(Polled& found) {
        for (std::size_t i = duplicates_.size(); i-- > 0;) {
            int done = 0;
            check_mpi(MPI_Test(&duplicates_[i].request, &done, MPI_STATUS_IGNORE), "sending a duplicate",
                      rank_of(outgoing_.at(duplicates_[i].entry).to));
            if (done != 0) {
                const std::size_t entry = duplicates_[i].entry;
                duplicates_.erase(duplicates_.begin() + static_cast<std::ptrdiff_t>(i));
                sent_copy(entry, found);
            }
        }
    }

    void sent_copy(std::size_t entry, Polled& found) {
        if (outgoing_.end_copy(entry)) {
            const OutgoingChunks::Chunk& chunk = outgoing_.at(entry);
            found.sent.push_back({chunk.stream, chunk.sequence});
        }
    }

    void arrived(core::PlaceId place, std::size_t buffer, const MPI_Status& status, Polled& found) {
        const std::size_t size = bytes_of(status);
        WEIR_ASSERT(size <= buffers_.message_bytes());
        const std::span<const std::byte> message =
            buffers_.at(place.value * buffers_per_place() + buffer).first(size);
        found.chunks.push_back(inspect_chunk(message, place, Rank{status.MPI_SOURCE}, bounds_, plan_.verify));
        places_[place.value].idle.push(buffer);
    }

    void watch_next(std::size_t entry) {
        Receives& receives = places_[entry / watched_per_place_];
        if (watched_request(entry) == MPI_REQUEST_NULL && !receives.queue.empty()) {
            const Posted posted = receives.queue.pop();
            watched_request(entry) = posted.request;
            watched_[entry] = posted.buffer;
        }
    }

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

}  // namespace

std::unique_ptr<TransportBase> make_mpi_send(MPI_Comm comm, const core::RoleMap& roles,
                                             const core::Plan& plan) {
    return std::make_unique<MpiSendTransport>(comm, roles, plan);
}

}  // namespace weir::transport
