#include "host/standstill.hpp"

#include "catch.hpp"

using weir::host::Standstill;

TEST_CASE("a loop that looks often did not stand still") {
    Standstill standstill(5'000'000'000);
    CHECK(standstill.look(5'000'000'100) == 0);
    CHECK(standstill.look(6'000'000'100) == 0);
    CHECK(standstill.look(6'000'000'100) == 0);
}

TEST_CASE("the whole time between two looks is a standstill if it is long") {
    Standstill standstill(5'000'000'000);
    CHECK(standstill.look(17'350'000'000) == 12'350'000'000);
    CHECK(standstill.look(17'350'000'200) == 0);
}
