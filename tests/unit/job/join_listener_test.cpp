// Strangers before rank 0 of a job that starts without MPI, by connections of the same process.
#include "job/join_listener.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace weir;
using job::FrameKind;
using job::JoinConnection;
using job::JoinListener;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

struct Door {
    /// The other side of a new connection.
    std::unique_ptr<JoinConnection> connect() {
        int sockets[2] = {};
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
        listener.take_over(sockets[0], now_ns);
        auto connection = std::make_unique<JoinConnection>(sockets[1]);
        connection->trust();
        return connection;
    }
    void look() { listener.look(now_ns); }

    std::int64_t now_ns = second_ns;
    JoinListener listener{{"127.0.0.1", "0"}, "the token"};
};

std::string hello() {
    return encode(job::Hello{.nonce = job::new_nonce(), .version = "1", .host = "fn01"});
}

std::string refusal_to(JoinConnection& connection) {
    connection.pump();
    const auto frame = connection.take(FrameKind::refusal);
    return frame ? frame->bytes : "";
}

}  // namespace

TEST_CASE("A proof is an HMAC-SHA-256 of the side, the hello and the challenge") {
    std::string hex;
    for (const char byte : join_proof("the token", job::JoinSide::newcomer, "hello", "challenge")) {
        hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    // By Python's hmac and struct, on a processor that stores the lowest byte first.
    CHECK(hex == "6cf5a0699bf1a769a90326194ec748605280ea68d017b7238687dec8b79f862d");
    CHECK(job::same_proof(hex, hex));
    CHECK_FALSE(job::same_proof(hex, hex.substr(1)));
    CHECK_FALSE(job::same_proof("abc", "abd"));
    CHECK(job::new_nonce().size() == job::nonce_bytes);
    CHECK(job::new_nonce() != job::new_nonce());
}

TEST_CASE("Who proves to have the token gets in, and is proven that the other side has it") {
    Door door;
    const auto newcomer = door.connect();
    const std::string mine = hello();
    newcomer->send(FrameKind::hello, mine);
    door.look();
    newcomer->pump();
    const auto challenge = newcomer->take(FrameKind::challenge);
    REQUIRE(challenge);
    CHECK_FALSE(door.listener.next());
    newcomer->send(FrameKind::proof,
                   join_proof("the token", job::JoinSide::newcomer, mine, challenge->bytes));
    door.look();
    newcomer->pump();
    const auto noted = newcomer->take(FrameKind::noted);
    REQUIRE(noted);
    CHECK(noted->bytes == join_proof("the token", job::JoinSide::leader, mine, challenge->bytes));
    auto let_in = door.listener.next();
    REQUIRE(let_in);
    CHECK(let_in->hello.host == "fn01");
    CHECK_FALSE(door.listener.next());
    // It is no stranger any more.
    newcomer->send(FrameKind::texts, std::string(100'000, 'x'));
    let_in->connection->pump();
    CHECK(let_in->connection->take(FrameKind::texts)->bytes.size() == 100'000);
}

TEST_CASE("A wrong proof, and one copied from elsewhere, are refused, and the connection is closed") {
    Door door;
    const auto newcomer = door.connect();
    const std::string mine = hello();
    const bool replayed = GENERATE(false, true);
    newcomer->send(FrameKind::hello, mine);
    door.look();
    newcomer->pump();
    const auto challenge = newcomer->take(FrameKind::challenge);
    REQUIRE(challenge);
    newcomer->send(FrameKind::proof,
                   replayed ? join_proof("the token", job::JoinSide::newcomer, mine, "an older challenge")
                            : join_proof("a token", job::JoinSide::newcomer, mine, challenge->bytes));
    door.look();
    CHECK(refusal_to(*newcomer).starts_with("the token is not that of rank 0"));
    CHECK_FALSE(door.listener.next());
    door.look();
    newcomer->pump();
    CHECK(newcomer->closed());  // nothing more comes
    door.now_ns += 2 * second_ns;
    door.look();
    newcomer->send(FrameKind::hello, mine);
    door.look();
    newcomer->pump();
    CHECK_FALSE(newcomer->take(FrameKind::challenge));
}

TEST_CASE("Strangers are closed: at a wrong frame, at too many bytes, after some seconds") {
    Door door;
    const auto silent = door.connect();
    const auto wrong = door.connect();
    const auto no_hello = door.connect();
    const auto flood = door.connect();
    wrong->send(FrameKind::texts, std::string_view("no hello"));
    no_hello->send(FrameKind::hello, std::string_view("{}"));
    std::string pulses;
    while (pulses.size() < 2 * JoinConnection::stranger_limit) {
        pulses += JoinConnection::bytes_of(FrameKind::pulse);
    }
    REQUIRE(::send(flood->descriptor(), pulses.data(), pulses.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
            static_cast<ssize_t>(pulses.size()));
    door.look();
    CHECK(refusal_to(*no_hello) == "no greeting of weir");
    wrong->pump();
    CHECK(wrong->closed());
    flood->pump();
    CHECK(flood->closed());
    silent->pump();
    CHECK_FALSE(silent->closed());
    door.now_ns += 11 * second_ns;
    door.look();
    silent->pump();
    CHECK(silent->closed());
    CHECK_FALSE(door.listener.next());
}
