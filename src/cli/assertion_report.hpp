// What is said when an internal invariant is broken.
#pragma once

#include <cstdint>
#include <optional>

namespace weir::cli {

/// Broken invariants are reported on stderr from now on.
void report_assertions();

/// This thread explores this scenario: a broken invariant names it. nullopt: none.
void exploring(std::optional<std::uint64_t> seed);

}  // namespace weir::cli
