#include "job/join_connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "host/common_clock.hpp"

namespace weir::job {

namespace {

/// In front of every frame. Plain memory: both sides run the same build, which hello and welcome check.
struct Head {
    static constexpr std::uint32_t expected_magic = 0x324a5257;  // "WRJ2"
    std::uint32_t magic = expected_magic;
    std::uint16_t kind = 0;
    std::uint16_t reserved = 0;
    std::uint32_t number = 0;
    std::uint32_t bytes = 0;
};
static_assert(sizeof(Head) == 16);

}  // namespace

JoinConnection::JoinConnection(int socket) : socket_(socket) {
    const int on = 1;
    static_cast<void>(setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

JoinConnection::~JoinConnection() {
    ::close(socket_);
}

void JoinConnection::send(FrameKind kind, std::string_view bytes, std::uint32_t number) {
    if (closed_) {
        return;
    }
    const Head head{.kind = static_cast<std::uint16_t>(kind),
                    .number = number,
                    .bytes = static_cast<std::uint32_t>(bytes.size())};
    const std::lock_guard lock(mutex_);
    outgoing_.append(reinterpret_cast<const char*>(&head), sizeof head);
    outgoing_.append(bytes);
    write();
}

std::string JoinConnection::bytes_of(FrameKind kind) {
    const Head head{.kind = static_cast<std::uint16_t>(kind)};
    return {reinterpret_cast<const char*>(&head), sizeof head};
}

void JoinConnection::pulse() {
    const Head head{.kind = static_cast<std::uint16_t>(FrameKind::pulse)};
    const std::lock_guard lock(mutex_);
    if (closed_ || !outgoing_.empty()) {
        return;
    }
    const ssize_t count = ::send(socket_, &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {  // else the thread of the connection will find out why
        outgoing_.assign(reinterpret_cast<const char*>(&head) + count,
                         sizeof head - static_cast<std::size_t>(count));
    }
}

bool JoinConnection::flushed() const {
    const std::lock_guard lock(mutex_);
    return closed_ || outgoing_.empty();
}

void JoinConnection::pump() {
    if (!closed_) {
        const std::lock_guard lock(mutex_);
        write();
    }
    split();  // what waited for a frame to be taken, or for trust; also after the other side has closed
    if (!closed_) {
        read();
    }
}

void JoinConnection::finish_sending() const {
    static_cast<void>(::shutdown(socket_, SHUT_WR));
}

void JoinConnection::close(std::string reason) {
    closed_ = true;
    reason_ = std::move(reason);
}

void JoinConnection::write() {
    std::size_t written = 0;
    while (written < outgoing_.size()) {
        const ssize_t count = ::send(socket_, outgoing_.data() + written, outgoing_.size() - written,
                                     MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
                close(std::system_category().message(errno));
            }
            break;
        }
        written += static_cast<std::size_t>(count);
    }
    outgoing_.erase(0, written);
}

void JoinConnection::read() {
    std::array<char, 65536> block;
    constexpr int blocks_max = 64;  // whoever sends without end does not hold up the others
    for (int blocks = 0; blocks < blocks_max && !closed_; ++blocks) {
        const std::size_t room = trusted_ ? block.size() : stranger_limit - received_;
        if (room == 0) {
            return;
        }
        const ssize_t count = ::recv(socket_, block.data(), std::min(room, block.size()), MSG_DONTWAIT);
        if (count > 0) {
            if (heard_ns_) {
                heard_ns_ = host::monotonic_ns();
            }
            received_ += trusted_ ? 0 : static_cast<std::size_t>(count);
            incoming_.append(block.data(), static_cast<std::size_t>(count));
            split();
            continue;
        }
        if (count == 0) {
            close({});
        } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            close(std::system_category().message(errno));
        }
        return;
    }
}

void JoinConnection::split() {
    std::size_t begin = 0;
    Head head;
    while (incoming_.size() - begin >= sizeof head && (trusted_ || frames_.empty())) {
        std::memcpy(&head, incoming_.data() + begin, sizeof head);
        if (head.magic != Head::expected_magic || head.bytes > (trusted_ ? frame_limit : stranger_limit)) {
            close("it sent something that weir does not send");
            return;
        }
        if (incoming_.size() - begin - sizeof head < head.bytes) {
            break;
        }
        if (static_cast<FrameKind>(head.kind) != FrameKind::pulse) {
            frames_.push_back({.kind = static_cast<FrameKind>(head.kind),
                               .number = head.number,
                               .bytes = incoming_.substr(begin + sizeof head, head.bytes)});
        }
        begin += sizeof head + head.bytes;
    }
    incoming_.erase(0, begin);
}

bool JoinConnection::has(FrameKind kind) const {
    return std::any_of(frames_.begin(), frames_.end(),
                       [kind](const Frame& frame) { return frame.kind == kind; });
}

std::optional<Frame> JoinConnection::take(FrameKind kind) {
    const auto found = std::find_if(frames_.begin(), frames_.end(),
                                    [kind](const Frame& frame) { return frame.kind == kind; });
    if (found == frames_.end()) {
        return std::nullopt;
    }
    Frame frame = std::move(*found);
    frames_.erase(found);
    return frame;
}

std::string pack_texts(std::span<const std::string> texts) {
    std::string packed;
    for (const std::string& text : texts) {
        const auto length = static_cast<std::uint32_t>(text.size());
        packed.append(reinterpret_cast<const char*>(&length), sizeof length);
        packed += text;
    }
    return packed;
}

std::optional<std::vector<std::string>> unpack_texts(std::string_view packed) {
    std::vector<std::string> texts;
    std::uint32_t length = 0;
    while (!packed.empty()) {
        if (packed.size() < sizeof length) {
            return std::nullopt;
        }
        std::memcpy(&length, packed.data(), sizeof length);
        packed.remove_prefix(sizeof length);
        if (packed.size() < length) {
            return std::nullopt;
        }
        texts.emplace_back(packed.substr(0, length));
        packed.remove_prefix(length);
    }
    return texts;
}

}  // namespace weir::job
