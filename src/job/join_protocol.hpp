// How a process joins a job that starts without MPI: how it describes itself, how both sides prove that they
// have the token, and what it receives.
//
//     newcomer  --hello(nonce)-->       rank 0
//     newcomer  <--challenge--          rank 0   a nonce
//     newcomer  --proof-->              rank 0   HMAC over hello and challenge with the token
//     newcomer  <--noted(proof)--       rank 0   the other side's
//     newcomer  <--welcome, ...--       rank 0
//
// The token is never sent. The newcomer proves first, so that a stranger gets nothing from rank 0 with which
// it could try tokens. What follows is neither encrypted nor signed: whoever can change packets on the way is
// not kept out.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace weir::job {

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
    std::string token;    ///< who cannot prove to have it is refused
    std::string version;  ///< of weir, with its commit
};

/// Options as on a command line: name and value.
using JoinOptions = std::vector<std::pair<std::string, std::string>>;

/// From a newcomer.
struct Hello {
    std::string nonce;  ///< bytes that were never used before
    std::string version = {};
    std::string host = {};
    std::int64_t pid = 0;
    std::string pids = {};  ///< RankLocation::pids()
    int rank = -1;          ///< as its launcher has numbered it; -1: any
    int ranks = -1;         ///< of its launcher; -1: there is none
    bool returns = false;   ///< was part of the run before
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
    std::string host = {};
    std::int64_t pid = 0;
    std::string pids = {};  ///< RankLocation::pids()
    transport::PeerAddress address = {};
};

std::string encode(const Hello& hello);
std::string encode(const Welcome& welcome);
// Nothing: what came is none.
std::optional<Hello> decode_hello(std::string_view text);
std::optional<Welcome> decode_welcome(std::string_view text);
std::string encode(const ReturnedPeer& peer);
std::optional<ReturnedPeer> decode_returned_peer(std::string_view text);

constexpr std::size_t nonce_bytes = 32;
/// Bytes that cannot be guessed, from the kernel. Throws std::system_error.
std::string new_nonce();

enum class JoinSide : std::uint8_t { newcomer, leader };
/// What only a process that has the token can compute from the two texts as they were sent.
std::string join_proof(std::string_view token, JoinSide side, std::string_view hello,
                       std::string_view challenge);
/// In a time that depends on their lengths only.
bool same_proof(std::string_view a, std::string_view b);

/// The whole number that the text is; nothing: it is none, or does not fit.
template <std::integral T>
std::optional<T> number_in(std::string_view text) {
    T number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// A text of the other side as it may be shown: cut, and without control characters for a terminal.
std::string shown(std::string_view text);

}  // namespace weir::job
