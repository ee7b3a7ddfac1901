#include "runtime/join_protocol.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weir::runtime {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string encode(const Hello& hello) {
    return text_of({{"token", hello.token},
                    {"version", hello.version},
                    {"host", hello.host},
                    {"pid", hello.pid},
                    {"rank", hello.rank},
                    {"ranks", hello.ranks}});
}

std::string encode(const Welcome& welcome) {
    return text_of({{"rank", welcome.rank}, {"ranks", welcome.ranks}, {"options", welcome.options}});
}

std::optional<Hello> decode_hello(std::string_view text) {
    try {
        const Json json = Json::parse(text);
        return Hello{.token = json.at("token"),
                     .version = json.at("version"),
                     .host = json.at("host"),
                     .pid = json.at("pid"),
                     .rank = json.at("rank"),
                     .ranks = json.at("ranks")};
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

std::optional<Welcome> decode_welcome(std::string_view text) {
    try {
        const Json json = Json::parse(text);
        return Welcome{.rank = json.at("rank"),
                       .ranks = json.at("ranks"),
                       .options = json.at("options").get<JoinOptions>()};
    } catch (const Json::exception&) {
        return std::nullopt;
    }
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
