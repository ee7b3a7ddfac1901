// A file that is written as a whole or not at all: a temporary file beside it, then renamed. For what
// is written once, at the end of a run; rows that come second by second go to a CsvLog.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace weir::files {

// What went wrong with a file: the path, what was being done, and errno. Telemetry returns these instead of
// throwing: a full disk is an expected end of a run, and the rank that meets it still has to end the run in
// order.

struct IoError {
    std::string path;
    const char* doing = "write";  ///< a literal: "open", "write", "close", ...
    int error_number = 0;         ///< errno

    /// "cannot write /run/ranks/rank-00012-consumer.csv: No space left on device"
    [[nodiscard]] std::string message() const {
        return std::string("cannot ") + doing + " " + path + ": " +
               std::error_code(error_number, std::generic_category()).message();
    }
};

/// Nothing: it worked.
using MaybeIoError = std::optional<IoError>;

/// Whether a file has to be on the disk before it gets its name, which may take minutes while the disk writes
/// what others gave it. Without that a kill leaves the file whole, too, but a loss of power may not.
enum class OnDisk { synced, later };

class WholeFile {
  public:
    explicit WholeFile(std::string path);
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;
    /// Without finish() nothing is left, and what had the name before stays.
    ~WholeFile();

    /// Written in blocks, so that it may come in small pieces. After an error this does nothing; finish()
    /// returns it.
    void put(std::string_view text) {
        block_ += text;
        if (block_.size() >= block_bytes) {
            write_block();
        }
    }

    /// Gives the file its name, and returns the error. Once.
    MaybeIoError finish(OnDisk on_disk = OnDisk::synced);

  private:
    static constexpr std::size_t block_bytes = std::size_t{1} << 16U;

    void write_block();
    void fail(const char* doing);

    std::string path_;
    std::string temporary_;
    int descriptor_ = -1;
    std::string block_;
    MaybeIoError error_;  ///< names `path`, for which the temporary stands
};

/// Removes what processes of this host left in `directory` that were killed while they wrote a file there.
/// `exists`: whether a process of this host may still write.
void remove_left_over(const std::string& directory, const std::function<bool(pid_t)>& exists);

}  // namespace weir::files
