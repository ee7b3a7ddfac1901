// Files that appear as a whole or not at all, also if two processes write the same one.
#include "files/whole_file.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "in_child.hpp"
#include "temporary_directory.hpp"

using weir::files::WholeFile;

TEST_CASE("A file is not there before it is whole") {
    const TemporaryDirectory directory;
    const auto path = directory / "run.json";
    {
        WholeFile file(path);
        file.put("half");
    }
    CHECK(std::filesystem::is_empty(directory.path()));
    WholeFile file(path);
    file.put("one ");
    file.put("whole");
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK_FALSE(file.finish());
    CHECK(text_of(path) == "one whole");
}

TEST_CASE("Two processes that write one file at the same time do not take each other's away") {
    const TemporaryDirectory directory;
    const auto path = directory / "run.json";
    WholeFile file(path);
    file.put("of this ");
    const ChildEnd end = in_child([&] {
        WholeFile other(path);
        other.put("of the other");
        return other.finish() ? 1 : 0;
    });
    CHECK(end.status == 0);
    CHECK(text_of(path) == "of the other");
    file.put("process");
    CHECK_FALSE(file.finish());
    CHECK(text_of(path) == "of this process");
    CHECK(directory.files() == 1);
}

TEST_CASE("What a killed process left of a file is removed, and nothing else") {
    const TemporaryDirectory directory;
    char host[256] = {};
    REQUIRE(gethostname(host, sizeof host - 1) == 0);
    const std::string beside = std::string(".") + host + "-";
    WholeFile living((directory / "run.json").string());
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        WholeFile dying((directory / "traffic.csv").string());
        _exit(0);  // without the destructor, as by SIGKILL
    }
    int status = -1;
    waitpid(child, &status, 0);
    const std::string left = "traffic.csv" + beside + std::to_string(child) + ".tmp";
    REQUIRE(std::filesystem::exists(directory / left));
    const std::string gone = std::to_string(child);
    const std::vector<std::string> others = {"traffic.csv",         "a.elsewhere-" + gone + ".tmp",
                                             "a" + beside + gone,   "a" + beside + gone + "x.tmp",
                                             "a" + beside + ".tmp", beside + gone + ".tmp"};
    for (const std::string& other : others) {
        std::ofstream(directory / other) << "kept";
    }
    const auto exists = [child](pid_t pid) { return pid != child; };
    weir::files::remove_left_over(directory.path().string(), [](pid_t) { return true; });
    CHECK(std::filesystem::exists(directory / left));
    weir::files::remove_left_over(directory.path().string(), exists);
    weir::files::remove_left_over((directory / "nowhere").string(), exists);
    CHECK_FALSE(std::filesystem::exists(directory / left));
    for (const std::string& other : others) {
        CHECK(std::filesystem::exists(directory / other));
    }
    CHECK_FALSE(living.finish());
}
