// The message when an internal invariant is broken.
#pragma once

namespace weir::cli {

/// Broken invariants are reported on stderr from now on.
void report_assertions();

}  // namespace weir::cli
