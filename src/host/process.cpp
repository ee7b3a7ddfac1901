#include "host/process.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/resource.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace weir::host {

void close_descriptors_at_exec() {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
        const int descriptor = std::atoi(entry.path().filename().c_str());
        if (descriptor > STDERR_FILENO) {
            fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        }
    }
}

std::vector<std::string> listening_sockets() {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
        const int descriptor = std::atoi(entry.path().filename().c_str());
        sockaddr_storage storage{};
        auto* const address = reinterpret_cast<sockaddr*>(&storage);
        const auto of_socket = [descriptor](int option) {
            int value = -1;
            socklen_t size = sizeof value;
            return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
        };
        socklen_t length = sizeof storage;
        if (getsockname(descriptor, address, &length) != 0 ||
            (storage.ss_family != AF_INET && storage.ss_family != AF_INET6)) {
            continue;
        }
        std::array<char, 64> host{};
        std::array<char, 8> port{};
        if (getnameinfo(address, length, host.data(), host.size(), port.data(), port.size(),
                        NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
            continue;
        }
        const bool datagrams = of_socket(SO_TYPE) == SOCK_DGRAM && std::string_view(port.data()) != "0";
        length = sizeof storage;
        if (of_socket(SO_ACCEPTCONN) == 1 || (datagrams && getpeername(descriptor, address, &length) != 0)) {
            const bool brackets = storage.ss_family == AF_INET6;
            found.push_back(fmt::format("{} {}{}{}:{}", datagrams ? "udp" : "tcp", brackets ? "[" : "",
                                        host.data(), brackets ? "]" : "", port.data()));
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

void become(const std::string& program, const std::vector<std::string>& words) {
    std::fflush(nullptr);
    close_descriptors_at_exec();
    std::vector<std::string> texts = words;
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    execvp(program.c_str(), pointers.data());
}

void restart_weir(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"weir"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    become("/proc/self/exe", words);
}

std::uint64_t most_open_files() {
    rlimit limit{};
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0;
}

bool allow_open_files(std::uint64_t needed) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) {
        return true;
    }
    limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= needed;
}

namespace {

bool started_by_launcher() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (std::getenv(variable) != nullptr) {
            return true;
        }
    }
    return false;
}

/// Looks at the parent process: mpirun on its own host, a daemon elsewhere (whose output is no terminal).
bool launcher_writes_to_terminal() {
    std::array<char, 256> target{};
    const std::string link = fmt::format("/proc/{}/fd/1", getppid());
    const ssize_t length = readlink(link.c_str(), target.data(), target.size() - 1);
    const std::string_view name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

}  // namespace

std::optional<std::size_t> terminal_columns() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return std::nullopt;
    }
    constexpr std::size_t fewest = 60;
    constexpr std::size_t most = 200;
    return std::clamp<std::size_t>(size.ws_col, fewest, most);
}

bool colours_wanted() {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    if ((no_color != nullptr && *no_color != '\0') ||
        (terminal != nullptr && std::string_view(terminal) == "dumb")) {
        return false;
    }
    return started_by_launcher() ? launcher_writes_to_terminal() : isatty(STDOUT_FILENO) != 0;
}

}  // namespace weir::host
