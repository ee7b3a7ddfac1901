// SIGINT and SIGTERM as a flag that the loop reads. The handler does nothing else: everything that has to be
// printed and written when a run is interrupted happens in the loop, with the whole program in a known state.
#pragma once

namespace weir::runtime {

/// Catches SIGINT, SIGTERM and SIGHUP from now on; SIGPIPE and SIGXFSZ are ignored: a reader of our
/// output that went away and a file that may not grow show as write errors.
void install_signal_handlers();

/// The first signal caught, or 0.
int caught_signal();

}  // namespace weir::runtime
