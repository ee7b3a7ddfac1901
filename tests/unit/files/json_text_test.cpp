#include "files/json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"

namespace weir::files {

TEST_CASE("JSON comes back as it was written, its fields in the same order") {
    const nlohmann::ordered_json json{{"z", 1}, {"a", {0.5, nullptr, "text"}}};
    CHECK(json_text(json) == R"({"z":1,"a":[0.5,null,"text"]})");
    CHECK(json_text(parse_json(json_text(json, 2)), 2) == json_text(json, 2));
}

TEST_CASE(
    "JSON of a file is that with two blanks per level, but for arrays of numbers, which have one line") {
    const nlohmann::ordered_json plain{
        {"name", "a \"quoted\" \n \xc3\xa9 \x7f\\"},
        {"empty", {{"object", nlohmann::ordered_json::object()}, {"array", nlohmann::ordered_json::array()}}},
        {"mixed", {true, false, nullptr, "b", {{"c", -1}}}},
        {"not a number", {1, std::numeric_limits<double>::quiet_NaN()}},
        {"numbers", {{"a", 18446744073709551615U}, {"b", -7}, {"c", 1e-7}, {"d", 2.0}}}};
    CHECK(json_file_text(plain) == json_text(plain, 2) + "\n");
    CHECK(json_file_text({{"lists", {{1, 2.5, -3}, {4}}}}) ==
          "{\n  \"lists\": [\n    [1, 2.5, -3],\n    [4]\n  ]\n}\n");
    CHECK(json_file_text({{"host", "a\xff"}}) == "{\n  \"host\": \"a\xef\xbf\xbd\"\n}\n");
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
