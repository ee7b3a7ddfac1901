// The producer's side of every transport over MPI: which chunks are under way, which chunk buffer each one
// lies in, and what is written in front of it before it leaves. Bookkeeping and bytes; the transport moves
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/plan.hpp"
#include "transport/buffers.hpp"
#include "transport/payload.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

class OutgoingChunks {
  public:
    /// One chunk that is under way.
    struct Chunk {
        core::StreamId stream;
        std::uint32_t sequence = 0;
        core::PlaceId place;
        core::ConsumerId to;
        std::size_t buffer = 0;  ///< of all of this producer's
        std::size_t in_ring = 0;
        std::size_t message_bytes = 0;  ///< header and payload
        bool cancelled = false;         ///< it is not reported when it leaves
        int copies = 0;                 ///< of it that have not left: 1, with an injected duplicate 2
    };

    OutgoingChunks() = default;
    /// `buffers` are the producer's and outlive this object.
    OutgoingChunks(const core::Plan& plan, const ChunkBuffers& buffers);

    /// Chunks that can be under way at a time: for each stream `window`, or all of an event if it has fewer.
    /// A chunk has one of so many entries.
    [[nodiscard]] std::size_t entries() const { return chunks_.size(); }

    /// Takes the next chunk buffer of the stream, writes header and, if payloads are verified, stamps into
    /// it, and damages or doubles it if `disturbance` is set. Returns the chunk's entry. The stream must have
    /// one left.
    std::size_t begin(const core::SendChunk& chunk, std::optional<DisturbanceKind> disturbance);

    /// The same without a byte written: the caller makes a message of `message_bytes` out of it.
    std::size_t reserve(const core::SendChunk& chunk, std::size_t message_bytes, int copies);

    [[nodiscard]] const Chunk& at(std::size_t entry) const { return chunks_[entry]; }
    /// The bytes that go over the wire.
    [[nodiscard]] std::span<std::byte> message(std::size_t entry) const;
    /// The chunk of a stream that is under way with this sequence number, if there is one.
    [[nodiscard]] std::optional<std::size_t> find(core::StreamId stream, std::uint32_t sequence) const;

    /// All chunks of the stream that are under way are cancelled.
    void cancel(core::StreamId stream);

    /// One copy has left. True when it was the last one: its buffer is free again, and its entry too.
    bool end_copy(std::size_t entry);

    [[nodiscard]] std::size_t under_way() const { return under_way_; }

  private:
    std::size_t reserve_entry(core::StreamId stream);
    /// Buffers are as a rule used in turn and out of memory: a header that is written there without this
    /// holds up all that is stored after it until the memory has come.
    void fetch_ahead(core::StreamId stream, std::size_t in_ring) const;

    const ChunkBuffers* buffers_ = nullptr;
    core::Verify verify_ = core::Verify::header;
    std::size_t window_ = 0;  ///< of chunks of a stream that can be under way
    std::size_t per_stream_ = 0;
    std::size_t capacity_bytes_ = 0;
    std::vector<Chunk> chunks_;  ///< `window_` entries per stream
    /// Which of them are free, `window_` for each stream, of which the first free_count_[stream] count: a
    /// search through a window of datagrams would cost as much as all the rest here.
    std::vector<std::uint32_t> free_;
    std::vector<std::size_t> free_count_;
    std::vector<BufferRing> rings_;
    BufferSums sums_;  ///< none unless payloads are verified
    std::size_t under_way_ = 0;
};

}  // namespace weir::transport
