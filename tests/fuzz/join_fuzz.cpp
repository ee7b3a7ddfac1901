// What strangers may send to rank 0 of a job that starts without MPI, cut in any way: nobody gets in without
// the token, and what is kept of them is bounded. And the texts of the protocol, which those who are in send.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz_input.hpp"
#include "job/join_connection.hpp"
#include "job/join_listener.hpp"

using namespace weir;
using job::FrameKind;

namespace {

constexpr const char* token = "the token";
constexpr std::size_t connections_max = 200;

enum class Act : std::uint8_t { bytes, frame, hello, proof, time, connect, close, look };
constexpr std::uint32_t acts = 8;

std::string take_text(fuzz::FuzzInput& input) {
    std::string text(input.take<std::uint16_t>() % 6000, '\0');
    for (char& letter : text) {
        letter = input.take<char>();
    }
    return text;
}

/// Rank 0, and all who have connected.
class Strangers {
  public:
    Strangers() : listener_({"127.0.0.1", "0"}, token) {}
    Strangers(const Strangers&) = delete;
    Strangers& operator=(const Strangers&) = delete;

    void act(fuzz::FuzzInput& input) {
        const auto what = static_cast<Act>(input.below(acts));
        const auto which = input.take<std::uint8_t>();
        if (what == Act::connect || others_.empty()) {
            connect();
        }
        Other& other = others_[which % others_.size()];
        switch (what) {
            case Act::bytes:
                put(other, take_text(input));
                break;
            case Act::frame: {
                const auto kind = static_cast<FrameKind>(input.take<std::uint8_t>() % 32);
                other.connection->send(kind, take_text(input), input.take<std::uint32_t>());
                break;
            }
            case Act::hello:
                other.hello = encode(job::Hello{.nonce = std::string(job::nonce_bytes, 'n'),
                                                .version = "1",
                                                .host = "fn01",
                                                .rank = input.take<std::int32_t>()});
                other.connection->send(FrameKind::hello, other.hello);
                break;
            case Act::proof:
                prove(other);
                break;
            case Act::time:
                now_ns_ += input.take<std::uint32_t>() * std::int64_t{10};
                break;
            case Act::close:
                ::shutdown(other.connection->descriptor(), SHUT_RDWR);
                break;
            case Act::connect:
            case Act::look:
                break;
        }
        listener_.look(now_ns_);
        let_in();
    }

  private:
    struct Other {
        std::unique_ptr<job::JoinConnection> connection;
        std::string hello = {};
    };

    void connect() {
        int sockets[2] = {};
        if (others_.size() >= connections_max ||
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets) != 0) {
            return;
        }
        listener_.take_over(sockets[0], now_ns_);
        others_.push_back({std::make_unique<job::JoinConnection>(sockets[1])});
        others_.back().connection->trust();
    }

    static void put(const Other& other, const std::string& bytes) {
        [[maybe_unused]] const auto count =
            ::send(other.connection->descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    /// What a process that has the token sends, if it was asked.
    void prove(Other& other) {
        other.connection->pump();
        if (const auto challenge = other.connection->take(FrameKind::challenge)) {
            other.connection->send(FrameKind::proof,
                                   join_proof(token, job::JoinSide::newcomer, other.hello, challenge->bytes));
            proofs_ += 1;
        }
    }

    void let_in() {
        while (auto newcomer = listener_.next()) {
            newcomers_ += 1;
            fuzz::demand(newcomers_ <= proofs_, "somebody got in without the token");
            listener_.refuse(std::move(newcomer->connection), "all ranks are there", now_ns_);
        }
    }

    job::JoinListener listener_;
    std::vector<Other> others_;
    std::int64_t now_ns_ = 0;
    int proofs_ = 0;
    int newcomers_ = 0;
};

void read_texts(std::string_view text) {
    if (const auto hello = job::decode_hello(text)) {
        const auto again = job::decode_hello(encode(*hello));
        fuzz::demand(again && again->rank == hello->rank && again->host == hello->host,
                     "a hello that reads as another than was written");
    }
    if (const auto welcome = job::decode_welcome(text)) {
        fuzz::demand(job::decode_welcome(encode(*welcome)).has_value(),
                     "a welcome that cannot be read again");
    }
    if (const auto peer = job::decode_returned_peer(text)) {
        const auto again = job::decode_returned_peer(encode(*peer));
        fuzz::demand(again && again->pid == peer->pid && again->address.life == peer->address.life,
                     "a peer that reads as another than was written");
    }
    for (const char letter : job::shown(text)) {
        fuzz::demand(letter >= ' ' && letter <= '~', "a text that a terminal obeys");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::FuzzInput input(data, size);
    if (input.below(4) == 0) {
        const auto bytes = input.take_rest();
        read_texts({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return 0;
    }
    Strangers strangers;
    constexpr int acts_max = 300;
    for (int act = 0; act < acts_max && !input.empty(); ++act) {
        strangers.act(input);
    }
    return 0;
}
