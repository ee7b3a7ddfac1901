#include "transport/mpi_send_transport.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/assertion.hpp"
#include "transport/mpi_support.hpp"
#include "transport/payload.hpp"

namespace weir::transport {

namespace {

constexpr std::chrono::milliseconds destructor_limit{300};
constexpr std::chrono::milliseconds close_limit{1000};
constexpr std::chrono::microseconds nap{50};

MPI_Comm duplicate(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return copy;
}

/// Tags 0 .. slots - 1 are slots, the one after them is warm-up's.
void check_limits(const core::Plan& plan) {
    if (core::chunk_capacity_bytes(plan) > core::chunk_size_limit_bytes) {
        throw CapacityError("a chunk of " + std::to_string(core::chunk_capacity_bytes(plan)) +
                            " bytes does not fit into one MPI message: --chunk-size must be at most " +
                            std::to_string(core::chunk_size_limit_bytes) + " bytes");
    }
    void* attribute = nullptr;
    int found = 0;
    check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&attribute), &found),
              "MPI_Comm_get_attr");
    constexpr int least_by_standard = 32767;
    const int largest_tag = found != 0 ? *static_cast<const int*>(attribute) : least_by_standard;
    if (plan.slots > static_cast<std::uint32_t>(largest_tag)) {
        throw CapacityError(std::to_string(plan.slots) +
                            " slots need as many message tags, and this MPI has " +
                            std::to_string(largest_tag) + ": --slots must be at most that");
    }
}

template <typename T>
void push_ring(std::vector<T>& ring, std::size_t head, std::size_t& count, T value) {
    WEIR_ASSERT(count < ring.size());
    ring[(head + count) % ring.size()] = value;
    ++count;
}

template <typename T>
T pop_ring(const std::vector<T>& ring, std::size_t& head, std::size_t& count) {
    WEIR_ASSERT(count > 0);
    const T value = ring[head];
    head = (head + 1) % ring.size();
    --count;
    return value;
}

}  // namespace

MpiSendTransport::MpiSendTransport(MPI_Comm comm, core::RoleMap roles, core::Plan plan)
    : roles_(std::move(roles)), plan_(std::move(plan)), bounds_(ChunkBounds::of(plan_)) {
    int rank = -1;
    int ranks = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
    WEIR_ASSERT(ranks == roles_.ranks());
    WEIR_ASSERT(plan_.producers == roles_.producers() && plan_.consumers == roles_.consumers());
    self_ = roles_.node(rank);

    // What is collective comes first: whatever one rank finds wrong after this keeps no other rank waiting
    // here.
    data_ = duplicate(comm);
    control_comm_ = duplicate(comm);
    check_limits(plan_);
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
    control_ = std::make_unique<MpiControl>(control_comm_, control_receives(), control_sends());
}

std::size_t MpiSendTransport::control_receives() const {
    // A packet of every peer, and for the scheduler several. More would only move memory from MPI to here.
    const auto ranks = static_cast<std::size_t>(roles_.ranks());
    return self_.role == core::Role::scheduler ? std::clamp<std::size_t>(4 * ranks, 64, 4096)
                                               : std::clamp<std::size_t>(ranks, 64, 512);
}

std::size_t MpiSendTransport::control_sends() const {
    // Small packets leave at once, so a rank comes near this only when a peer takes nothing any more.
    return 1024 + 16 * static_cast<std::size_t>(roles_.ranks());
}

void MpiSendTransport::set_up_producer() {
    buffers_ = ChunkBuffers::for_producer(plan_);
    const std::size_t per_stream = buffers_.count() / plan_.streams;
    rings_.assign(plan_.streams, BufferRing(per_stream));
    requests_.assign(std::size_t{plan_.streams} * plan_.window, MPI_REQUEST_NULL);
    sending_.resize(requests_.size());
    finished_.resize(requests_.size());
    statuses_.resize(requests_.size());
}

void MpiSendTransport::set_up_consumer() {
    buffers_ = ChunkBuffers::for_consumer(plan_);
    const std::size_t per_slot = buffers_.count() / plan_.slots;
    // Only one sender is active in a slot, with at most `window` chunks under way, and MPI gives them the
    // receives in the order in which these were posted. So the next to complete is among the oldest `window`,
    // and however many receives are posted, no more are tested. (A sender whose chunk has left may have begun
    // the next before that one is complete here; then the younger is found one poll later.)
    watched_per_slot_ = std::min<std::size_t>(plan_.window, per_slot);
    slots_.resize(plan_.slots);
    for (Slot& slot : slots_) {
        slot.idle.resize(per_slot);
        slot.queue.resize(per_slot);
        for (std::size_t buffer = 0; buffer < per_slot; ++buffer) {
            push_ring(slot.idle, slot.idle_head, slot.idle_count, buffer);
        }
    }
    requests_.assign(std::size_t{plan_.slots} * watched_per_slot_, MPI_REQUEST_NULL);
    watched_.resize(requests_.size());
    finished_.resize(requests_.size());
    statuses_.resize(requests_.size());
}

MpiSendTransport::~MpiSendTransport() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    bool clean = shut_down_;
    if (!shut_down_ && finalized == 0) {
        try {
            const Deadline deadline = std::chrono::steady_clock::now() + destructor_limit;
            clean = withdraw_receives(deadline) && chunks_under_way_ == 0 && duplicates_.empty();
            clean = (warmup_ == nullptr || warm_ || warmup_->cancel(deadline)) && clean;
            // Its own memory it keeps itself, if it must.
            static_cast<void>(control_ == nullptr || control_->close(deadline));
        } catch (const std::exception&) {
            clean = false;  // whoever destroys the transport has a better error to report than this one
        }
    }
    if (!clean) {
        // Something is under way that nobody can call back. It must not end in memory that has a new owner.
        buffers_.abandon();
        static_cast<void>(warmup_.release());
    }
    // The communicators are not freed here: that is collective.
}

void MpiSendTransport::send_packet(Rank to, std::span<const std::byte> packet) {
    control_->send(to, packet);
}

std::size_t MpiSendTransport::packets_under_way() const {
    return control_->under_way();
}

void MpiSendTransport::begin_warmup() {
    WEIR_ASSERT(warmup_ == nullptr && !warm_);
    warmup_ = std::make_unique<MpiWarmup>(data_, static_cast<int>(plan_.slots), control_comm_,
                                          MpiControl::warmup_tag, roles_, plan_, buffers_);
}

bool MpiSendTransport::warmup_step() {
    WEIR_ASSERT(warmup_ != nullptr);
    if (!warm_) {
        warm_ = warmup_->step();
    }
    return warm_;
}

WarmupProgress MpiSendTransport::warmup_progress() const {
    return warmup_ == nullptr ? WarmupProgress{}
                              : WarmupProgress{warmup_->messages_done(), warmup_->messages_total()};
}

void MpiSendTransport::open_slot(core::SlotId slot) {
    WEIR_ASSERT(self_.role == core::Role::consumer && slot.value < slots_.size());
    WEIR_ASSERT(warmup_ == nullptr || warm_);
    WEIR_ASSERT(!closed_);
    Slot& place = slots_[slot.value];
    const std::size_t first_buffer = slot.value * place.idle.size();
    const std::size_t first_entry = slot.value * watched_per_slot_;
    while (place.idle_count > 0) {
        const std::size_t buffer = pop_ring(place.idle, place.idle_head, place.idle_count);
        const auto memory = buffers_.at(first_buffer + buffer);
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Irecv(memory.data(), static_cast<int>(memory.size()), MPI_BYTE, MPI_ANY_SOURCE,
                            static_cast<int>(slot.value), data_, &request),
                  "MPI_Irecv for a slot");
        push_ring(place.queue, place.queue_head, place.queue_count, Posted{request, buffer});
    }
    for (std::size_t entry = first_entry; entry < first_entry + watched_per_slot_; ++entry) {
        watch_next(entry);
    }
}

void MpiSendTransport::watch_next(std::size_t entry) {
    Slot& place = slots_[entry / watched_per_slot_];
    if (requests_[entry] == MPI_REQUEST_NULL && place.queue_count > 0) {
        const Posted posted = pop_ring(place.queue, place.queue_head, place.queue_count);
        requests_[entry] = posted.request;
        watched_[entry] = posted.buffer;
    }
}

void MpiSendTransport::send_chunk(const core::SendChunk& chunk) {
    WEIR_ASSERT(self_.role == core::Role::producer && chunk.stream.value < plan_.streams);
    WEIR_ASSERT(chunk.slot.value < plan_.slots);
    WEIR_ASSERT(warmup_ == nullptr || warm_);
    const std::int64_t length = chunk.chunk.length.count;
    WEIR_ASSERT(length > 0 && length <= core::chunk_capacity_bytes(plan_));

    const auto first = sending_.begin() + std::ptrdiff_t{chunk.stream.value} * plan_.window;
    const auto free_entry = std::find_if(first, first + std::ptrdiff_t{plan_.window},
                                         [](const Sending& sending) { return sending.copies == 0; });
    WEIR_ASSERT(free_entry != first + std::ptrdiff_t{plan_.window});
    const auto entry = static_cast<std::size_t>(free_entry - sending_.begin());
    const std::size_t in_ring = rings_[chunk.stream.value].take();
    const auto memory = buffers_.at(chunk.stream.value * (buffers_.count() / plan_.streams) + in_ring);
    const auto payload = memory.subspan(header_bytes, static_cast<std::size_t>(length));

    std::uint64_t checksum = 0;
    if (plan_.verify == core::Verify::full) {
        stamp_payload(payload, chunk.chunk.event, chunk.chunk.offset);
        checksum = payload_checksum(payload, chunk.chunk.event, chunk.chunk.offset);
    }
    encode_header(memory.first<header_bytes>(), chunk.chunk, checksum, plan_.verify);

    const int to = roles_.rank(core::node_of(chunk.to));
    const int size = static_cast<int>(core::chunk_header_bytes + length);
    sending_[entry] = {chunk.stream, chunk.chunk.sequence, in_ring, to, length, 1};
    if (next_fault_ == FaultKind::corrupt_header) {
        memory[8] ^= std::byte{1};
    } else if (next_fault_ == FaultKind::corrupt_payload) {
        payload[payload.size() / 2] ^= std::byte{1};
    }
    check_mpi(MPI_Isend(memory.data(), size, MPI_BYTE, to, static_cast<int>(chunk.slot.value), data_,
                        &requests_[entry]),
              "MPI_Isend of a chunk", to);
    if (next_fault_ == FaultKind::duplicate) {
        Duplicate copy{.entry = entry};
        check_mpi(MPI_Isend(memory.data(), size, MPI_BYTE, to, static_cast<int>(chunk.slot.value), data_,
                            &copy.request),
                  "MPI_Isend of a duplicate", to);
        duplicates_.push_back(copy);
        sending_[entry].copies = 2;
    }
    next_fault_.reset();
    ++chunks_under_way_;
    ++counters_.chunks_sent;
    counters_.bytes_sent += length;
}

void MpiSendTransport::poll(Polled& found) {
    if (!late_.empty()) {
        found.chunks.insert(found.chunks.end(), late_.chunks.begin(), late_.chunks.end());
        late_.clear();
    }
    poll_data(found);
    if (!duplicates_.empty()) {
        poll_duplicates(found);
    }
    control_->poll(found);
}

void MpiSendTransport::poll_data(Polled& found) {
    if (self_.role == core::Role::producer ? chunks_under_way_ == 0 : requests_.empty() || closed_) {
        return;  // control_->poll() makes MPI's progress
    }
    int finished = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &finished,
                                  finished_.data(), statuses_.data());
    const bool sends = self_.role == core::Role::producer;
    if (code != MPI_SUCCESS) {
        throw_from_statuses(
            code, std::span(statuses_).first(finished > 0 ? static_cast<std::size_t>(finished) : 0),
            sends ? "sending a chunk" : "receiving a chunk", [&](std::size_t i) {
                return sends ? sending_[static_cast<std::size_t>(finished_[i])].to : statuses_[i].MPI_SOURCE;
            });
    }
    for (std::size_t i = 0; finished != MPI_UNDEFINED && i < static_cast<std::size_t>(finished); ++i) {
        const auto entry = static_cast<std::size_t>(finished_[i]);
        if (sends) {
            sent_copy(entry, found);
        } else {
            arrived(entry / watched_per_slot_, watched_[entry], statuses_[i], found);
            watch_next(entry);
        }
    }
}

void MpiSendTransport::poll_duplicates(Polled& found) {
    for (std::size_t i = duplicates_.size(); i-- > 0;) {
        int done = 0;
        check_mpi(MPI_Test(&duplicates_[i].request, &done, MPI_STATUS_IGNORE), "sending a duplicate",
                  sending_[duplicates_[i].entry].to);
        if (done != 0) {
            const std::size_t entry = duplicates_[i].entry;
            duplicates_.erase(duplicates_.begin() + static_cast<std::ptrdiff_t>(i));
            sent_copy(entry, found);
        }
    }
}

void MpiSendTransport::sent_copy(std::size_t entry, Polled& found) {
    Sending& sending = sending_[entry];
    WEIR_ASSERT(sending.copies > 0);
    if (--sending.copies > 0) {
        return;
    }
    rings_[sending.stream.value].give_back(sending.buffer);
    WEIR_ASSERT(chunks_under_way_ > 0);
    --chunks_under_way_;
    found.sent.push_back({sending.stream, sending.sequence});
}

void MpiSendTransport::arrived(std::size_t slot, std::size_t buffer, const MPI_Status& status,
                               Polled& found) {
    Slot& place = slots_[slot];
    const std::size_t size = bytes_of(status);
    WEIR_ASSERT(size <= buffers_.message_bytes());
    const std::span<const std::byte> message = buffers_.at(slot * place.idle.size() + buffer).first(size);
    const DecodedHeader header = decode_header(message, bounds_, plan_.verify);
    const bool header_intact = header.state == HeaderState::intact;
    bool payload_intact = true;
    if (header_intact && plan_.verify == core::Verify::full) {
        payload_intact = payload_checksum(message.subspan(header_bytes), header.chunk.event,
                                          header.chunk.offset) == header.payload_checksum;
    }
    push_ring(place.idle, place.idle_head, place.idle_count, buffer);
    ++counters_.chunks_received;
    counters_.bytes_received += static_cast<std::int64_t>(size > header_bytes ? size - header_bytes : 0);
    found.chunks.push_back({.slot = {static_cast<std::uint32_t>(slot)},
                            .source = Rank{status.MPI_SOURCE},
                            .header_intact = header_intact,
                            .payload_intact = payload_intact,
                            .chunk = header.chunk});
}

void MpiSendTransport::close_slots() {
    // What is stuck here is tried again at the end: shut_down() says whether it worked.
    static_cast<void>(withdraw_receives(std::chrono::steady_clock::now() + close_limit));
}

bool MpiSendTransport::withdraw_receives(Deadline deadline) {
    closed_ = true;
    for (std::size_t entry = 0; self_.role == core::Role::consumer && entry < requests_.size(); ++entry) {
        for (; requests_[entry] != MPI_REQUEST_NULL; watch_next(entry)) {
            withdrawing_.push_back({requests_[entry], entry / watched_per_slot_, watched_[entry]});
            requests_[entry] = MPI_REQUEST_NULL;
        }
    }
    std::vector<MPI_Request> receives(withdrawing_.size(), MPI_REQUEST_NULL);
    std::transform(withdrawing_.begin(), withdrawing_.end(), receives.begin(),
                   [](const Withdrawing& one) { return one.request; });
    const bool all = withdraw(receives, deadline, [this](std::size_t i, const MPI_Status& status) {
        arrived(withdrawing_[i].slot, withdrawing_[i].buffer, status, late_);
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

bool MpiSendTransport::shut_down(core::Duration limit) {
    const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(limit.ns);
    Polled dropped;
    // Polls and naps until `ready`; false when the time is up.
    const auto wait_until = [&](const auto& ready) {
        while (!ready()) {
            if (std::chrono::steady_clock::now() >= deadline) {
                return false;
            }
            dropped.clear();
            poll(dropped);
            if (dropped.empty()) {
                std::this_thread::sleep_for(nap);
            }
        }
        return true;
    };
    if (warmup_ != nullptr && !warm_) {
        return false;
    }
    if (!wait_until([this] { return chunks_under_way_ == 0 && packets_under_way() == 0; })) {
        return false;
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(control_comm_, &barrier), "MPI_Ibarrier at the end");
    const bool together = wait_until([&barrier] {
        int done = 0;
        check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Ibarrier at the end");
        return done != 0;
    });
    if (!together || !withdraw_receives(deadline) || !control_->close(deadline)) {
        return false;
    }
    check_mpi(MPI_Comm_free(&data_), "MPI_Comm_free");
    check_mpi(MPI_Comm_free(&control_comm_), "MPI_Comm_free");
    shut_down_ = true;
    return true;
}

TransportCounters MpiSendTransport::counters() const {
    TransportCounters all = counters_;
    all.packets_sent = control_->packets_sent;
    all.packets_received = control_->packets_received;
    return all;
}

}  // namespace weir::transport
