// Chunk buffers: [64-byte header][payload], all of a rank in one block of memory, at a fixed stride
// (core/plan.hpp). Allocated once: page-aligned here, or by MPI where they are a window
// (rma_window.hpp). (Rejected: a heap block per chunk, and MPI_Alloc_mem, which under UCX is malloc.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/ring_queue.hpp"

namespace weir::transport {

/// A page-aligned block of zeroed memory, owned. Pages are first touched by whoever writes them first.
class Arena {
  public:
    Arena() = default;
    /// `owner` and `advice` complete the message of the CapacityError that is thrown when the memory is
    /// refused: who needs it, and which options make it less.
    Arena(std::int64_t bytes, const std::string& owner, const std::string& advice);
    ~Arena();
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Gives the memory up without returning it to the system: a network card may still write into it.
    void abandon() noexcept;

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// `count` chunk buffers in one block of memory.
class ChunkBuffers {
  public:
    ChunkBuffers() = default;
    /// All chunk buffers of a producer: those of stream s are [s * per_stream, (s + 1) * per_stream).
    static ChunkBuffers for_producer(const core::Plan& plan);
    /// All chunk buffers of a consumer: those of place p are [p * per_place, (p + 1) * per_place).
    static ChunkBuffers for_consumer(const core::Plan& plan);
    /// The same in memory that is there already, core::producer_memory_bytes() or
    /// core::consumer_memory_bytes() of it, and stays the caller's.
    static ChunkBuffers for_producer(const core::Plan& plan, std::byte* memory);
    static ChunkBuffers for_consumer(const core::Plan& plan, std::byte* memory);

    [[nodiscard]] std::size_t count() const { return count_; }
    /// Largest message, header and payload.
    [[nodiscard]] std::size_t message_bytes() const { return message_bytes_; }
    /// The bytes of buffer `index`, message_bytes() of them.
    [[nodiscard]] std::span<std::byte> at(std::size_t index) const;
    /// From one buffer to the next.
    [[nodiscard]] std::size_t stride() const { return stride_; }
    /// `memory`: where the buffer begins.
    [[nodiscard]] std::uint32_t index_of(const std::byte* memory) const {
        return static_cast<std::uint32_t>(static_cast<std::size_t>(memory - memory_) / stride_);
    }
    /// All of them in one piece.
    [[nodiscard]] std::span<std::byte> memory() const { return {memory_, count_ * stride_}; }
    void abandon() noexcept { arena_.abandon(); }

  private:
    ChunkBuffers(Arena arena, std::byte* memory, std::size_t count, const core::Plan& plan);

    Arena arena_;  ///< empty where the memory is the caller's
    std::byte* memory_ = nullptr;
    std::size_t count_ = 0;
    std::size_t stride_ = 0;
    std::size_t message_bytes_ = 0;
};

/// Which chunk buffers of a consumer's places a chunk may be received into, by index among all.
class PlaceBuffers {
  public:
    PlaceBuffers() = default;
    PlaceBuffers(std::uint32_t places, const ChunkBuffers& buffers);

    /// Those of the place whose chunks were inspected are for chunks to come.
    void open(std::uint32_t place);
    [[nodiscard]] bool has_available(std::uint32_t place) const { return !places_[place].available.empty(); }
    std::size_t take(std::uint32_t place) { return places_[place].available.pop(); }
    /// The chunk in it was inspected.
    void give_back(std::size_t buffer) { places_[buffer / per_place_].idle.push(buffer); }

  private:
    struct Place {
        core::RingQueue<std::size_t> idle;       ///< available again when the place is opened
        core::RingQueue<std::size_t> available;  ///< for chunks to come
    };
    std::size_t per_place_ = 0;
    std::vector<Place> places_;
};

/// Which buffer of a ring is next. Chunks go through the ring in order; a buffer that is still under way is
/// passed over, because sends may complete in another order than they began.
class BufferRing {
  public:
    BufferRing() = default;
    explicit BufferRing(std::size_t size) : busy_(size, 0) {}

    /// Takes the next free buffer; there must be one.
    std::size_t reserve();
    void give_back(std::size_t index);

  private:
    std::vector<std::uint8_t> busy_;
    std::size_t next_ = 0;
};

/// Messages that warm-up sends from every producer to every consumer: at least one, and enough that every
/// chunk buffer on either side is used.
std::int64_t warmup_messages_per_pair(const core::Plan& plan);

}  // namespace weir::transport
