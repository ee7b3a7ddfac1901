// Whether a person watches standard output on a terminal that can show colours. isatty() alone does not show
// this: mpirun gives its ranks pseudo-terminals and passes on what they print, so mpirun's own output is
// examined.
#pragma once

namespace weir::host {

/// False also with NO_COLOR set (https://no-color.org) or TERM=dumb, and where it cannot be found out.
bool colours_wanted();

}  // namespace weir::host
