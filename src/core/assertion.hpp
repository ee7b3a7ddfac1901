// Assertions on internal invariants. They stay on in every build: a benchmark that goes on after its own
// bookkeeping broke would print wrong numbers. Data from outside never ends here: it is
// checked and refused with a message.
#pragma once

namespace weir::core {

/// Called when an invariant is broken; does not return. `expression` and `file` live forever (literals).
using AssertionHandler = void (*)(const char* expression, const char* file, int line);

/// Installs the handler that reports a broken invariant before the process aborts (nullptr: abort silently).
/// The core itself does no output.
void set_assertion_handler(AssertionHandler handler) noexcept;

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace weir::core

#define WEIR_ASSERT(expression)                           \
    (static_cast<bool>(expression) ? static_cast<void>(0) \
                                   : ::weir::core::assertion_failed(#expression, __FILE__, __LINE__))

/// Where no invariant lets the program come. `text`, a literal: what would be wrong.
#define WEIR_UNREACHABLE(text) ::weir::core::assertion_failed(text, __FILE__, __LINE__)
