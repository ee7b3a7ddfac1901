#include "allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace {

std::uint64_t allocations = 0;

}  // namespace

std::uint64_t allocation_count() {
    return allocations;
}

// NOLINTBEGIN(cppcoreguidelines-no-malloc): this is what new is made of

void* operator new(std::size_t bytes) {
    ++allocations;
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}

// NOLINTEND(cppcoreguidelines-no-malloc)
