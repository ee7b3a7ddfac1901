#include "transport/ucx/ucx_words.hpp"

#include <map>
#include <string>

#include "catch.hpp"

using namespace weir::transport;

namespace {

std::map<std::string, std::string> set_beside(const std::map<std::string, std::string>& given) {
    const auto found = ucx_variables([&](const char* name) -> const char* {
        const auto one = given.find(name);
        return one == given.end() ? nullptr : one->second.c_str();
    });
    return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("Variables of UCX that the user has set stay, and those that belong to them") {
    CHECK(set_beside({}) == std::map<std::string, std::string>{{"UCX_CMA_MEMORY_INVALIDATE", "y"},
                                                               {"UCX_TCP_RX_SEG_SIZE", "256k"},
                                                               {"UCX_TCP_TX_SEG_SIZE", "256k"}});
    const std::map<std::string, std::string> copies{{"UCX_CMA_MEMORY_INVALIDATE", "y"}};
    CHECK(set_beside({{"UCX_TCP_TX_SEG_SIZE", "8k"}}) == copies);
    CHECK(set_beside({{"UCX_TCP_RX_SEG_SIZE", ""}}) == copies);
    CHECK(set_beside({{"UCX_CMA_MEMORY_INVALIDATE", "n"}}).size() == 2);
}
