// The file of a rank's rows, or of a host's: CSV with a header line, units in the column names, an absent
// value empty and never 0.
//
// Every row is one write(2) (of bursts all of a second are), so a rank that is killed leaves whole lines
// only. Chosen: plain file descriptors. Rejected: std::ofstream and FILE*, whose buffers are lost with the
// process and which hide which write failed. Rows are not synced to the medium: the page cache outlives the
// process, and an fsync per second and rank would be a load of its own on a shared file system.
//
// A simulation writes the files of all its ranks from one process: more files than a process may have open,
// and nothing is lost with a rank. There rows are collected and written in blocks, the file closed in
// between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/units.hpp"
#include "files/whole_file.hpp"
#include "record/rows.hpp"

namespace weir::record {

/// "rank-00012-consumer.csv"
std::string rank_file_name(int rank, core::Role role);

/// Header line of a role's file, with its line end.
std::string csv_header(core::Role role);

/// A row as a line with its line end. `unix_ns_at_second_0`: wall time of the common clock's zero; without it
/// (a simulation) the column wall_time stays empty.
std::string csv_line(core::Role role, const Row& row, std::optional<std::int64_t> unix_ns_at_second_0);

/// Header line and lines of a role's rows of bursts: those that a row holds, at once.
std::string burst_csv_header(core::Role role);
template <typename Row>
std::string burst_csv_lines(const Row& row);

class CsvLog {
  public:
    CsvLog() = default;
    CsvLog(const CsvLog&) = delete;
    CsvLog& operator=(const CsvLog&) = delete;
    CsvLog(CsvLog&& other) noexcept { *this = std::move(other); }
    /// `other` closes what this had.
    CsvLog& operator=(CsvLog&& other) noexcept;
    /// Closes the file and ignores errors; call close() to get them.
    ~CsvLog();

    /// `row_by_row_at_the_end`: after the rows that a file of this name has.
    enum class Writing : std::uint8_t { row_by_row, row_by_row_at_the_end, in_blocks };

    /// Creates (or empties) the file and writes the header; at the end: nothing of the kind if it is there.
    files::MaybeIoError open(std::string path, core::Role role,
                             std::optional<std::int64_t> unix_ns_at_second_0,
                             Writing writing = Writing::row_by_row);
    /// The same with a header line of the caller's, for rows that come as lines.
    files::MaybeIoError open(std::string path, std::string_view header,
                             Writing writing = Writing::row_by_row);

    /// Appends one row. After an error the file ends with the last whole line, and later rows return the same
    /// error without another attempt.
    template <typename RowOfRole>
    files::MaybeIoError write(const RowOfRole& row) {
        return append(csv_line(RowOfRole::role, row, unix_ns_at_second_0_));
    }

    /// Appends one row that is a line already, in the same way.
    files::MaybeIoError append(std::string_view line);

    /// Some file systems report a failed write only here.
    files::MaybeIoError close();

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] bool is_open() const { return open_; }

  private:
    static constexpr std::size_t block_bytes = std::size_t{16} << 10U;

    files::MaybeIoError open_file(int extra_flags);
    files::MaybeIoError close_file();
    files::MaybeIoError put(std::string_view text);
    files::MaybeIoError put_block();
    void cut_to_whole_lines(std::string_view put) const;
    files::MaybeIoError fail(const char* doing, int error_number);

    std::string path_;
    std::optional<std::int64_t> unix_ns_at_second_0_;
    Writing writing_ = Writing::row_by_row;
    bool open_ = false;  ///< for the caller; between blocks there is no descriptor
    int descriptor_ = -1;
    std::string block_;
    std::int64_t length_ = 0;
    files::MaybeIoError error_;
};

}  // namespace weir::record
