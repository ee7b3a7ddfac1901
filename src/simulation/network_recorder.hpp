// Records what the devices of a simulated network count: hosts/NAME.csv with a row for each second, as
// loop/counter_sampler.hpp writes it of real hosts, switch/NAME.csv with rows of a length that the caller
// chooses, and the sums of both over the measured seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "record/csv_log.hpp"
#include "record/host_counters.hpp"
#include "record/switch_counters.hpp"
#include "simulation/switched_counters.hpp"

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

    [[nodiscard]] const std::vector<record::HostCounters>& hosts() const { return hosts_; }
    [[nodiscard]] std::optional<record::SwitchTotals> switches() const;
    /// The first file that could not be written.
    [[nodiscard]] const files::MaybeIoError& error() const { return error_; }

  private:
    void open_files();
    void note(const files::MaybeIoError& error);
    void write_rows(std::size_t index, core::Duration length, record::Phase phase);
    void write_parallel_links(core::Duration length, record::Phase phase);
    /// Whether so many lines more may be written of switches; notes what is left out.
    bool may_write(std::size_t lines);
    [[nodiscard]] record::Phase phase_at(core::Instant begin) const;

    Setup setup_;
    SwitchedCounters* counters_ = nullptr;
    core::Instant second_begin_;
    core::Instant row_begin_;

    std::vector<record::HostCounters> hosts_;
    std::vector<record::CsvLog> host_logs_;
    std::vector<std::vector<std::uint64_t>> last_;  ///< by host, at the last reading
    std::vector<std::uint64_t> fresh_;

    std::vector<record::SwitchHardware> descriptions_;
    std::vector<record::CsvLog> switch_logs_;
    std::optional<record::ParallelLinkLoads> parallel_links_;  ///< nothing: there are none
    record::CsvLog parallel_links_log_;
    record::SwitchReading reading_;
    record::SwitchTotals totals_;
    record::LossReactions last_reactions_;
    std::uint64_t lines_ = 0;  ///< of switches
    files::MaybeIoError error_;
};

}  // namespace weir::simulation
