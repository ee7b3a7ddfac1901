// A run on one rank, from the run directory to the exit status. One class in three files:
// run_job_start.cpp (until all ranks are ready), run_job.cpp (the course of it, and the measurement),
// run_job_record.cpp (accounts and record).
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "participant/rank_account.hpp"
#include "participant/rank_node.hpp"
#include "participant/run_record_builder.hpp"
#include "runtime/clock_sync.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/counter_sampler.hpp"
#include "runtime/failure_detector.hpp"
#include "runtime/heartbeat_clock.hpp"
#include "runtime/idle.hpp"
#include "runtime/job.hpp"
#include "runtime/process_watch.hpp"
#include "runtime/rank_loop.hpp"
#include "runtime/record_keeper.hpp"
#include "runtime/run_ending.hpp"
#include "runtime/run_settings.hpp"
#include "runtime/run_transport.hpp"
#include "runtime/terminal.hpp"
#include "runtime/watchdog.hpp"
#include "telemetry/csv_log.hpp"
#include "telemetry/formatting.hpp"
#include "telemetry/latencies.hpp"
#include "telemetry/live_view.hpp"
#include "telemetry/recovery.hpp"
#include "telemetry/second_collector.hpp"

namespace weir::runtime {

class JobRun {
  public:
    JobRun(Job& job, MPI_Comm comm, Watchdog& watchdog, const RunSettings& settings)
        : job_(job),
          watchdog_(watchdog),
          settings_(settings),
          self_(settings.roles.node(job.rank())),
          host_(settings.host_of(job.rank())),
          is_leader_(job.rank() == settings.leader_rank()),
          colours_(colours_wanted()),
          processes_(settings.locations, job.rank()),
          detector_(settings, job.rank(), processes_.ranks()),
          idle_(make_idle()),
          report_(settings, telemetry::utc_text(wall_clock_ns())),
          transport_(job, comm, watchdog, settings),
          ending_({.job = job,
                   .watchdog = watchdog,
                   .settings = settings,
                   .processes = processes_,
                   .detector = detector_,
                   .report = report_,
                   .collector = collector_,
                   .colours = colours_}) {
        job.set_leader(settings.leader_rank());
    }

    int run();

  private:
    // run_job_start.cpp: until all ranks are ready to measure.
    [[nodiscard]] HostLoad host_load() const;
    [[nodiscard]] IdleStrategy make_idle() const;
    void print_line(std::string_view line) const;
    void print_plan() const;
    /// Collective: whether all ranks can go on (`objection` empty: this one can). If not, the leader prints
    /// why.
    bool all_can_go_on(const std::string& objection, const char* what);
    std::string make_directory();
    void keep_record();
    std::string open_logs(std::int64_t second_zero_unix_ns);
    bool prepare();
    bool prepare_to_return(std::uint32_t life);
    Start agree_on_start();
    [[nodiscard]] HeartbeatClock make_clock(const Start& start) const;
    bool open_outputs(const Start& start, const CommonClock& clock, core::Instant begin);

    // run_job.cpp
    int measure();
    /// --on-failure continue: what happened to consumers; after all accounts were added.
    void add_recovery(const RankLoop& loop);
    [[noreturn]] void end(const RunEnd& end, RankLoop& loop);
    [[nodiscard]] bool outlives(int rank) const;
    RunEnd run_loop(RankLoop& loop, const CommonClock& clock, core::Instant begin);

    // run_job_record.cpp: after the measurement.
    participant::RankAccount make_account(const RankLoop& loop, const HeartbeatClock& clock);
    void expect_small_messages(const char* phase);
    void expect_file_system(const char* phase, const std::string& path);
    std::string close_log();
    int record_run(const RankLoop& loop, const HeartbeatClock& clock);
    int write_record(const RankLoop& loop);

    Job& job_;
    Watchdog& watchdog_;
    const RunSettings& settings_;
    core::NodeId self_;
    const std::string& host_;
    bool is_leader_;
    bool colours_;
    ProcessWatch processes_;
    FailureDetector detector_;
    IdleStrategy idle_;
    participant::RunRecordBuilder report_;

    RunTransport transport_;
    telemetry::CsvLog log_;
    telemetry::CsvLog burst_log_;  ///< open with --row-interval only
    telemetry::Latencies latencies_;
    ClockOffset clock_at_start_;
    std::int64_t clock_measured_ns_ = 0;
    std::unique_ptr<telemetry::LiveView> live_;
    telemetry::RecoveryWatch recovery_watch_;
    std::unique_ptr<telemetry::SecondCollector> collector_;
    std::optional<participant::RankNode> node_;
    std::unique_ptr<CounterSampler> sampler_;  ///< on the rank that records its host's counters
    std::string host_counters_;
    core::Duration started_late_;
    RecordKeeper keeper_;  ///< on the leader
    RunEnding ending_;     ///< refers to the others
};

}  // namespace weir::runtime
