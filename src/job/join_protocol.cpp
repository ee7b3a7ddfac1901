#include "job/join_protocol.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "files/checked_json.hpp"
#include "files/json_text.hpp"
#include "job/job.hpp"
#include "job/join_connection.hpp"

namespace weir::job {

namespace {

using files::json_text;
using files::parse_json;
using files::whole_number;
using Json = nlohmann::ordered_json;

}  // namespace

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
    const auto pid = number_in<std::int64_t>((*texts)[3]);
    const auto rank = number_in<int>((*texts)[5]);
    const auto ranks = number_in<int>((*texts)[6]);
    const auto returns = number_in<unsigned>((*texts)[7]);
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
    const auto rank = number_in<int>((*texts)[0]);
    const auto pid = number_in<std::int64_t>((*texts)[2]);
    const auto life = number_in<std::uint32_t>((*texts)[3]);
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
