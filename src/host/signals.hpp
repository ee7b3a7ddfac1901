// Signals that ask for the end as a flag that the loop reads. The handler does nothing else: everything that
// has to be printed and written when a run is interrupted happens in the loop, with the whole program in a
// known state.
#pragma once

#include <array>
#include <csignal>

namespace weir::host {

/// Those that ask for the end: of users, of launchers, and of batch systems, which announce the end of a
/// job's time with one that the user chooses (SLURM's --signal) or with SIGXCPU.
inline constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};

/// Catches ending_signals from now on; SIGPIPE and SIGXFSZ are ignored: a reader of our
/// output that went away and a file that may not grow show as write errors.
void install_signal_handlers();

/// From now on the first signal is written to `descriptor` the moment it comes, as a line "signal 15"; -1: to
/// none.
void tell_of_signals(int descriptor);

/// The first signal caught, or 0.
int caught_signal();

}  // namespace weir::host
