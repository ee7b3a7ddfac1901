// `weir run --dry-run`: what a request comes to in numbers, without MPI.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/run_request.hpp"

namespace weir::cli {

/// The numbers behind both forms. Per-second figures are absent with generation `saturate`; figures per
/// consumer and for all need the layout.
struct Forecast {
    std::uint32_t producers = 0;  ///< 0: not known yet
    std::uint32_t consumers = 0;
    double mean_event_bytes = 0;
    double producer_bytes_per_second = 0;  ///< 0: as fast as it goes
    double producer_events_per_second = 0;
    double producer_memory_bytes = 0;
    double consumer_memory_bytes = 0;
    double mean_busy_seconds = 0;
    std::vector<std::string> warnings;

    [[nodiscard]] bool rate_known() const { return producer_bytes_per_second > 0; }
    [[nodiscard]] bool layout_known() const { return producers != 0 && consumers != 0; }
    /// Per consumer, if all share equally.
    [[nodiscard]] double consumer_share() const { return static_cast<double>(producers) / consumers; }
    /// Fraction of its time for which a consumer is busy, if all share equally.
    [[nodiscard]] std::optional<double> busy_load() const;
    /// offer, grant and done of every event; heartbeats come on top.
    [[nodiscard]] std::optional<double> control_messages_per_second() const;
};

Forecast forecast(const config::RunRequest& request);

std::string dry_run_text(const config::RunRequest& request);
std::string dry_run_json(const config::RunRequest& request);

}  // namespace weir::cli
