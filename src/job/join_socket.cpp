#include "job/join_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "job/job.hpp"

namespace weir::job {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses addresses_of(const JoinAddress& address, bool to_listen) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = to_listen ? AI_PASSIVE : 0;
    addrinfo* found = nullptr;
    const int status = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
    if (status != 0) {
        throw JobError(fmt::format("--join: {}: {}", address.text(), gai_strerror(status)));
    }
    return {found, &freeaddrinfo};
}

std::string error_text(int number) {
    return std::system_category().message(number);
}

}  // namespace

int listen_at(const JoinAddress& address) {
    const Addresses addresses = addresses_of(address, true);
    std::string why;
    for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        const int socket = ::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (socket < 0) {
            why = error_text(errno);
            continue;
        }
        const int on = 1;
        static_cast<void>(setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
        if (bind(socket, one->ai_addr, one->ai_addrlen) == 0 && listen(socket, SOMAXCONN) == 0) {
            return socket;
        }
        why = error_text(errno);
        close(socket);
    }
    throw JobError(fmt::format(
        "--join: rank 0 cannot listen at {}: {}; name a host that rank 0 runs on, and a free port",
        address.text(), why));
}

int accept_one(int listening) {
    return accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int connect_to(const JoinAddress& address, core::Duration limit, std::string& why, bool& refused) {
    const Addresses addresses = addresses_of(address, false);
    for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        const int socket = ::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (socket < 0) {
            why = error_text(errno);
            continue;
        }
        int error = connect(socket, one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
        if (error == EINPROGRESS) {
            pollfd ready{.fd = socket, .events = POLLOUT, .revents = 0};
            socklen_t length = sizeof error;
            if (poll(&ready, 1, static_cast<int>(limit.ns / 1000000)) != 1) {
                error = ETIMEDOUT;
            } else {
                static_cast<void>(getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length));
            }
        }
        if (error == 0) {
            return socket;
        }
        why = error_text(error);
        refused = error == ECONNREFUSED;
        close(socket);
    }
    return -1;
}

}  // namespace weir::job
