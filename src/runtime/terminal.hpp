// Whether a person watches standard output on a terminal that can show colours. isatty() alone does not tell:
// mpirun gives its ranks pseudo-terminals and passes on what they print, so the question is asked of mpirun's
// own output.
#pragma once

namespace weir::runtime {

/// False also with NO_COLOR set (https://no-color.org) or TERM=dumb, and where it cannot be found out.
bool colours_wanted();

}  // namespace weir::runtime
