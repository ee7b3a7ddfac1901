// How a process joins a job that starts without MPI: what it says of itself, and what it is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace weir::runtime {

/// Environment: the token; and, of a process that was given up, its rank.
inline constexpr const char* join_token_variable = "WEIR_JOIN_TOKEN";
inline constexpr const char* join_again_variable = "WEIR_JOIN_AGAIN";

/// Where the first rank listens.
struct JoinAddress {
    std::string host;
    std::string port;

    [[nodiscard]] std::string text() const { return host + ":" + port; }
};

/// What all processes of a job without MPI must have in common.
struct JoinTerms {
    JoinAddress address;
    std::string token;    ///< who does not know it is refused
    std::string version;  ///< of weir, with its commit
};

/// Options as on a command line: name and value.
using JoinOptions = std::vector<std::pair<std::string, std::string>>;

/// From a newcomer.
struct Hello {
    std::string token;
    std::string version;
    std::string host;
    std::int64_t pid = 0;
    int rank = -1;         ///< as its launcher has numbered it; -1: any
    int ranks = -1;        ///< likewise
    bool returns = false;  ///< was part of the run before
};

/// To a newcomer.
struct Welcome {
    int rank = 0;
    int ranks = 0;
    JoinOptions options;  ///< of the first rank
    /// The run goes on already: this process takes the place of one that was lost so often.
    std::optional<std::uint32_t> life = {};
};

/// A process that has come back.
struct ReturnedPeer {
    int rank = -1;
    std::string host;
    std::int64_t pid = 0;
    transport::PeerAddress address;
};

std::string encode(const Hello& hello);
std::string encode(const Welcome& welcome);
// Nothing: what came is none.
std::optional<Hello> decode_hello(std::string_view text);
std::optional<Welcome> decode_welcome(std::string_view text);
std::string encode(const ReturnedPeer& peer);
std::optional<ReturnedPeer> decode_returned_peer(std::string_view text);

/// Whether two tokens are the same, in a time that says nothing about where they differ.
bool same_token(std::string_view a, std::string_view b);

}  // namespace weir::runtime
