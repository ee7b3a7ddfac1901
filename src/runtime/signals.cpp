#include "runtime/signals.hpp"

#include <csignal>

namespace weir::runtime {

namespace {

volatile std::sig_atomic_t first_signal = 0;

void remember(int number) {
    if (first_signal == 0) {
        first_signal = number;
    }
}

}  // namespace

void install_signal_handlers() {
    struct sigaction action = {};
    action.sa_handler = remember;
    sigemptyset(&action.sa_mask);
    // SA_RESTART: a signal must not turn a log write into an error.
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

int caught_signal() {
    return first_signal;
}

}  // namespace weir::runtime
