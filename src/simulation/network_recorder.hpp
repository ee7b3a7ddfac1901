// Records what the devices of a simulated network count: hosts/NAME.csv with a row for each second, as
// runtime/counter_sampler.hpp writes it of real hosts, switch/NAME.csv with rows of a length that the caller
// chooses, and the sums of both over the measured seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "simulation/switched_counters.hpp"
#include "telemetry/csv_log.hpp"
#include "telemetry/host_counters.hpp"
#include "telemetry/switch_counters.hpp"

namespace weir::simulation {

class NetworkRecorder {
  public:
    /// In all switches' files together, some 400 MB. Further rows are left out.
    static constexpr std::uint64_t most_lines = 5'000'000;

    struct Setup {
        std::string directory;                                   ///< of the run; empty: nothing is written
        core::Duration duration;                                 ///< of phase `measure`
        core::Duration row_length = core::Duration::seconds(1);  ///< of rows of switches
    };
    explicit NetworkRecorder(Setup setup) : setup_(std::move(setup)) {}

    /// False: there is nothing to record (`counters` is nullptr), and no other call has an effect.
    bool start(SwitchedCounters* counters, core::Instant now);
    [[nodiscard]] core::Duration row_length() const { return setup_.row_length; }

    /// At the end of every second, and of every row.
    void close_second(core::Instant now);
    void close_switch_rows(core::Instant now);
    /// Closes what has begun, and the files.
    void finish(core::Instant now);

    // After finish().

    [[nodiscard]] const std::vector<telemetry::HostCounters>& hosts() const { return hosts_; }
    [[nodiscard]] std::optional<telemetry::SwitchTotals> switches() const;
    /// The first file that could not be written.
    [[nodiscard]] const telemetry::MaybeIoError& error() const { return error_; }

  private:
    void open_files();
    void note(const telemetry::MaybeIoError& error);
    void write_rows(std::size_t index, core::Duration length, telemetry::Phase phase);
    [[nodiscard]] telemetry::Phase phase_at(core::Instant begin) const;

    Setup setup_;
    SwitchedCounters* counters_ = nullptr;
    core::Instant second_begin_;
    core::Instant row_begin_;

    std::vector<telemetry::HostCounters> hosts_;
    std::vector<telemetry::CsvLog> host_logs_;
    std::vector<std::vector<std::uint64_t>> last_;  ///< by host, at the last reading
    std::vector<std::uint64_t> fresh_;

    std::vector<telemetry::SwitchHardware> descriptions_;
    std::vector<telemetry::CsvLog> switch_logs_;
    telemetry::SwitchReading reading_;
    telemetry::SwitchTotals totals_;
    telemetry::LossReactions last_reactions_;
    std::uint64_t lines_ = 0;  ///< of switches
    telemetry::MaybeIoError error_;
};

}  // namespace weir::simulation
