#include "files/json.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"

namespace weir::files {

TEST_CASE("JSON comes back as it was written, its fields in the same order") {
    const nlohmann::ordered_json json{{"z", 1}, {"a", {0.5, nullptr, "text"}}};
    CHECK(json_text(json) == R"({"z":1,"a":[0.5,null,"text"]})");
    CHECK(json_text(parse_json(json_text(json, 2)), 2) == json_text(json, 2));
}

TEST_CASE("what is not UTF-8 is replaced in JSON") {
    CHECK(json_text({{"host", "a\xff"}}) == "{\"host\":\"a\xef\xbf\xbd\"}");
}

TEST_CASE("a text or a file that is no JSON is refused or discarded, as asked") {
    CHECK_THROWS_AS(parse_json("{\"a\":"), nlohmann::json::exception);
    CHECK(parse_json_or_discard("{\"a\":").is_discarded());
    CHECK(json_of_file("/nonexistent/run.json").is_discarded());
}

}  // namespace weir::files
