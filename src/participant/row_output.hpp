// Where a rank's rows go: into its logs, and as a report to the leader. The first error of a log
// is kept for the loop to act on; a recorder cannot.
#pragma once

#include <functional>

#include "telemetry/csv_log.hpp"
#include "telemetry/live_sample.hpp"

namespace weir::participant {

class RowOutput {
  public:
    using Report = std::function<void(const telemetry::LiveSample&)>;

    /// `log` and `burst_log` are not owned; nullptr: rows, or those of bursts, are not logged.
    RowOutput(telemetry::CsvLog* log, Report report, telemetry::CsvLog* burst_log = nullptr)
        : log_(log), burst_log_(burst_log), report_(std::move(report)) {}

    template <typename Row>
    void put(const Row& row, const telemetry::LiveSample& report) {
        if (log_ != nullptr && !error_) {
            error_ = log_->write(row);
        }
        if (burst_log_ != nullptr && !error_) {
            error_ = burst_log_->append(telemetry::burst_csv_lines(row));
        }
        report_(report);
    }

    [[nodiscard]] const telemetry::MaybeIoError& error() const { return error_; }

  private:
    telemetry::CsvLog* log_;
    telemetry::CsvLog* burst_log_;
    Report report_;
    telemetry::MaybeIoError error_;
};

}  // namespace weir::participant
