#include "transport/transport_base.hpp"

#include <numeric>
#include <thread>

#include "transport/warmup.hpp"

namespace weir::transport {

namespace {

constexpr std::chrono::milliseconds destructor_limit{300};
constexpr std::chrono::milliseconds close_limit{1000};
constexpr std::chrono::microseconds nap{50};

/// Enough small chunks to take as long as memory takes to answer.
constexpr std::size_t chunks_ahead = 16;

}  // namespace

TransportBase::TransportBase(core::NodeId self, core::RoleMap roles, core::Plan plan)
    : roles_(std::move(roles)), plan_(std::move(plan)), self_(self), bounds_(ChunkBounds::of(plan_)) {
    WEIR_ASSERT(plan_.producers == roles_.producers() && plan_.consumers == roles_.consumers());
    // All ranks have the same plan, and throw the same.
    if (core::chunk_capacity_bytes(plan_) > core::chunk_size_limit_bytes) {
        throw CapacityError("a chunk of " + std::to_string(core::chunk_capacity_bytes(plan_)) +
                            " bytes does not fit into one message: --chunk-size must be at most " +
                            std::to_string(core::chunk_size_limit_bytes) + " bytes");
    }
}

TransportBase::~TransportBase() = default;

std::size_t TransportBase::control_receives() const {
    // A packet of every peer, and for the scheduler several. More would only move memory from MPI to here.
    const auto ranks = static_cast<std::size_t>(roles_.ranks());
    return self_.role == core::Role::scheduler ? std::clamp<std::size_t>(4 * ranks, 64, 4096)
                                               : std::clamp<std::size_t>(ranks, 64, 512);
}

std::size_t TransportBase::control_sends() const {
    // Small packets leave at once, so a rank comes near this only when a peer takes nothing any more.
    return 1024 + 16 * static_cast<std::size_t>(roles_.ranks());
}

void TransportBase::send_packet(Rank to, std::span<const std::byte> packet) {
    control_->send(to, packet);
}

std::size_t TransportBase::packets_under_way() const {
    return control_->under_way();
}

std::unique_ptr<Warmup> TransportBase::make_warmup() {
    return make_chunk_warmup(Warmup::Parts{*this, self_, roles_, plan_, buffers_, connections_per_pair()});
}

void TransportBase::begin_warmup() {
    WEIR_ASSERT(warmup_ == nullptr && !warm_);
    warmup_ = make_warmup();
}

bool TransportBase::warmup_step() {
    WEIR_ASSERT(warmup_ != nullptr);
    if (!warm_) {
        // What it has sent has left before the others count on it.
        warm_ = warmup_->step(late_) && all_left() && packets_under_way() == 0;
    }
    return warm_;
}

WarmupProgress TransportBase::warmup_progress() const {
    return warmup_ == nullptr
               ? WarmupProgress{}
               : WarmupProgress{warmup_->messages_done() + (warm_ ? 1 : 0), warmup_->messages_total() + 1};
}

void TransportBase::poll(Polled& found) {
    if (!late_.empty() && !warming_up()) {
        found.add(late_);
        late_.clear();
    }
    poll_data(found);
    if (!std::exchange(control_polled_, false)) {
        control_->poll(found);  // makes MPI's progress, too
    }
}

void TransportBase::close_places() {
    // What is stuck here is tried again at the end: shut_down() returns whether it worked.
    static_cast<void>(stop_receiving(std::chrono::steady_clock::now() + close_limit, late_));
}

bool TransportBase::shut_down(core::Duration limit) {
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
    if (warming_up() || !wait_until([this] { return all_left() && packets_under_way() == 0; })) {
        return false;
    }
    expect_departures();
    begin_last_barrier();
    const bool together = wait_until([this] { return last_barrier_done(); });
    dropped.clear();
    if (!together || !stop_receiving(deadline, dropped) || !release(deadline) || !control_->close(deadline)) {
        return false;
    }
    release_control();
    shut_down_ = true;
    return true;
}

bool TransportBase::withdraw_all(const std::function<bool(Deadline)>& withdraw_data) noexcept {
    if (shut_down_) {
        return true;
    }
    bool clean = works();
    if (clean) {
        try {
            const Deadline deadline = std::chrono::steady_clock::now() + destructor_limit;
            clean = withdraw_data(deadline);
            clean = (!warming_up() || warmup_->cancel(deadline)) && clean;
            // Its own memory it keeps itself, if it must.
            static_cast<void>(control_->close(deadline));
        } catch (const std::exception&) {
            clean = false;  // whoever destroys the transport has a better error to report than this one
        }
    }
    if (!clean) {
        static_cast<void>(warmup_.release());
    }
    // The communicators are not freed here: that is collective.
    return clean;
}

OutgoingChunks::OutgoingChunks(const core::Plan& plan, const ChunkBuffers& buffers)
    : buffers_(&buffers),
      verify_(plan.verify),
      window_(std::min(plan.window, plan.chunks_per_fragment())),
      per_stream_(buffers.count() / plan.streams),
      capacity_bytes_(static_cast<std::size_t>(core::chunk_capacity_bytes(plan))),
      chunks_(std::size_t{plan.streams} * window_),
      free_(chunks_.size()),
      free_count_(plan.streams, window_),
      rings_(plan.streams, BufferRing(per_stream_)) {
    if (verify_ >= core::Verify::sample) {
        sums_ = BufferSums(buffers.count(), capacity_bytes_);
    }
    std::iota(free_.begin(), free_.end(), 0U);
}

std::size_t OutgoingChunks::reserve_entry(core::StreamId stream) {
    std::size_t& left = free_count_[stream.value];
    WEIR_ASSERT(left > 0);  // the stream has fewer chunks under way than its window
    return free_[stream.value * window_ + --left];
}

std::optional<std::size_t> OutgoingChunks::find(core::StreamId stream, std::uint32_t sequence) const {
    if (stream.value >= rings_.size()) {
        return std::nullopt;
    }
    const std::size_t first = stream.value * window_;
    for (std::size_t entry = first; entry < first + window_; ++entry) {
        if (chunks_[entry].copies > 0 && chunks_[entry].sequence == sequence) {
            return entry;
        }
    }
    return std::nullopt;
}

std::span<std::byte> OutgoingChunks::message(std::size_t entry) const {
    return buffers_->at(chunks_[entry].buffer).first(chunks_[entry].message_bytes);
}

std::size_t OutgoingChunks::reserve(const core::SendChunk& chunk, std::size_t message_bytes, int copies) {
    WEIR_ASSERT(chunk.stream.value < rings_.size());
    WEIR_ASSERT(chunk.chunk.length.count > 0);
    WEIR_ASSERT(static_cast<std::size_t>(chunk.chunk.length.count) <= capacity_bytes_);

    const std::size_t entry = reserve_entry(chunk.stream);
    Chunk& taken = chunks_[entry];
    taken.stream = chunk.stream;
    taken.sequence = chunk.chunk.sequence;
    taken.place = chunk.place;
    taken.to = chunk.to;
    taken.in_ring = rings_[chunk.stream.value].reserve();
    taken.buffer = chunk.stream.value * per_stream_ + taken.in_ring;
    taken.message_bytes = message_bytes;
    taken.cancelled = false;
    taken.copies = copies;
    ++under_way_;
    fetch_ahead(chunk.stream, taken.in_ring);
    return entry;
}

void OutgoingChunks::fetch_ahead(core::StreamId stream, std::size_t in_ring) const {
    std::size_t ahead = in_ring + chunks_ahead;
    ahead = ahead < per_stream_ ? ahead : ahead % per_stream_;
    __builtin_prefetch(buffers_->at(stream.value * per_stream_ + ahead).data(), 1);
}

std::size_t OutgoingChunks::begin(const core::SendChunk& chunk, std::optional<DisturbanceKind> disturbance) {
    const std::size_t message_bytes = header_bytes + static_cast<std::size_t>(chunk.chunk.length.count);
    const std::size_t entry =
        reserve(chunk, message_bytes, disturbance == DisturbanceKind::duplicate ? 2 : 1);
    const auto memory = message(entry);
    const auto payload = memory.subspan(header_bytes);
    std::uint64_t checksum = 0;
    if (is_payload_checked(verify_, chunk.chunk.event, chunk.chunk.offset)) {
        checksum = sums_.stamp(chunks_[entry].buffer, payload, chunk.chunk.event, chunk.chunk.offset);
    }
    encode_header(memory.first<header_bytes>(), chunk.chunk, checksum, verify_);
    if (disturbance == DisturbanceKind::corrupt_header) {
        memory[event_id_at] ^= std::byte{1};
    } else if (disturbance == DisturbanceKind::corrupt_payload) {
        payload[payload.size() / 2] ^= std::byte{1};
        if (verify_ >= core::Verify::sample) {
            sums_.forget(chunks_[entry].buffer);
        }
    }
    return entry;
}

void OutgoingChunks::cancel(core::StreamId stream) {
    const std::size_t first = stream.value * window_;
    for (std::size_t entry = first; entry < first + window_; ++entry) {
        chunks_[entry].cancelled = true;
    }
}

bool OutgoingChunks::end_copy(std::size_t entry) {
    Chunk& chunk = chunks_[entry];
    WEIR_ASSERT(chunk.copies > 0);
    if (--chunk.copies > 0) {
        return false;
    }
    rings_[chunk.stream.value].give_back(chunk.in_ring);
    free_[chunk.stream.value * window_ + free_count_[chunk.stream.value]++] =
        static_cast<std::uint32_t>(entry);
    WEIR_ASSERT(under_way_ > 0);
    --under_way_;
    return true;
}

}  // namespace weir::transport
