#include "job/join_connection.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "files/formatting.hpp"
#include "files/json.hpp"
#include "host/common_clock.hpp"
#include "job/job.hpp"

namespace weir::job {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;
using files::json_text;
using files::parse_json;
using files::whole_number;
using Json = nlohmann::ordered_json;

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

std::string address_of_this_host_alone(const JoinAddress& address) {
    std::string found;
    const Addresses addresses = addresses_of(address, false);
    for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        std::array<char, 64> text{};
        if (getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0,
                        NI_NUMERICHOST) != 0) {
            continue;
        }
        found = text.data();
        if (!found.starts_with("127.") && found != "::1" && found != "0.0.0.0" && found != "::") {
            return {};
        }
    }
    return found;
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

std::string encode(const Hello& hello) {
    // Not JSON: it is read before anything is known of who sent it, and a nonce is bytes of any value.
    return pack_texts(std::vector<std::string>{
        hello.nonce, hello.version, hello.host, std::to_string(hello.pid), hello.pids,
        std::to_string(hello.rank), std::to_string(hello.ranks), hello.returns ? "1" : "0"});
}

std::string encode(const Welcome& welcome) {
    return json_text({{"rank", welcome.rank},
                      {"ranks", welcome.ranks},
                      {"options", welcome.options},
                      {"life", welcome.life ? Json(*welcome.life) : Json()}});
}

std::optional<Hello> decode_hello(std::string_view text) {
    constexpr std::size_t host_letters_max = 255;
    auto texts = unpack_texts(text);
    if (!texts || texts->size() != 8 || (*texts)[0].size() != nonce_bytes ||
        (*texts)[2].size() > host_letters_max) {
        return std::nullopt;
    }
    const auto pid = files::number_in<std::int64_t>((*texts)[3]);
    const auto rank = files::number_in<int>((*texts)[5]);
    const auto ranks = files::number_in<int>((*texts)[6]);
    const auto returns = files::number_in<unsigned>((*texts)[7]);
    if (!pid || !rank || !ranks || !returns || *returns > 1) {
        return std::nullopt;
    }
    return Hello{.nonce = std::move((*texts)[0]),
                 .version = std::move((*texts)[1]),
                 .host = std::move((*texts)[2]),
                 .pid = *pid,
                 .pids = std::move((*texts)[4]),
                 .rank = *rank,
                 .ranks = *ranks,
                 .returns = *returns == 1};
}

std::optional<Welcome> decode_welcome(std::string_view text) {
    try {
        const Json json = parse_json(text);
        Welcome welcome{.rank = whole_number<int>(json.at("rank")),
                        .ranks = whole_number<int>(json.at("ranks")),
                        .options = json.at("options").get<JoinOptions>()};
        if (!json.at("life").is_null()) {
            welcome.life = whole_number<std::uint32_t>(json.at("life"));
        }
        return welcome;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

std::string encode(const ReturnedPeer& peer) {
    // Addresses are bytes of any value, so this is not JSON.
    return pack_texts(std::vector<std::string>{std::to_string(peer.rank), peer.host, std::to_string(peer.pid),
                                               std::to_string(peer.address.life), peer.address.control,
                                               peer.address.data, peer.pids});
}

std::optional<ReturnedPeer> decode_returned_peer(std::string_view text) {
    const auto texts = unpack_texts(text);
    if (!texts || texts->size() != 7) {
        return std::nullopt;
    }
    const auto rank = files::number_in<int>((*texts)[0]);
    const auto pid = files::number_in<std::int64_t>((*texts)[2]);
    const auto life = files::number_in<std::uint32_t>((*texts)[3]);
    if (!rank || !pid || !life) {
        return std::nullopt;
    }
    ReturnedPeer peer{.rank = *rank, .host = {}, .pid = *pid, .pids = (*texts)[6], .address = {}};
    peer.address.life = *life;
    peer.host = (*texts)[1];
    peer.address.control = (*texts)[4];
    peer.address.data = (*texts)[5];
    return peer;
}

std::string new_nonce() {
    std::string nonce(nonce_bytes, '\0');
    if (getentropy(nonce.data(), nonce.size()) != 0) {
        throw std::system_error(errno, std::system_category(), "getentropy");
    }
    return nonce;
}

std::string join_proof(std::string_view token, JoinSide side, std::string_view hello,
                       std::string_view challenge) {
    const std::string text = pack_texts(
        std::vector<std::string>{side == JoinSide::newcomer ? "weir --join: newcomer" : "weir --join: rank 0",
                                 std::string(hello), std::string(challenge)});
    std::array<unsigned char, EVP_MAX_MD_SIZE> proof{};
    unsigned bytes = 0;
    if (HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), proof.data(),
             &bytes) == nullptr) {
        throw JobError("--join: libcrypto computes no HMAC-SHA-256");
    }
    return {proof.begin(), proof.begin() + bytes};
}

bool same_proof(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string shown(std::string_view text) {
    constexpr std::size_t letters_max = 300;
    std::string plain(text.substr(0, letters_max));
    std::replace_if(
        plain.begin(), plain.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');
    return plain;
}

}  // namespace weir::job
