// How much memory a producer and a consumer need for their chunk buffers. Pure arithmetic on the plan: config
// calls it before anything is allocated, transport allocates by it, and both read the same lines. (Rejected:
// a function of transport: config must not include transport.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

/// Bytes in front of the payload of every chunk on the wire and in memory.
inline constexpr std::int64_t chunk_header_bytes = 64;

/// Largest chunk of data that one message can carry, in bytes, header not counted: MPI counts are 32-bit.
inline constexpr std::int64_t chunk_size_limit_bytes =
    std::int64_t{std::numeric_limits<std::int32_t>::max()} - chunk_header_bytes;

/// A datagram is a chunk, its header included: the least that an Ethernet frame carries without padding, and
/// the most that UDP over IPv4 can.
inline constexpr std::int64_t datagram_least_bytes = 18;
inline constexpr std::int64_t datagram_most_bytes = 65507;
/// Datagrams that a consumer takes off its socket at a time: all the memory that it needs for them.
inline constexpr std::int64_t datagrams_at_a_time = 64;

namespace detail {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

/// a x b for numbers >= 0; what does not fit is the largest number, which no memory check lets pass.
constexpr std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return a != 0 && b > most / a ? most : a * b;
}

}  // namespace detail

/// Payload bytes that a chunk buffer holds: the chunk size, or the whole event where events are smaller.
/// This and all below need chunk_size, slot_size > 0 and streams, slots, window > 0.
constexpr std::int64_t chunk_capacity_bytes(const Plan& plan) {
    return std::min(plan.chunk_size.count, plan.slot_size.count);
}

/// Distance from one chunk buffer to the next. Chunks from 32 KiB on begin on a page of their own: such
/// messages go by RDMA, whose registration is per buffer, and registrations of two buffers must not share a
/// page (UCX may merge those into one that grows with each buffer). Smaller ones are copied by MPI anyway and
/// are packed.
constexpr std::int64_t chunk_stride_bytes(const Plan& plan) {
    constexpr std::int64_t cache_line = 64;
    constexpr std::int64_t page = 4096;
    constexpr std::int64_t zero_copy_from = 32 * 1024;
    const std::int64_t capacity = chunk_capacity_bytes(plan);
    const std::int64_t unit = capacity >= zero_copy_from ? page : cache_line;
    if (capacity > chunk_size_limit_bytes) {
        return std::numeric_limits<std::int64_t>::max();
    }
    return detail::ceil_div(chunk_header_bytes + capacity, unit) * unit;
}

/// Chunk buffers of one stream: enough for the window, and enough that all streams together hold
/// `plan.buffer` bytes. A producer goes through them in a ring, so data comes out of memory and not out of
/// the cache.
constexpr std::int64_t chunk_buffers_per_stream(const Plan& plan) {
    const std::int64_t per_stream = detail::ceil_div(plan.buffer.count, std::int64_t{plan.streams});
    return std::max(std::int64_t{plan.window}, detail::ceil_div(per_stream, chunk_capacity_bytes(plan)));
}

/// Chunk buffers of one place of a slot: one for every chunk of the largest fragment.
constexpr std::int64_t chunk_buffers_per_place(const Plan& plan) {
    return detail::ceil_div(plan.slot_size.count, plan.chunk_size.count);
}

/// About what a connection of engine ucx takes of a rank's memory: a queue of 256 sends of a queue pair, or
/// the segments that UCX keeps for a socket.
inline constexpr std::int64_t queue_pair_memory_bytes = 32 * 1024;

/// Of a rank's connections to its peers, but for the first to each.
constexpr std::int64_t connection_memory_bytes(std::uint32_t queue_pairs, std::uint32_t peers) {
    return (std::int64_t{queue_pairs} - 1) * peers * queue_pair_memory_bytes;
}

/// Bytes of chunk buffers on a producer rank; saturates instead of overflowing.
constexpr std::int64_t producer_memory_bytes(const Plan& plan) {
    const std::int64_t buffers =
        detail::saturating_product(chunk_buffers_per_stream(plan), std::int64_t{plan.streams});
    return detail::saturating_product(buffers, chunk_stride_bytes(plan));
}

/// Bytes of chunk buffers on a consumer rank; saturates instead of overflowing.
constexpr std::int64_t consumer_memory_bytes(const Plan& plan) {
    if (plan.lossy()) {
        return datagrams_at_a_time * chunk_stride_bytes(plan);
    }
    const std::int64_t buffers =
        detail::saturating_product(chunk_buffers_per_place(plan), std::int64_t{plan.places()});
    return detail::saturating_product(buffers, chunk_stride_bytes(plan));
}

}  // namespace weir::core
