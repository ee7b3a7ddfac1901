#include "job/join_connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include "catch.hpp"

#include "core/random.hpp"

using namespace weir;
using job::FrameKind;
using job::JoinConnection;

namespace {

/// A connection, and the bare socket at its other side.
struct Pair {
    Pair() {
        int sockets[2] = {};
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
        here.emplace(sockets[0]);
        other = sockets[1];
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    ~Pair() {
        if (other >= 0) {
            ::close(other);
        }
    }
    void put(std::string_view bytes) const {
        REQUIRE(::write(other, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
    [[nodiscard]] std::string all(std::size_t limit = 1 << 20) const {
        std::string bytes(limit, '\0');
        const ssize_t count = ::read(other, bytes.data(), bytes.size());
        bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return bytes;
    }
    std::optional<JoinConnection> here;
    int other = -1;
};

}  // namespace

TEST_CASE("Signs of life are noted, and are no frames") {
    Pair from;
    Pair to;
    from.here->pulse();
    to.put(from.all());
    to.here->pump();
    CHECK_FALSE(to.here->silent_since_ns());  // nobody expects any
    to.here->expect_pulses(1);
    CHECK(to.here->silent_since_ns() == 1);  // also of a process that stops before its first one
    from.here->pulse();
    to.put(from.all());
    to.here->pump();
    const std::int64_t heard_ns = *to.here->silent_since_ns();
    CHECK(heard_ns > 1);
    CHECK_FALSE(to.here->has(FrameKind::pulse));
    CHECK_FALSE(to.here->closed());
    to.here->pump();  // nothing has come
    CHECK(to.here->silent_since_ns() == heard_ns);
    to.here->expect_pulses(heard_ns + 5);
    CHECK(to.here->silent_since_ns() == heard_ns + 5);
}

TEST_CASE("A thread's signs of life do not cut the frames of another one") {
    Pair from;
    Pair to;
    to.here->trust();
    std::atomic<bool> over = false;
    std::thread pulses([&] {
        while (!over) {
            from.here->pulse();
        }
    });
    int received = 0;
    // A block that a socket takes at once, however many pulses there are. False: nothing was there.
    const auto forward = [&] {
        const std::string block = from.all(1 << 16);
        to.put(block);
        to.here->pump();
        while (const auto frame = to.here->take(FrameKind::texts)) {
            CHECK(frame->bytes.size() == frame->number % 700);
            ++received;
        }
        return !block.empty();
    };
    for (std::uint32_t number = 0; number < 2000; ++number) {
        from.here->send(FrameKind::texts, std::string(number % 700, 'x'), number);
        forward();
    }
    over = true;
    pulses.join();
    do {
        from.here->pump();
    } while (forward());
    CHECK(received == 2000);
    CHECK_FALSE(to.here->closed());
}

TEST_CASE("Frames arrive in the order of their kind, however their bytes are cut") {
    Pair from;
    from.here->send(FrameKind::texts, std::string_view("one"), 1);
    from.here->send(FrameKind::notice, std::string_view{});
    from.here->send(FrameKind::texts, std::string(1000, 'x'), 2);
    const std::string bytes = from.all();
    core::Random random(1, 1);
    Pair to;
    to.here->trust();
    for (std::size_t begin = 0; begin < bytes.size();) {
        const std::size_t count = std::min<std::size_t>(1 + random.below(40), bytes.size() - begin);
        to.put(std::string_view(bytes).substr(begin, count));
        to.here->pump();
        begin += count;
    }
    CHECK(to.here->has(FrameKind::notice));
    const auto first = to.here->take(FrameKind::texts);
    const auto second = to.here->take(FrameKind::texts);
    REQUIRE((first && second));
    CHECK(first->bytes == "one");
    CHECK(first->number == 1);
    CHECK(second->bytes == std::string(1000, 'x'));
    CHECK_FALSE(to.here->take(FrameKind::texts));
    CHECK(to.here->take(FrameKind::notice)->bytes.empty());
    CHECK_FALSE(to.here->closed());
}

TEST_CASE("A stranger's bytes close the connection") {
    const auto closed_by = [](const std::string& bytes) {
        Pair pair;
        pair.put(bytes);
        pair.here->pump();
        return pair.here->closed();
    };
    CHECK(closed_by("GET / HTTP/1.0\r\n\r\n"));
    CHECK(closed_by(std::string(16, '\xff')));
    Pair large;
    large.here->send(FrameKind::texts, std::string(JoinConnection::stranger_limit + 1, 'x'));
    const std::string head = large.all().substr(0, 16);
    CHECK(closed_by(head));
    Pair trusted;
    trusted.here->trust();
    trusted.put(head);
    trusted.here->pump();
    CHECK_FALSE(trusted.here->closed());
}

TEST_CASE("Of a stranger one frame is kept at a time, and so many bytes in all") {
    Pair source;
    for (std::uint32_t number = 0; number < 100; ++number) {
        source.here->send(FrameKind::texts, std::string(100, 'x'), number);
    }
    const std::string frames = source.all();
    Pair pair;
    pair.put(frames);
    for (int i = 0; i < 10; ++i) {
        pair.here->pump();
    }
    CHECK(pair.here->strange());
    REQUIRE(pair.here->take(FrameKind::texts));
    CHECK_FALSE(pair.here->take(FrameKind::texts));
    pair.here->pump();
    REQUIRE(pair.here->take(FrameKind::texts));
    CHECK(pair.here->strange());  // more than a stranger may send has come
    CHECK(pair.all().empty());
    // All the rest comes when the other side is known.
    pair.here->trust();
    CHECK_FALSE(pair.here->strange());
    pair.here->pump();
    std::uint32_t next = 2;
    while (const auto frame = pair.here->take(FrameKind::texts)) {
        CHECK(frame->number == next++);
    }
    CHECK(next == 100);
}

TEST_CASE("What was sent before the other side closed is there when it is trusted") {
    // A rank that is refused after its proof: the refusal comes with what precedes it, and with the end.
    Pair source;
    source.here->send(FrameKind::noted, std::string_view("proof"));
    source.here->send(FrameKind::refusal, std::string_view("there is a rank 9 already"));
    Pair pair;
    pair.put(source.all());
    ::close(pair.other);
    pair.other = -1;
    pair.here->pump();
    REQUIRE(pair.here->take(FrameKind::noted));
    pair.here->trust();
    pair.here->pump();
    CHECK(pair.here->closed());
    REQUIRE(pair.here->take(FrameKind::refusal));
}

TEST_CASE("Signs of life of a stranger count like frames") {
    Pair source;
    std::string pulses;
    while (pulses.size() < 2 * JoinConnection::stranger_limit) {
        pulses += JoinConnection::bytes_of(FrameKind::pulse);
    }
    Pair pair;
    pair.put(pulses);
    pair.here->pump();
    CHECK(pair.here->strange());
    CHECK_FALSE(pair.here->closed());
}

TEST_CASE("The end of the other side shows after what it has sent") {
    Pair pair;
    Pair source;
    source.here->send(FrameKind::leave, std::string_view("3"));
    pair.put(source.all());
    ::close(pair.other);
    pair.other = -1;
    pair.here->pump();
    CHECK(pair.here->closed());
    CHECK(pair.here->take(FrameKind::leave)->bytes == "3");
    pair.here->send(FrameKind::notice, std::string_view("nobody gets it"));
    CHECK(pair.here->flushed());
}

TEST_CASE("Texts are packed and unpacked, and what is cut is refused") {
    const std::vector<std::string> texts{"", "a", std::string("b\0c", 3), std::string(1000, 'd')};
    const std::string packed = job::pack_texts(texts);
    CHECK(job::unpack_texts(packed) == texts);
    for (std::size_t length = 0; length < packed.size(); ++length) {
        const auto cut = job::unpack_texts(std::string_view(packed).substr(0, length));
        CHECK((!cut || cut->size() < texts.size()));
    }
}

TEST_CASE("Greetings are read back, and anything else is none") {
    const std::string nonce(job::nonce_bytes, '\xff');
    const job::Hello hello{.nonce = nonce,
                           .version = "1",
                           .host = "fn01",
                           .pid = 7,
                           .pids = "boot pid:[1]",
                           .rank = 3,
                           .ranks = -1};
    const auto read = job::decode_hello(job::encode(hello));
    REQUIRE(read);
    CHECK(read->nonce == nonce);
    CHECK(read->host == "fn01");
    CHECK(read->pid == 7);
    CHECK(read->pids == "boot pid:[1]");
    CHECK(read->rank == 3);
    for (const char* rank : {"4294967297", "1e3", "", " 1", "1 ", "99999999999999999999"}) {
        CHECK_FALSE(job::decode_hello(
            job::pack_texts(std::vector<std::string>{nonce, "1", "fn01", "7", "", rank, "-1", "0"})));
    }
    CHECK_FALSE(job::decode_hello(
        job::pack_texts(std::vector<std::string>{"short", "1", "fn01", "7", "", "3", "-1", "0"})));
    CHECK_FALSE(job::decode_hello(job::pack_texts(
        std::vector<std::string>{nonce, "1", std::string(300, 'h'), "7", "", "3", "-1", "0"})));
    const job::Welcome welcome{.rank = 2, .ranks = 5, .options = {{"rate", "1Gb/s"}, {"tag", "a=b"}}};
    CHECK(job::decode_welcome(job::encode(welcome))->options == welcome.options);
    for (const char* text :
         {"", "{", "[]", "{}", "null", R"({"token":1})", R"({"rank":"x","ranks":2,"options":[],"life":null})",
          R"({"rank":4294967297,"ranks":2,"options":[],"life":null})",
          R"({"rank":1e300,"ranks":2,"options":[],"life":null})",
          R"({"rank":1,"ranks":2,"options":[],"life":-1})"}) {
        CHECK_FALSE(job::decode_hello(text));
        CHECK_FALSE(job::decode_welcome(text));
    }
}

TEST_CASE("A proof is of one token, one side and two texts") {
    using job::JoinSide;
    const auto proof = job::join_proof("token", JoinSide::newcomer, "hello", "challenge");
    CHECK(proof == job::join_proof("token", JoinSide::newcomer, "hello", "challenge"));
    CHECK(proof != job::join_proof("tokem", JoinSide::newcomer, "hello", "challenge"));
    CHECK(proof != job::join_proof("token", JoinSide::leader, "hello", "challenge"));
    CHECK(proof != job::join_proof("token", JoinSide::newcomer, "helloc", "hallenge"));
    CHECK(proof != job::join_proof("token", JoinSide::newcomer, "hello", "another"));
}

TEST_CASE("A text of the other side is shown without control characters for a terminal") {
    CHECK(job::shown("rank 0\x1b[31m\n\xff") == "rank 0?[31m??");
    CHECK(job::shown(std::string(1000, 'x')).size() == 300);
}

TEST_CASE("How a process that came back is reached is read back, whatever its addresses are") {
    const job::ReturnedPeer peer{.rank = 3,
                                 .host = "fn01",
                                 .pid = 4711,
                                 .pids = "boot pid:[1]",
                                 .address = {.control = std::string("a\0\xff", 3), .data = {}, .life = 2}};
    const std::string text = job::encode(peer);
    const auto read = job::decode_returned_peer(text);
    REQUIRE(read);
    CHECK(read->rank == 3);
    CHECK(read->host == "fn01");
    CHECK(read->pid == 4711);
    CHECK(read->pids == "boot pid:[1]");
    CHECK(read->address.control == peer.address.control);
    CHECK(read->address.data.empty());
    CHECK(read->address.life == 2);
    for (std::size_t length = 0; length < text.size(); ++length) {
        static_cast<void>(job::decode_returned_peer(std::string_view(text).substr(0, length)));
    }
    CHECK_FALSE(job::decode_returned_peer(job::pack_texts(std::vector<std::string>(7, "x"))));
    const job::Welcome welcome{.rank = 1, .ranks = 2, .options = {}, .life = 7};
    CHECK(job::decode_welcome(job::encode(welcome))->life == 7U);
}
