#include "cli/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "config/usage_error.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

/// The nearest directory upwards that exists.
fs::path existing_ancestor(const fs::path& directory) {
    std::error_code error;
    fs::path path = fs::absolute(directory, error).lexically_normal();
    if (!path.has_filename()) {
        path = path.parent_path();
    }
    do {
        path = path.parent_path();
    } while (path.has_relative_path() && !fs::exists(path, error));
    return path;
}

}  // namespace

std::string default_run_directory(std::int64_t unix_seconds) {
    using namespace std::chrono;
    const sys_seconds time{seconds{unix_seconds}};
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{time - day};
    return fmt::format("weir-run-{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

void check_run_directory(const fs::path& directory) {
    constexpr auto here = config::UsageError::Reach::this_host;
    std::error_code error;
    if (fs::exists(fs::symlink_status(directory, error))) {
        throw config::UsageError(here, "--out: '{}' exists already; name a directory that does not",
                                 directory.string());
    }
    const fs::path parent = existing_ancestor(directory);
    if (!fs::is_directory(parent, error)) {
        throw config::UsageError(
            here, "--out: '{}' is not a directory, so '{}' cannot be made in it; choose another place",
            parent.string(), directory.string());
    }
    if (::access(parent.c_str(), W_OK | X_OK) != 0) {
        throw config::UsageError(
            here, "--out: '{}' cannot be written to, so '{}' cannot be made in it; name another place",
            parent.string(), directory.string());
    }
}

std::string create_run_directory(const std::string& out, std::int64_t unix_seconds,
                                 const std::vector<std::string>& parts) {
    std::error_code error;
    const std::string name = out.empty() ? default_run_directory(unix_seconds) : out;
    fs::path directory = name;
    constexpr int most = 1000;
    for (int number = 2; out.empty() && number <= most && fs::exists(directory, error); ++number) {
        directory = fmt::format("{}-{}", name, number);
    }
    check_run_directory(directory);
    fs::create_directories(directory, error);
    for (const std::string& part : parts) {
        if (!error) {
            fs::create_directory(directory / part, error);
        }
    }
    if (error) {
        throw config::UsageError(config::UsageError::Reach::this_host,
                                 "--out: '{}' cannot be made: {}; choose another place", directory.string(),
                                 error.message());
    }
    return fs::absolute(directory).string();
}

}  // namespace weir::cli
