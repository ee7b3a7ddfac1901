// What a process leaves behind if a library ends it with abort().
#include "host/abort_message.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.hpp"

using namespace weir::host;

namespace {

struct Left {
    int signal = 0;  ///< that ended the process
    std::string printed;
    std::string file;  ///< its content; empty: there is none
};

/// Runs `action` in a process of its own, with a descriptor and a path for its message.
template <typename Action>
Left left_by(Action&& action) {
    const auto directory =
        std::filesystem::temp_directory_path() / ("weir-abort-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory);
    const std::string path = directory / "run.json";
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        action(ends[1], path);
        _exit(0);
    }
    close(ends[1]);
    Left left;
    char buffer[512];
    for (ssize_t length = 0; (length = read(ends[0], buffer, sizeof buffer)) > 0;) {
        left.printed.append(buffer, static_cast<std::size_t>(length));
    }
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    left.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    left.file = content.str();
    // The directory holds the file, and nothing half written.
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        CHECK(entry.path() == path);
    }
    std::filesystem::remove_all(directory);
    return left;
}

AbortMessage::Content content(int descriptor, const std::string& path) {
    return {.text = "rank 0 was ended\n", .descriptor = descriptor, .path = path, .file = "{}\n"};
}

}  // namespace

TEST_CASE("A process that is ended by abort() prints its message and writes its file") {
    const Left left = left_by([](int descriptor, const std::string& path) {
        AbortMessage message;
        message.set({.text = "first\n", .descriptor = descriptor});
        message.set(content(descriptor, path));
        std::abort();
    });
    CHECK(left.signal == SIGABRT);
    CHECK(left.printed == "rank 0 was ended\n");
    CHECK(left.file == "{}\n");
}

TEST_CASE("A message without a file is only printed") {
    const Left left = left_by([](int descriptor, const std::string& /*path*/) {
        AbortMessage message;
        message.set({.text = "the end\n", .descriptor = descriptor});
        std::abort();
    });
    CHECK(left.printed == "the end\n");
    CHECK(left.file.empty());
}

TEST_CASE("The last words of a process go to another descriptor, as they are") {
    const Left left = left_by([](int descriptor, const std::string& /*path*/) {
        AbortMessage message;
        message.set({.text = {}, .connection = descriptor, .last_words = std::string("\0\1\2", 3)});
        std::abort();
    });
    CHECK(left.signal == SIGABRT);
    CHECK(left.printed == std::string("\0\1\2", 3));
}

TEST_CASE("A message that was removed is neither printed nor written") {
    for (const bool removed : {true, false}) {
        const Left left = left_by([removed](int descriptor, const std::string& path) {
            std::ofstream(path) << "whole\n";
            {
                AbortMessage message;
                message.set(content(descriptor, path));
                if (removed) {
                    message.set({});
                    std::abort();
                }
            }
            std::abort();
        });
        CHECK(left.signal == SIGABRT);
        CHECK(left.printed.empty());
        CHECK(left.file == "whole\n");
    }
}
