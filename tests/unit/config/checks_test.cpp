#include "config/checks.hpp"

#include <unistd.h>

#include <fstream>

#include "catch.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "core/plan.hpp"
#include "refusal.hpp"

using namespace weir::config;
using weir::core::Bytes;
namespace fs = std::filesystem;

namespace {

class TemporaryDirectory {
  public:
    TemporaryDirectory() : path_(fs::temp_directory_path() / ("weir-checks-" + std::to_string(::getpid()))) {
        fs::create_directories(path_);
    }
    ~TemporaryDirectory() { fs::remove_all(path_); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

std::string refused(const fs::path& directory) {
    return refusal_of([&] { check_run_directory(directory); });
}

}  // namespace

TEST_CASE("more memory than a host has is refused with the numbers") {
    const RunRequest request = resolve(std::vector<GivenOption>{{"rate", "8Gb/s"}});  // a buffer of 1 GB
    const std::vector<std::string> hosts{"a", "a", "b", "b"};
    const auto roles = assign_roles(request.roles, hosts);  // S P | C C
    const auto refusal = [&](std::int64_t a, std::int64_t b) {
        const std::vector<MemoryRoom> available{{{a}}, {{a}, ", by a limit"}, {{b}}, {{b}}};
        return refusal_of([&] { check_memory(request, roles, hosts, available); });
    };
    const std::int64_t gigabyte = 1000000000;
    CHECK(refusal(2 * gigabyte, gigabyte) == "accepted");
    CHECK(refusal(0, 0) == "accepted");  // unknown
    CHECK(contains(refusal(gigabyte, gigabyte), "--buffer: 1 producers of 1.0"));
    CHECK(contains(refusal(gigabyte, gigabyte), "on a, which has 1 GB available, by a limit; use"));
    CHECK(contains(refusal(2 * gigabyte, gigabyte / 10), "--slots: 0 producers"));
    CHECK(contains(refusal(2 * gigabyte, gigabyte / 10), "on b, which has 100 MB available"));
}

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
