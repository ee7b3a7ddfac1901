// What a request comes to in numbers, and what of it cannot work: arithmetic on the plan, without a run.
// Links count only where they were given: in a simulation always, in a measured run where the scenario has
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/run_request.hpp"

namespace weir::cli {

/// How a set is cut into events. With fixed sizes exact; with drawn ones `events` is a mean, and what the
/// last event has is not known.
struct SetOfEvents {
    double events = 0;
    core::Bytes last{};  ///< of fixed sizes: the last event has what is left, at most as much as the others
    bool exact = false;
};

/// The numbers behind both forms of a dry run. Per-second figures are absent with generation `saturate`;
/// figures per consumer and for all need the layout.
struct Forecast {
    std::uint32_t producers = 0;  ///< 0: not known yet
    std::uint32_t consumers = 0;
    bool simulated = false;  ///< holds no data: the memory for it is what a measured run would need
    bool builds = false;     ///< an event has a fragment of every producer
    bool pulls = false;
    double mean_event_bytes = 0;
    std::optional<SetOfEvents> set;        ///< generation `sets`
    double producer_bytes_per_second = 0;  ///< 0: as fast as it goes
    double producer_events_per_second = 0;
    double producer_memory_bytes = 0;
    double consumer_memory_bytes = 0;
    double mean_busy_seconds = 0;
    std::vector<std::string> warnings;

    [[nodiscard]] bool rate_known() const { return producer_bytes_per_second > 0; }
    [[nodiscard]] bool layout_known() const { return producers != 0 && consumers != 0; }
    /// Payload of a consumer for one byte of a producer, if all share equally.
    [[nodiscard]] double consumer_share() const { return static_cast<double>(producers) / consumers; }
    /// At all consumers together. Needs the layout.
    [[nodiscard]] double events_per_second() const {
        return producer_events_per_second * (builds ? 1 : producers);
    }
    /// Fraction of its time for which a consumer is busy, if all share equally.
    [[nodiscard]] std::optional<double> busy_load() const;
    /// offer, grant and done of every event, with `pull` its assignment; heartbeats come on top.
    [[nodiscard]] std::optional<double> control_messages_per_second() const;
    /// Memory for data of all ranks. Needs the layout.
    [[nodiscard]] double memory_bytes() const {
        return producer_memory_bytes * producers + consumer_memory_bytes * consumers;
    }
};

Forecast forecast(const config::RunRequest& request);

/// What a simulation needs for its nodes, slots and pairs.
double simulation_memory_bytes(const core::Plan& plan);

/// Computed figures, rounded to four digits.

}  // namespace weir::cli
