// A directory for as long as a test needs it, and the text of a file.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

class TemporaryDirectory {
  public:
    /// Empty, and another one for each process: test cases are processes of their own and run side by side.
    TemporaryDirectory()
        : path_(std::filesystem::temp_directory_path() /
                ("weir-test-" + std::to_string(::getpid()) + "-" + std::to_string(number++))) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const {
        return path_ / name;
    }
    /// Its path. Directories on the way are made.
    std::filesystem::path write(const std::filesystem::path& name, const std::string& text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
        return path_ / name;
    }
    [[nodiscard]] auto files() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

  private:
    static inline int number = 0;
    std::filesystem::path path_;
};

/// What stands in a file; empty if there is none.
inline std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}
