// What is said of UCX where there is none. With one: tests/cli/version.py, and every run's run.json.
#include "host/ucx_library.hpp"

#include "catch.hpp"

using namespace weir::host;

TEST_CASE("A library that is not there is no UCX") {
    CHECK_FALSE(loaded_ucx("libweir-has-no-such-library.so.0"));
    CHECK_FALSE(loadable_ucx("libweir-has-no-such-library.so.0"));
}

TEST_CASE("A library that does not report a UCX version is no UCX") {
    CHECK_FALSE(loaded_ucx("libc.so.6"));
    CHECK_FALSE(loadable_ucx("libc.so.6"));
}
