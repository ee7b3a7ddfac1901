#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace weir::cli {

ProgressLine::ProgressLine(bool wanted, const char* command)
    : wanted_(wanted), command_(command), terminal_(isatty(STDERR_FILENO) != 0) {}

std::optional<double> ProgressLine::due() {
    const Clock::time_point now = Clock::now();
    if (!wanted_ || now - shown_ < std::chrono::milliseconds(terminal_ ? 500 : 10000)) {
        return std::nullopt;
    }
    shown_ = now;
    return std::chrono::duration<double>(now - start_).count();
}

void ProgressLine::show(const std::string& text) {
    if (!wanted_) {
        return;
    }
    fmt::print(stderr, "{}{}: {}{}", terminal_ ? "\r" : "", command_, text, terminal_ ? "\x1b[K" : "\n");
    std::fflush(stderr);
    written_ = terminal_;
}

void ProgressLine::clear() {
    if (written_) {
        fmt::print(stderr, "\r\x1b[K");
        std::fflush(stderr);
        written_ = false;
    }
}

}  // namespace weir::cli
