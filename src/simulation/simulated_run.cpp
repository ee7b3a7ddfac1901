#include "simulation/simulated_run.hpp"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "files/formatting.hpp"
#include "participant/exit_status.hpp"
#include "participant/rank_node.hpp"
#include "record/csv_log.hpp"

namespace weir::simulation {

namespace {

class Run {
  public:
    Run(const SimulatedRun& run, const Watchers& watchers)
        : run_(run),
          watchers_(watchers),
          writes_(!run.run.directory.empty()),
          report_(run.run, ""),
          recorder_({run.run.directory, run.run.plan.duration, run.switch_row_length}),
          collector_(run.run.plan, [this](const record::ClusterSecond& second) {
              if (run_.run.plan.outlives_consumers) {
                  recovery_watch_.add(second);
              }
              if (watchers_.second) {
                  watchers_.second(second);
              }
          }) {}

    SimulationResult carry_out() {
        open_logs();
        if (!cannot_write_.empty()) {
            return broken_off({.what = cannot_write_});
        }
        auto simulator = std::make_unique<Simulator>(
            Simulator::Setup{.plan = run_.run.plan,
                             .network = run_.network,
                             .disturbances = run_.disturbances,
                             .silence_timeout = run_.silence_timeout,
                             .output = [this](core::NodeId node) -> participant::RowOutput& {
                                 return outputs_[static_cast<std::size_t>(run_.run.roles.rank(node))];
                             },
                             .scheduler = run_.scheduler,
                             .recorder = run_.records_network ? &recorder_ : nullptr});
        int signal = 0;
        result_.end = simulator->run([&](core::Instant now) {
            collector_.poll(now);
            signal = watchers_.interruption ? watchers_.interruption(now) : 0;
            return signal == 0 && (!watchers_.worth_going_on || watchers_.worth_going_on(*simulator));
        });
        close_logs();
        report_.add_network(run_.network, recorder_.hosts(), recorder_.switches());
        switch (result_.end.kind) {
            case SimulationEnd::Kind::regular:
                return complete(std::move(simulator));
            case SimulationEnd::Kind::stopped:
                return finish(report_.interrupted(&collector_, signal),
                              participant::exit_signal_base + signal);
            case SimulationEnd::Kind::node_died: {
                const int rank = run_.run.roles.rank(*result_.end.node);
                return broken_off({.what = fmt::format("{} {}", rank_text(run_.run, rank), result_.end.what),
                                   .rank = rank,
                                   .role = files::node_text(*result_.end.node)});
            }
            case SimulationEnd::Kind::rule_broken:
                result_.end.what = "a rule was broken " + result_.end.what;
                break;
            case SimulationEnd::Kind::stuck:
                if (const auto switches = recorder_.switches()) {
                    const std::string deadlock = record::deadlock_text(switches->failures);
                    result_.end.what += deadlock.empty() ? deadlock : "; " + deadlock;
                }
                break;
        }
        return broken_off({.what = result_.end.what});
    }

  private:
    void open_logs() {
        const int ranks = run_.run.roles.ranks();
        if (writes_) {
            make_directory("ranks");
            if (writes_bursts()) {
                make_directory("bursts");
            }
            if (!cannot_write_.empty()) {
                return;
            }
            note(show::write_run_json(run_.run.directory + "/run.json", report_.at_start()));
        }
        for (int rank = 0; rank < ranks; ++rank) {
            const core::Role role = run_.run.roles.node(rank).role;
            record::CsvLog* log = nullptr;
            record::CsvLog* burst_log = nullptr;
            if (writes_) {
                log = open_log("ranks", rank, record::csv_header(role));
            }
            if (writes_bursts()) {
                burst_log = open_log("bursts", rank, record::burst_csv_header(role));
            }
            outputs_.emplace_back(
                log, [this](const record::LiveSample& report) { collector_.add(report); }, burst_log);
        }
    }

    [[nodiscard]] bool writes_bursts() const { return writes_ && run_.run.plan.row_interval.ns > 0; }

    void make_directory(const char* part) {
        std::error_code error;
        std::filesystem::create_directories(fmt::format("{}/{}", run_.run.directory, part), error);
        if (error && cannot_write_.empty()) {
            cannot_write_ = fmt::format("cannot create {}/{}: {}", run_.run.directory, part, error.message());
        }
    }

    record::CsvLog* open_log(const char* part, int rank, std::string_view header) {
        record::CsvLog& log = logs_.emplace_back();
        const std::string name = record::rank_file_name(rank, run_.run.roles.node(rank).role);
        note(log.open(fmt::format("{}/{}/{}", run_.run.directory, part, name), header,
                      record::CsvLog::Writing::in_blocks));
        return &log;
    }

    void note(const files::MaybeIoError& error) {
        if (error && cannot_write_.empty()) {
            cannot_write_ = error->message();
        }
    }

    void close_logs() {
        for (record::CsvLog& log : logs_) {
            note(log.close());
        }
        note(recorder_.error());
        collector_.finish();
    }

    SimulationResult complete(std::unique_ptr<Simulator> simulator) {
        const participant::RunDescription& run = run_.run;
        // One for all: its histograms are large, and empty but for one rank.
        participant::RankAccount account;
        for (int rank = 0; rank < run.roles.ranks(); ++rank) {
            const core::NodeId node = run.roles.node(rank);
            static_cast<participant::NodeAccount&>(account) = simulator->node(node).account();
            if (node.role == core::Role::scheduler) {
                // What all nodes share is handed in once.
                account.latencies = simulator->latencies();
                account.fault_count = simulator->fault_count();
                for (const core::Fault& fault : simulator->faults()) {
                    account.faults.push_back(show::fault_record(fault));
                }
            }
            report_.add(rank, account);
            if (node.role == core::Role::scheduler) {
                account = {};
            }
        }
        if (run.plan.outlives_consumers) {
            report_.add_recovery(simulator->scheduler().state_machine(), simulator->silent_since(),
                                 recovery_watch_);
        }
        simulator.reset();  // the record takes as much memory
        if (writes_) {
            note(report_.write_traffic());
        }
        show::RunRecord record = report_.complete(collector_);
        report_.explain(record, watchers_.causes);
        const int status = report_.exit_status(record);
        result_.unmet_requirements = report_.unmet_requirements(record);
        return finish(std::move(record), status);
    }

    SimulationResult broken_off(const show::Failure& failure) {
        return finish(report_.failed(&collector_, failure), participant::exit_failed);
    }

    SimulationResult finish(show::RunRecord record, int status) {
        if (writes_) {
            note(show::write_run_json(run_.run.directory + "/run.json", record));
        }
        result_.record = std::move(record);
        result_.exit_status = cannot_write_.empty() ? status : participant::exit_failed;
        result_.cannot_write = cannot_write_;
        return std::move(result_);
    }

    const SimulatedRun& run_;
    const Watchers& watchers_;
    bool writes_;
    participant::RunRecordBuilder report_;
    NetworkRecorder recorder_;
    record::RecoveryWatch recovery_watch_;
    record::SecondCollector collector_;
    std::deque<record::CsvLog> logs_;
    std::deque<participant::RowOutput> outputs_;
    std::string cannot_write_;
    SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const SimulatedRun& run, const Watchers& watchers) {
    return Run(run, watchers).carry_out();
}

void work_on_threads(std::size_t threads, const std::function<void()>& work,
                     const std::function<void()>& meanwhile) {
    std::vector<std::jthread> workers;  // which wait at their end
    while (workers.size() < threads) {
        workers.emplace_back(work);
    }
    meanwhile();
}

}  // namespace weir::simulation
