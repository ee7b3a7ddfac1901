#include "transport/page_sum.hpp"

#include <xxhash.h>

namespace weir::transport {

std::uint64_t page_sum(std::span<const std::byte> bytes) {
#ifdef WEIR_AVX2
    static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
    if (avx2) {
        return page_sum_by_avx2(bytes.data(), bytes.size());
    }
#endif
    return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace weir::transport
