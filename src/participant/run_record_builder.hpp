// Makes the record of a run (run.json, traffic.csv): from the ranks' accounts after a regular end, from their
// last live samples when the run ended before its time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/network_plan.hpp"
#include "core/scheduler.hpp"
#include "files/whole_file.hpp"
#include "judge/causes.hpp"
#include "participant/rank_node.hpp"
#include "participant/run_description.hpp"
#include "record/pairs.hpp"
#include "record/phase_times.hpp"
#include "record/recovery.hpp"
#include "record/second_collector.hpp"
#include "record/traffic_times.hpp"
#include "show/run_record.hpp"

namespace weir::participant {

/// Causes that take the place of what the rows of a run show, found by simulating it again; nothing: those of
/// the rows stay.
using ExplainRun = std::function<std::optional<std::vector<judge::NamedCause>>(const show::RunRecord&)>;

class RunRecordBuilder {
  public:
    /// `run` must outlive the report. `started_at`: wall time as text; empty in a simulation.
    RunRecordBuilder(const RunDescription& run, std::string started_at);

    /// To be written before anything happens: if this stays, the run could not write how it ended.
    [[nodiscard]] show::RunRecord at_start() const { return show::unfinished(base_); }

    /// Adds one rank's account; all ranks have one after a regular end.
    void add(int rank, const RankAccount& account);

    /// A simulated network and what its devices counted. Before complete() and the like.
    void add_network(const core::NetworkPlan& simulated, std::vector<record::HostCounters> hosts,
                     std::optional<record::SwitchTotals> switches);

    /// --on-failure continue: what happened to consumers. After all ranks were added, before complete().
    /// `silent_since`: of each of the scheduler's losses. `watch` has seen all seconds.
    void add_recovery(const core::Scheduler& scheduler, const std::vector<core::Instant>& silent_since,
                      const record::RecoveryWatch& watch);

    /// --on-failure continue: what lost consumers' processes had reported. After all ranks were added.
    void add_ended_lives(const record::SecondCollector& collector);

    /// Writes traffic.csv, datagrams.csv where chunks are datagrams, phases.csv and transfers.csv where
    /// events are addressed, and completions.csv of a trace, to the run directory when all accounts are
    /// there. If it cannot, this is in the record of complete(), too.
    files::MaybeIoError write_traffic();

    /// After a regular end. `collector`: of the whole run.
    show::RunRecord complete(const record::SecondCollector& collector);

    /// Judges the record of complete() again, with what the search finds; it may be empty. False: the record
    /// is as it was.
    bool explain(show::RunRecord& record, const ExplainRun& search) const;

    /// After any other end, from what was reported second by second; nullptr: nothing was.
    show::RunRecord interrupted(const record::SecondCollector* collector, int signal) const;
    show::RunRecord failed(const record::SecondCollector* collector, const show::Failure& failure) const;

    /// Exit status that a record deserves, with what the run requires.
    [[nodiscard]] int exit_status(const show::RunRecord& record) const;

    /// "--require sustained: not held", one line each; empty if all hold.
    [[nodiscard]] std::vector<std::string> unmet_requirements(const show::RunRecord& record) const;

  private:
    /// Chunks are datagrams, and some were counted.
    [[nodiscard]] bool counts_datagrams() const;
    /// What is known besides the ranks; refers to `record`.
    [[nodiscard]] judge::RunFacts facts_of(const show::RunRecord& record) const;
    [[nodiscard]] std::vector<core::BitRate> interface_rates(const show::RunRecord& record) const;
    void add_hosts();
    void take_host(const std::string& counters);
    [[nodiscard]] show::RunRecord from_reports(const record::SecondCollector* collector) const;

    const RunDescription& run_;
    show::RunRecord base_;
    std::optional<core::NetworkPlan> simulated_;  ///< nothing: the run is measured
    record::Latencies latencies_;
    record::TrafficMatrix traffic_;
    record::DatagramMatrix datagrams_;
    std::optional<record::PhaseTimes> phase_times_;  ///< addressed events
    std::optional<record::TraceTimes> trace_times_;  ///< those of a trace
    std::optional<record::CollectiveTimes> collective_times_;
    record::Recovery recovery_;  ///< from the accounts
    std::int64_t clock_error_ns_ = 0;
    std::vector<std::string> late_starts_;
    std::map<std::string, std::map<std::string, std::int64_t>> ucx_paths_;
    std::vector<std::string> log_errors_;
};

}  // namespace weir::participant
