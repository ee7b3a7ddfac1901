// How often this program has asked for memory with `new`. Linked in, it replaces the operators of the whole
// program.
#pragma once

#include <cstdint>

/// Since the start, of all threads together; only with one thread.
std::uint64_t allocation_count();
