// A file that is written as a whole or not at all: a temporary file beside it, then renamed. For what
// is written once, at the end of a run; rows that come second by second go to a CsvLog.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "files/io_error.hpp"

namespace weir::files {

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
