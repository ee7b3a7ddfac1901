#include "runtime/join_protocol.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "runtime/join_connection.hpp"
#include "telemetry/json_text.hpp"

namespace weir::runtime {

namespace {

using telemetry::json_text;
using telemetry::parse_json;
using Json = nlohmann::ordered_json;

}  // namespace

std::string encode(const Hello& hello) {
    return json_text({{"token", hello.token},
                      {"version", hello.version},
                      {"host", hello.host},
                      {"pid", hello.pid},
                      {"rank", hello.rank},
                      {"ranks", hello.ranks},
                      {"returns", hello.returns}});
}

std::string encode(const Welcome& welcome) {
    return json_text({{"rank", welcome.rank},
                      {"ranks", welcome.ranks},
                      {"options", welcome.options},
                      {"life", welcome.life ? Json(*welcome.life) : Json()}});
}

std::optional<Hello> decode_hello(std::string_view text) {
    try {
        const Json json = parse_json(text);
        return Hello{.token = json.at("token"),
                     .version = json.at("version"),
                     .host = json.at("host"),
                     .pid = json.at("pid"),
                     .rank = json.at("rank"),
                     .ranks = json.at("ranks"),
                     .returns = json.at("returns")};
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

std::optional<Welcome> decode_welcome(std::string_view text) {
    try {
        const Json json = parse_json(text);
        Welcome welcome{.rank = json.at("rank"),
                        .ranks = json.at("ranks"),
                        .options = json.at("options").get<JoinOptions>()};
        if (!json.at("life").is_null()) {
            welcome.life = json.at("life").get<std::uint32_t>();
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
                                               peer.address.data});
}

std::optional<ReturnedPeer> decode_returned_peer(std::string_view text) {
    const auto texts = unpack_texts(text);
    if (!texts || texts->size() != 6) {
        return std::nullopt;
    }
    const auto number = [](const std::string& digits, auto& value) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc{} && end == digits.data() + digits.size();
    };
    ReturnedPeer peer;
    if (!number((*texts)[0], peer.rank) || !number((*texts)[2], peer.pid) ||
        !number((*texts)[3], peer.address.life)) {
        return std::nullopt;
    }
    peer.host = (*texts)[1];
    peer.address.control = (*texts)[4];
    peer.address.data = (*texts)[5];
    return peer;
}

bool same_token(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const char other = i < b.size() ? b[i] : '\0';
        difference |=
            static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other));
    }
    return difference == 0;
}

}  // namespace weir::runtime
