// Files that appear as a whole or not at all, also if two processes write the same one.
#include "files/whole_file.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"

using weir::files::WholeFile;

namespace {

std::filesystem::path empty_directory(const char* name) {
    const auto directory = std::filesystem::temp_directory_path() / (name + std::to_string(getpid()));
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    return directory;
}

std::string content_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("A file is not there before it is whole") {
    const auto directory = empty_directory("weir-whole-");
    const auto path = directory / "run.json";
    {
        WholeFile file(path);
        file.put("half");
    }
    CHECK(std::filesystem::is_empty(directory));
    WholeFile file(path);
    file.put("one ");
    file.put("whole");
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK_FALSE(file.finish());
    CHECK(content_of(path) == "one whole");
    std::filesystem::remove_all(directory);
}

TEST_CASE("Two processes that write one file at the same time do not take each other's away") {
    const auto directory = empty_directory("weir-two-");
    const auto path = directory / "run.json";
    WholeFile file(path);
    file.put("of this ");
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        WholeFile other(path);
        other.put("of the other");
        _exit(other.finish() ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(content_of(path) == "of the other");
    file.put("process");
    CHECK_FALSE(file.finish());
    CHECK(content_of(path) == "of this process");
    CHECK(std::distance(std::filesystem::directory_iterator(directory), {}) == 1);
    std::filesystem::remove_all(directory);
}

TEST_CASE("What a killed process left of a file is removed, and nothing else") {
    const auto directory = empty_directory("weir-left-");
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
    weir::files::remove_left_over(directory.string(), [](pid_t) { return true; });
    CHECK(std::filesystem::exists(directory / left));
    weir::files::remove_left_over(directory.string(), exists);
    weir::files::remove_left_over((directory / "nowhere").string(), exists);
    CHECK_FALSE(std::filesystem::exists(directory / left));
    for (const std::string& other : others) {
        CHECK(std::filesystem::exists(directory / other));
    }
    CHECK_FALSE(living.finish());
    std::filesystem::remove_all(directory);
}
