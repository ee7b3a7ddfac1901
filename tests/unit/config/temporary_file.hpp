// A file for as long as a test needs it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

class TemporaryFile {
  public:
    /// Each test case is a process of its own, and they run side by side.
    explicit TemporaryFile(const std::string& text, const std::string& ending = "")
        : path_(std::filesystem::temp_directory_path() /
                ("weir-config-" + std::to_string(::getpid()) + "-" + std::to_string(++number) + ending)) {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

  private:
    static inline int number = 0;
    std::filesystem::path path_;
};
