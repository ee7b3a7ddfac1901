// What the system knows of this process.
#include "host/process.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "catch.hpp"

using namespace weir::host;

namespace {

/// A socket at some port of the loopback; the port is found out.
int bound_socket(int type, int& port) {
    const int socket = ::socket(AF_INET, type, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port = ntohs(address.sin_port);
    return socket;
}

bool listed(const char* kind, int port) {
    const auto all = listening_sockets();
    return std::count(all.begin(), all.end(), fmt::format("{} 127.0.0.1:{}", kind, port)) == 1;
}

}  // namespace

TEST_CASE("Sockets at which others can send to this process are listed, and no others") {
    int stream_port = 0;
    int datagram_port = 0;
    const int stream = bound_socket(SOCK_STREAM, stream_port);
    const int datagrams = bound_socket(SOCK_DGRAM, datagram_port);
    CHECK_FALSE(listed("tcp", stream_port));
    CHECK(listed("udp", datagram_port));
    REQUIRE(listen(stream, 1) == 0);
    CHECK(listed("tcp", stream_port));
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer.sin_port = htons(static_cast<std::uint16_t>(stream_port));
    REQUIRE(connect(datagrams, reinterpret_cast<sockaddr*>(&peer), sizeof peer) == 0);
    CHECK_FALSE(listed("udp", datagram_port));
    close(stream);
    close(datagrams);
    CHECK_FALSE(listed("tcp", stream_port));
}
