// Where a rank's rows go: into its logs, and as a report to the leader. The first error of a log
// is kept for the loop to act on; a recorder cannot.
#pragma once

#include <functional>

#include "record/csv_log.hpp"
#include "record/live_sample.hpp"

namespace weir::participant {

class RowOutput {
  public:
    using Report = std::function<void(const record::LiveSample&)>;

    /// `log` and `burst_log` are not owned; nullptr: rows, or those of bursts, are not logged.
    RowOutput(record::CsvLog* log, Report report, record::CsvLog* burst_log = nullptr)
        : log_(log), burst_log_(burst_log), report_(std::move(report)) {}

    template <typename Row>
    void put(const Row& row, const record::LiveSample& report) {
        if (log_ != nullptr && !error_) {
            error_ = log_->write(row);
        }
        if (burst_log_ != nullptr && !error_) {
            error_ = burst_log_->append(record::burst_csv_lines(row));
        }
        report_(report);
    }

    [[nodiscard]] const files::MaybeIoError& error() const { return error_; }

  private:
    record::CsvLog* log_;
    record::CsvLog* burst_log_;
    Report report_;
    files::MaybeIoError error_;
};

}  // namespace weir::participant
