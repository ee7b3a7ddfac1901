#include "host/signals.hpp"

#include <unistd.h>

#include <cerrno>

namespace weir::host {

namespace {

volatile std::sig_atomic_t first_signal = 0;

/// File descriptor that is written to; -1: none.
volatile std::sig_atomic_t listener = -1;

/// Only what a signal handler may call.
void tell(int number) {
    const int error = errno;
    const char line[] = {'s',
                         'i',
                         'g',
                         'n',
                         'a',
                         'l',
                         ' ',
                         static_cast<char>('0' + number / 10),
                         static_cast<char>('0' + number % 10),
                         '\n'};
    [[maybe_unused]] const auto written = ::write(listener, line, sizeof line);
    errno = error;
}

void remember(int number) {
    if (first_signal == 0) {
        first_signal = number;
        if (listener >= 0) {
            tell(number);
        }
    }
}

}  // namespace

void install_signal_handlers() {
    struct sigaction action = {};
    action.sa_handler = remember;
    sigemptyset(&action.sa_mask);
    // SA_RESTART: a signal must not turn a log write into an error.
    action.sa_flags = SA_RESTART;
    for (const int number : ending_signals) {
        sigaction(number, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void tell_of_signals(int descriptor) {
    listener = descriptor;
    if (descriptor >= 0 && first_signal != 0) {
        tell(first_signal);
    }
}

int caught_signal() {
    return first_signal;
}

}  // namespace weir::host
