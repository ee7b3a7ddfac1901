// Where a rank's rows go: into its log, and as a report to the leader. The first error of the log
// is kept for the loop to act on; a recorder cannot.
#pragma once

#include <functional>

#include "telemetry/csv_log.hpp"
#include "telemetry/live_sample.hpp"

namespace weir::participant {

class RowOutput {
  public:
    using Report = std::function<void(const telemetry::LiveSample&)>;

    /// `log` is not owned; nullptr: rows are not logged.
    RowOutput(telemetry::CsvLog* log, Report report) : log_(log), report_(std::move(report)) {}

    template <typename Row>
    void put(const Row& row, const telemetry::LiveSample& report) {
        if (log_ != nullptr && !error_) {
            error_ = log_->write(row);
        }
        report_(report);
    }

    [[nodiscard]] const telemetry::MaybeIoError& error() const { return error_; }

  private:
    telemetry::CsvLog* log_;
    Report report_;
    telemetry::MaybeIoError error_;
};

}  // namespace weir::participant
