#include "transport/outgoing_chunks.hpp"

#include <algorithm>
#include <numeric>

#include "core/assertion.hpp"
#include "core/memory_need.hpp"
#include "transport/chunk_header.hpp"

namespace weir::transport {

namespace {

/// Enough small chunks to take as long as memory takes to answer.
constexpr std::size_t chunks_ahead = 16;

}  // namespace

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
