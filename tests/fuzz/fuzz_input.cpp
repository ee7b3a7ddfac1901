#include "fuzz_input.hpp"

#include <cstdio>
#include <cstdlib>

#include "core/assertion.hpp"

namespace weir::fuzz {

void demand(bool holds, const char* otherwise) {
    if (!holds) {
        std::fprintf(stderr, "what must not be: %s\n", otherwise);
        std::abort();
    }
}

}  // namespace weir::fuzz

int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
    weir::core::set_assertion_handler([](const char* expression, const char* file, int line) {
        std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
    });
    return 0;
}
