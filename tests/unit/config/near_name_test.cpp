#include "config/words.hpp"

#include <array>

#include "catch.hpp"

using namespace weir::config;

TEST_CASE("edit distance counts single changes") {
    CHECK(edit_distance("rate", "rate") == 0);
    CHECK(edit_distance("", "rate") == 4);
    CHECK(edit_distance("ratte", "rate") == 1);
    CHECK(edit_distance("raet", "rate") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("near names come nearest first and are few") {
    constexpr std::array<std::string_view, 4> names{"lhcb2021-1", "lhcb2021-2", "lhcb2002", "quickstart"};
    CHECK(near_names("quikstart", names, 3) == std::vector<std::string>{"quickstart"});
    CHECK(near_names("lhcb2021", names, 2) == std::vector<std::string>{"lhcb2002", "lhcb2021-1"});
    CHECK(near_names("something", names, 3).empty());
}
