#include "files/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

namespace weir::files {

namespace {

/// Several ranks may write the same file at the same time, for example when each takes the other for lost.
std::string temporary_name(const std::string& path) {
    char host[HOST_NAME_MAX + 1] = {};
    static_cast<void>(::gethostname(host, sizeof host - 1));
    return path + "." + host + "-" + std::to_string(::getpid()) + ".tmp";
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

}  // namespace weir::files
