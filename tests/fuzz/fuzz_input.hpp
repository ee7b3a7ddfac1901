// The bytes of one input of a fuzzer, read as numbers. Beyond their end everything is 0, so that every input
// means something, however a fuzzer cut it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace weir::fuzz {

class FuzzInput {
  public:
    FuzzInput(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    [[nodiscard]] bool empty() const { return rest_.empty(); }

    template <typename T>
    T take() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        const std::size_t length = std::min(sizeof(T), rest_.size());
        if (length > 0) {
            std::memcpy(&value, rest_.data(), length);
        }
        rest_ = rest_.subspan(length);
        return value;
    }

    /// 0 to bound - 1.
    std::uint32_t below(std::uint32_t bound) { return take<std::uint8_t>() % bound; }

    std::span<const std::byte> take_rest() {
        const auto bytes = std::as_bytes(rest_);
        rest_ = {};
        return bytes;
    }

  private:
    std::span<const std::uint8_t> rest_;
};

/// Ends the process, so that the fuzzer keeps the input: `otherwise` has happened.
void demand(bool holds, const char* otherwise);

}  // namespace weir::fuzz

extern "C" {
int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
}
