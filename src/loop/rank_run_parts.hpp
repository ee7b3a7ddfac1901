// A run on one rank, from the run directory to the exit status. One class in three files:
// rank_run_start.cpp (until all ranks are ready), rank_run.cpp (the course of it, and the measurement),
// rank_run.cpp (accounts and record).
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ending/failure_detector.hpp"
#include "ending/run_ending.hpp"
#include "files/formatting.hpp"
#include "host/common_clock.hpp"
#include "host/idle.hpp"
#include "host/process.hpp"
#include "host/process_watch.hpp"
#include "job/clocks.hpp"
#include "job/job.hpp"
#include "job/record_keeper.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"
#include "loop/counter_sampler.hpp"
#include "loop/rank_loop.hpp"
#include "loop/run_transport.hpp"
#include "participant/rank_node.hpp"
#include "participant/run_record_builder.hpp"
#include "record/csv_log.hpp"
#include "record/latencies.hpp"
#include "record/recovery.hpp"
#include "record/second_collector.hpp"
#include "show/live_view.hpp"

namespace weir::loop {

class RankRun {
  public:
    RankRun(job::Job& job, MPI_Comm comm, job::Watchdog& watchdog, const job::RunSettings& settings)
        : job_(job),
          watchdog_(watchdog),
          settings_(settings),
          self_(settings.roles.node(job.rank())),
          host_(settings.host_of(job.rank())),
          is_leader_(job.rank() == settings.leader_rank()),
          colours_(host::colours_wanted()),
          processes_(settings.locations, job.rank()),
          detector_(settings, job.rank(), processes_.ranks()),
          idle_(make_idle()),
          report_(settings, files::utc_text(host::wall_clock_ns())),
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
    // rank_run_start.cpp: until all ranks are ready to measure.
    [[nodiscard]] host::HostLoad host_load() const;
    [[nodiscard]] host::IdleStrategy make_idle() const;
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
    host::Start agree_on_start();
    [[nodiscard]] job::HeartbeatClock make_clock(const host::Start& start) const;
    bool open_outputs(const host::Start& start, const host::CommonClock& clock, core::Instant begin);

    // rank_run.cpp
    int measure();
    /// --on-failure continue: what happened to consumers; after all accounts were added.
    void add_recovery(const RankLoop& loop);
    [[noreturn]] void end(const ending::RunEnd& end, RankLoop& loop);
    [[nodiscard]] bool outlives(int rank) const;
    ending::RunEnd run_loop(RankLoop& loop, const host::CommonClock& clock, core::Instant begin);

    // rank_run.cpp: after the measurement.
    participant::RankAccount make_account(const RankLoop& loop, const job::HeartbeatClock& clock);
    void expect_small_messages(const char* phase);
    void expect_file_system(const char* phase, const std::string& path);
    std::string close_log();
    int record_run(const RankLoop& loop, const job::HeartbeatClock& clock);
    int write_record(const RankLoop& loop);

    job::Job& job_;
    job::Watchdog& watchdog_;
    const job::RunSettings& settings_;
    core::NodeId self_;
    const std::string& host_;
    bool is_leader_;
    bool colours_;
    host::ProcessWatch processes_;
    ending::FailureDetector detector_;
    host::IdleStrategy idle_;
    participant::RunRecordBuilder report_;

    RunTransport transport_;
    record::CsvLog log_;
    record::CsvLog burst_log_;  ///< open with --row-interval only
    record::Latencies latencies_;
    job::ClockOffset clock_at_start_;
    std::int64_t clock_measured_ns_ = 0;
    std::unique_ptr<show::LiveView> live_;
    record::RecoveryWatch recovery_watch_;
    std::unique_ptr<record::SecondCollector> collector_;
    std::optional<participant::RankNode> node_;
    std::unique_ptr<CounterSampler> sampler_;  ///< on the rank that records its host's counters
    std::string host_counters_;
    core::Duration started_late_;
    job::RecordKeeper keeper_;  ///< on the leader
    ending::RunEnding ending_;  ///< refers to the others
};

}  // namespace weir::loop
