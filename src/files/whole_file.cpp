#include "files/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "files/formatting.hpp"

namespace weir::files {

namespace {

constexpr std::string_view temporary_end = ".tmp";

/// Between a file's name and the number of the process that writes it. Several ranks may write the same file
/// at the same time, for example when each takes the other for lost.
std::string writer_on_this_host() {
    char host[HOST_NAME_MAX + 1] = {};
    static_cast<void>(::gethostname(host, sizeof host - 1));
    return std::string(".") + host + "-";
}

std::string temporary_name(const std::string& path) {
    return path + writer_on_this_host() + std::to_string(::getpid()) + std::string(temporary_end);
}

/// The process that a temporary file of this host is of; 0 for any other file.
pid_t writer_of(std::string_view name, std::string_view writer) {
    const auto begin = name.rfind(writer);
    if (begin == std::string_view::npos || begin == 0 || !name.ends_with(temporary_end)) {
        return 0;
    }
    const std::string_view number =
        name.substr(begin + writer.size(), name.size() - begin - writer.size() - temporary_end.size());
    return number_in<pid_t>(number).value_or(0);
}

}  // namespace

WholeFile::WholeFile(std::string path)
    : path_(std::move(path)),
      temporary_(temporary_name(path_)),
      descriptor_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) {
        fail("create");
    }
}

WholeFile::~WholeFile() {
    if (descriptor_ >= 0) {
        static_cast<void>(::close(descriptor_));
        static_cast<void>(::unlink(temporary_.c_str()));
    }
}

void WholeFile::fail(const char* doing) {
    if (!error_) {
        error_ = IoError{path_, doing, errno};
    }
}

void WholeFile::write_block() {
    std::string_view text = block_;
    while (!text.empty() && !error_) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            fail("write");
        }
    }
    block_.clear();
}

MaybeIoError WholeFile::finish(OnDisk on_disk) {
    if (descriptor_ < 0) {
        return error_;
    }
    write_block();
    // EINVAL: a file system without fsync is no reason to fail.
    if (on_disk == OnDisk::synced && !error_ && ::fsync(descriptor_) != 0 && errno != EINVAL) {
        fail("sync");
    }
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
        fail("close");
    }
    if (!error_ && std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        fail("rename to");
    }
    if (error_) {
        static_cast<void>(::unlink(temporary_.c_str()));
    }
    return error_;
}

void remove_left_over(const std::string& directory, const std::function<bool(pid_t)>& exists) {
    const std::string writer = writer_on_this_host();
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const pid_t pid = writer_of(entry->path().filename().native(), writer);
        if (pid > 0 && !exists(pid)) {
            static_cast<void>(::unlink(entry->path().c_str()));
        }
    }
}

}  // namespace weir::files
