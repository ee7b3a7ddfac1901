// The sum of a page of payload: XXH3, with the widest instructions that are worth it on this processor.
// (Rejected: xxh_x86dispatch.h, which not all packages have. Debian 12's leaves the processor in a state in
// which what follows is four times as slow.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::transport {

/// XXH3_64bits() of these bytes: the same number on every processor.
std::uint64_t page_sum(std::span<const std::byte> bytes);

#ifdef WEIR_AVX2
/// The same; only where the processor has AVX2.
std::uint64_t page_sum_by_avx2(const void* bytes, std::size_t size);
#endif

}  // namespace weir::transport
