// The kernel's end of datagrams, over loopback: what is taken arrives, what does not fit is counted, and an
// end without a socket is reported.
#include "transport/datagram/datagram_socket.hpp"

#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "catch.hpp"

using namespace weir;
using transport::DatagramSocket;
using transport::Endpoint;

namespace {

constexpr std::uint32_t here = INADDR_LOOPBACK;

std::vector<std::byte> bytes_of_size(std::size_t size, int value) {
    return std::vector<std::byte>(size, std::byte(value));
}

/// Waits for a datagram; nothing came within 5 s: empty.
std::span<const DatagramSocket::Incoming> some_datagrams(DatagramSocket& socket) {
    for (int turn = 0; turn < 5000; ++turn) {
        const auto found = socket.receive();
        if (!found.empty()) {
            return found;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

}  // namespace

TEST_CASE("datagrams of all sizes arrive as they were sent, whether the kernel cuts them up or not") {
    DatagramSocket from({}, 0);
    DatagramSocket to({}, 65507);
    DatagramSocket other({}, 65507);
    const std::vector<std::size_t> sizes{18, 700, 700, 700, 300, 700, 700, 65507, 18, 18};
    std::vector<std::vector<std::byte>> contents;
    std::vector<DatagramSocket::Outgoing> out;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        contents.push_back(bytes_of_size(sizes[i], static_cast<int>(i)));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        out.push_back({{here, i == 6 ? other.port() : to.port()}, contents[i]});
    }
    const auto sent = from.send(out);
    REQUIRE(sent.taken == sizes.size());
    std::vector<std::vector<std::byte>> arrived;
    while (arrived.size() < sizes.size() - 1) {
        const auto found = some_datagrams(to);
        REQUIRE_FALSE(found.empty());
        for (const auto& datagram : found) {
            CHECK(datagram.from == Endpoint{here, from.port()});
            arrived.emplace_back(datagram.bytes.begin(), datagram.bytes.end());
        }
    }
    contents.erase(contents.begin() + 6);
    CHECK(arrived == contents);
    CHECK(some_datagrams(other).size() == 1);
    CHECK(to.memory().drops == 0);
}

TEST_CASE("what does not fit into the receive buffer is counted") {
    DatagramSocket from({}, 0);
    DatagramSocket to(core::Bytes{4096}, 1000);
    const auto content = bytes_of_size(1000, 1);
    const DatagramSocket::Outgoing one{{here, to.port()}, content};
    constexpr std::uint64_t sent = 200;
    for (std::uint64_t i = 0; i < sent; ++i) {
        while (from.send(std::span(&one, 1)).taken == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
    CHECK(to.memory().received_bytes > 0);
    CHECK(to.memory().receive_limit_bytes < 200000);
    std::uint64_t arrived = 0;
    for (auto found = some_datagrams(to); !found.empty(); found = to.receive()) {
        arrived += found.size();
    }
    CHECK(arrived > 0);
    CHECK(to.memory().drops == sent - arrived);
    CHECK(to.memory().drops > 0);
    CHECK(to.memory().received_bytes == 0);
}

TEST_CASE("a datagram that is too long comes cut") {
    DatagramSocket from({}, 0);
    DatagramSocket to({}, 100);
    const auto content = bytes_of_size(3000, 1);
    const DatagramSocket::Outgoing one{{here, to.port()}, content};
    CHECK(from.send(std::span(&one, 1)).taken == 1);
    const auto found = some_datagrams(to);
    REQUIRE(found.size() == 1);
    CHECK(found[0].bytes.size() > 100);
    CHECK(found[0].bytes.size() < 3000);
}

TEST_CASE("an end without a socket is reported with its address") {
    DatagramSocket from({}, 0);
    std::optional<DatagramSocket> gone(std::in_place, core::Bytes{}, std::size_t{0});
    const Endpoint nobody{here, gone->port()};
    gone.reset();
    const auto content = bytes_of_size(64, 1);
    const DatagramSocket::Outgoing one{nobody, content};
    DatagramSocket::SendOutcome sent;
    for (int turn = 0; turn < 1000 && sent.outcome != DatagramSocket::Outcome::unreachable; ++turn) {
        sent = from.send(std::span(&one, 1));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(sent.outcome == DatagramSocket::Outcome::unreachable);
    CHECK(sent.where == nobody);
    CHECK(sent.why == std::strerror(ECONNREFUSED));
}
