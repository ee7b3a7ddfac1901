#include "config/switch_memory.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "config/resolve.hpp"
#include "refusal.hpp"

using namespace weir::config;
using weir::core::Bytes;

namespace {

/// A switch file for as long as a test needs it.
class SwitchOnDisk {
  public:
    explicit SwitchOnDisk(const std::string& text)
        : path_(std::filesystem::temp_directory_path() /
                ("weir-switch-memory-" + std::to_string(::getpid()) + ".toml")) {
        std::ofstream(path_) << text;
    }
    ~SwitchOnDisk() { std::filesystem::remove(path_); }
    SwitchOnDisk(const SwitchOnDisk&) = delete;
    SwitchOnDisk& operator=(const SwitchOnDisk&) = delete;

    [[nodiscard]] RunRequest request(std::vector<GivenOption> options) const {
        options.insert(options.end(), {{"network", "packet"}, {"pfc", "on"}, {"switch", path_.string()}});
        RunRequest request = resolve(options, true);
        return request;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("the headroom of a switch is that of all its ports") {
    const SwitchOnDisk star("[switch]\nheadroom = \"100kB\"\n");
    const std::vector<GivenOption> layout{
        {"producers", "3"}, {"consumers", "4"}, {"producer-link", "100Gb/s"}, {"consumer-link", "25Gb/s"}};
    CHECK(largest_headroom(star.request(layout)) == Bytes{100'000 * 4 + 25'000 * 4});
    // Two hosts each at four leaves, and four uplinks; a spine has eight.
    const SwitchOnDisk leaves(
        "[switch]\nheadroom = \"100kB\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 4\nspines = 2\nuplinks "
        "= 2\n");
    CHECK(largest_headroom(leaves.request(layout)) == Bytes{100'000 * 8});
}

TEST_CASE("headroom that the pool cannot hold is refused") {
    const SwitchOnDisk small("[switch]\npool = \"500kB\"\n");
    RunRequest request = small.request({{"producers", "3"}, {"consumers", "4"}});
    CHECK(contains(
        refusal_of([&] { check_headroom(request); }),
        "[switch] headroom: 100.125KiB for a port of 100Gb/s are 820.2 kB for all ports of a switch, "
        "and its pool has 500kB; make headroom smaller, or pool larger"));
}

TEST_CASE("after a pause there arrives what is under way on both ways, and two packets") {
    const auto request = resolve(std::vector<GivenOption>{{"network", "packet"}, {"latency", "4us"}}, true);
    CHECK(pause_takes(request.network, {100'000'000'000}) == Bytes{50'000 + 2 * 4178 + 84});
}
