#include "core/assertion.hpp"

#include <cstdlib>

namespace weir::core {

namespace {
AssertionHandler current_handler = nullptr;
}

void set_assertion_handler(AssertionHandler handler) noexcept {
    current_handler = handler;
}

void assertion_failed(const char* expression, const char* file, int line) {
    if (current_handler != nullptr) {
        current_handler(expression, file, line);
    }
    std::abort();
}

}  // namespace weir::core
