#include "runtime/last_words.hpp"

#include <fcntl.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "core/assertion.hpp"

namespace weir::runtime {

namespace {

/// What a signal handler may read. Points into the one LastWords.
struct Saying {
    const std::string* text;
    int descriptor;
    const std::string* path;
    const std::string* temporary;
    const std::string* content;
};
Saying saying;
std::atomic<const Saying*> words{nullptr};

/// MPI may have one of its own, which shows where the program was.
struct sigaction handler_before = {};

void at_abort(int signal) {
    LastWords::say();
    sigaction(signal, &handler_before, nullptr);
    static_cast<void>(raise(signal));
}

/// Only what a signal handler may call.
bool write_all(int descriptor, const std::string& text) {
    const char* rest = text.data();
    std::size_t left = text.size();
    while (left > 0) {
        const ssize_t written = ::write(descriptor, rest, left);
        if (written <= 0) {
            return false;
        }
        rest += written;
        left -= static_cast<std::size_t>(written);
    }
    return true;
}

}  // namespace

LastWords::LastWords() {
    WEIR_ASSERT(words.load() == nullptr);
    struct sigaction action = {};
    action.sa_handler = at_abort;
    sigemptyset(&action.sa_mask);
    sigaction(SIGABRT, &action, &handler_before);
}

LastWords::~LastWords() {
    words = nullptr;
    sigaction(SIGABRT, &handler_before, nullptr);
}

void LastWords::prepare(Words next) {
    words = nullptr;
    static_cast<Words&>(prepared_) = std::move(next);
    prepared_.temporary = prepared_.path + ".last";
    saying = {&prepared_.text, prepared_.descriptor, &prepared_.path, &prepared_.temporary,
              &prepared_.content};
    words = &saying;
}

void LastWords::say() {
    const Saying* now = words.exchange(nullptr);
    if (now == nullptr) {
        return;
    }
    static_cast<void>(write_all(now->descriptor, *now->text));
    if (now->path->empty()) {
        return;
    }
    const int file = ::open(now->temporary->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        return;
    }
    const bool whole = write_all(file, *now->content);
    if (::close(file) == 0 && whole) {
        static_cast<void>(std::rename(now->temporary->c_str(), now->path->c_str()));
    }
}

}  // namespace weir::runtime
