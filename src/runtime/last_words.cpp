#include "runtime/last_words.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <utility>

#include "core/assertion.hpp"

namespace weir::runtime {

namespace {

/// Reachable from a signal handler; owned by the one LastWords.
std::atomic<const std::string*> words{nullptr};

void at_abort(int signal) {
    LastWords::say();
    std::signal(signal, SIG_DFL);
    static_cast<void>(raise(signal));
}

}  // namespace

LastWords::LastWords() {
    WEIR_ASSERT(words.load() == nullptr);
    std::signal(SIGABRT, at_abort);
}

LastWords::~LastWords() {
    words = nullptr;
    std::signal(SIGABRT, SIG_DFL);
}

void LastWords::prepare(std::string text) {
    words = nullptr;
    text_ = std::move(text);
    words = &text_;
}

void LastWords::say() {
    const std::string* text = words.exchange(nullptr);
    if (text == nullptr) {
        return;
    }
    const char* rest = text->data();
    std::size_t left = text->size();
    while (left > 0) {
        const ssize_t written = ::write(STDOUT_FILENO, rest, left);
        if (written <= 0) {
            return;
        }
        rest += written;
        left -= static_cast<std::size_t>(written);
    }
}

}  // namespace weir::runtime
