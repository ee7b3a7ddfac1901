// Files that appear as a whole or not at all, also if two processes write the same one.
#include "files/whole_file.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

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
