#include "host/abort_message.hpp"

#include <fcntl.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "core/assertion.hpp"

namespace weir::host {

namespace {

/// What a signal handler may read: points into the one AbortMessage.
struct Prepared {
    const AbortMessage::Content* content;
    const std::string* temporary_path;
};
Prepared prepared;
std::atomic<const Prepared*> prepared_message{nullptr};

/// MPI may have one of its own, which shows where the program was.
struct sigaction handler_before = {};

void at_abort(int signal) {
    AbortMessage::write_now();
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

AbortMessage::AbortMessage() {
    WEIR_ASSERT(prepared_message.load() == nullptr);
    struct sigaction action = {};
    action.sa_handler = at_abort;
    sigemptyset(&action.sa_mask);
    sigaction(SIGABRT, &action, &handler_before);
}

AbortMessage::~AbortMessage() {
    prepared_message = nullptr;
    sigaction(SIGABRT, &handler_before, nullptr);
}

void AbortMessage::set(Content content) {
    prepared_message = nullptr;
    content_ = std::move(content);
    temporary_path_ = content_.path + ".last";
    prepared = {&content_, &temporary_path_};
    prepared_message = &prepared;
}

void AbortMessage::write_now() {
    const Prepared* now = prepared_message.exchange(nullptr);
    if (now == nullptr) {
        return;
    }
    static_cast<void>(write_all(now->content->descriptor, now->content->text));
    static_cast<void>(write_all(now->content->connection, now->content->last_words));
    if (now->content->path.empty()) {
        return;
    }
    const int file = ::open(now->temporary_path->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        return;
    }
    const bool whole = write_all(file, now->content->file);
    if (::close(file) == 0 && whole) {
        static_cast<void>(std::rename(now->temporary_path->c_str(), now->content->path.c_str()));
    }
}

}  // namespace weir::host
