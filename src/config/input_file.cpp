#include "config/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "config/usage_error.hpp"

namespace weir::config {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // of UTF-8

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

const char* kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFDIR:
            return "a directory";
        case S_IFIFO:
            return "a pipe";
        case S_IFCHR:
        case S_IFBLK:
            return "a device";
        case S_IFSOCK:
            return "a socket";
        default:
            return "a special file";
    }
}

[[noreturn]] void refuse(const std::string& why, std::string_view expected) {
    throw UsageError(UsageError::Reach::this_host, "{}; write {}", why, expected);
}

}  // namespace

std::string read_input_file(const std::string& name, std::size_t most_bytes, std::string_view expected) {
    const auto refuse_call = [&](int error) {
        refuse(fmt::format("'{}' cannot be read: {}", name, std::generic_category().message(error)),
               expected);
    };
    const auto check_kind = [&](const struct stat& status) {
        if (!S_ISREG(status.st_mode)) {
            refuse(fmt::format("'{}' is {}, not a file", name, kind_of(status.st_mode)), expected);
        }
    };
    struct stat status = {};
    // Looked at before it is opened, because to open a device can do something to it.
    if (::stat(name.c_str(), &status) != 0) {
        refuse_call(errno);
    }
    check_kind(status);
    const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
        refuse_call(errno);
    }
    check_kind(status);
    std::string content;
    std::array<char, 65536> block;
    while (content.size() <= most_bytes) {
        const ssize_t got = ::read(file.number(), block.data(), block.size());
        if (got == 0) {
            if (content.starts_with(byte_order_mark)) {
                content.erase(0, byte_order_mark.size());
            }
            return content;
        }
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            refuse_call(errno);
        }
        content.append(block.data(), static_cast<std::size_t>(got));
    }
    refuse(fmt::format("'{}' is larger than {} bytes", name, most_bytes), expected);
}

}  // namespace weir::config
