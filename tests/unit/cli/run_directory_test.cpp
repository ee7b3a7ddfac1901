#include "cli/run_directory.hpp"

#include <fstream>

#include "catch.hpp"
#include "temporary_directory.hpp"
#include "unit/config/refusal.hpp"

using namespace weir::cli;
namespace fs = std::filesystem;

namespace {

std::string refused(const fs::path& directory) {
    return refusal_of([&] { check_run_directory(directory); });
}

}  // namespace

TEST_CASE("the default run directory carries the time in UTC") {
    CHECK(default_run_directory(0) == "weir-run-19700101T000000Z");
    CHECK(default_run_directory(1767323045) == "weir-run-20260102T030405Z");
}

TEST_CASE("a run directory must be new and possible") {
    const TemporaryDirectory here;
    std::ofstream(here.path() / "file") << "x";
    CHECK(refused(here.path() / "new") == "accepted");
    CHECK(refused(here.path() / "new/deep/er") == "accepted");
    CHECK(refused(here.path() / "new/") == "accepted");
    CHECK(contains(refused(here.path()), "--out: '" + here.path().string() + "' exists already"));
    CHECK(contains(refused(here.path() / "file"), "exists already"));
    CHECK(contains(refused(here.path() / "file/run"), "is not a directory"));
    fs::create_symlink("nowhere", here.path() / "link");
    CHECK(contains(refused(here.path() / "link"), "exists already"));
}

TEST_CASE("a run directory is made with its parents, once") {
    const TemporaryDirectory here;
    const fs::path run = here.path() / "a/b";
    CHECK(create_run_directory(run, 0, {"group-00", "group-01"}) == run);
    CHECK(fs::is_directory(run / "group-01"));
    CHECK(contains(refusal_of([&] { create_run_directory(run, 0); }), "exists already"));
    CHECK(contains(refusal_of([] { create_run_directory("/proc/weir-run", 0); }), "--out: '/proc"));
}

TEST_CASE("a run directory without a name has that of the time, and a number if there is one already") {
    const TemporaryDirectory here;
    const fs::path before = fs::current_path();
    fs::current_path(here.path());
    CHECK(create_run_directory("", 1767323045) == here.path() / "weir-run-20260102T030405Z");
    CHECK(create_run_directory("", 1767323045) == here.path() / "weir-run-20260102T030405Z-2");
    fs::current_path(before);
}
