// SIGINT and SIGTERM as a flag that the loop reads. The handler does nothing else: everything that has to be
// printed and written when a run is interrupted happens in the loop, with the whole program in a known state.
#pragma once

namespace weir::runtime {

/// Catches SIGINT, SIGTERM and SIGHUP from now on; SIGPIPE and SIGXFSZ are ignored: a reader of our
/// output that went away and a file that may not grow show as write errors.
void install_signal_handlers();

/// From now on the first signal is written to `descriptor` the moment it comes, as a line "signal 15"; -1: to
/// none.
void tell_of_signals(int descriptor);

/// The first signal caught, or 0.
int caught_signal();

}  // namespace weir::runtime
