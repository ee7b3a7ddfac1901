// How a run that cannot reach its regular end is ended on one rank: who speaks, what run.json says, and that
// the process ends. On the scheduler's rank, or on the deputy's if the scheduler's rank cannot be reached,
// the word and the record; on the others the time that these need.
#pragma once

#include <memory>
#include <string>

#include "participant/run_report.hpp"
#include "runtime/abort_message.hpp"
#include "runtime/job.hpp"
#include "runtime/peer_watch.hpp"
#include "runtime/rank_loop.hpp"
#include "runtime/run_settings.hpp"
#include "runtime/watchdog.hpp"
#include "telemetry/run_record.hpp"
#include "telemetry/second_collector.hpp"

namespace weir::runtime {

/// The rank that speaks for a scheduler's rank that cannot be reached: the lowest one on another host,
/// because hosts are lost as a whole, or else the lowest other one.
int deputy_of(const RunSettings& settings);

class RunEnding {
  public:
    struct Parts {
        Job& job;
        Watchdog& watchdog;
        const RunSettings& settings;
        const PeerWatch& watch;
        const participant::RunReport& report;
        const std::unique_ptr<telemetry::SecondCollector>& collector;  ///< scheduler's rank, else empty
        bool colours;
    };
    explicit RunEnding(const Parts& parts);

    /// Writes run.json. Returns why it cannot; empty: it could.
    [[nodiscard]] std::string write_record(const telemetry::RunRecord& record) const;
    void print_summary(const telemetry::RunRecord& record) const;

    /// What is to be said if a library calls abort(): that this rank was ended so, and that `silent` has not
    /// been heard (-1: nobody is missed). On the scheduler's rank that goes into run.json, too.
    void prepare_for_abort(int silent);
    /// run.json is about to say how the run ended: an abort() after that leaves it as it is.
    void has_ended() { abort_message_.set({}); }

    /// Scheduler's rank: a signal will end the run. Writes that down, in case there is no time for more.
    void note_signal(int number) const;

    /// The loop ended before its time.
    [[noreturn]] void early(const LoopEnd& end, RankLoop& loop);
    /// A signal came while there was no loop.
    [[noreturn]] void signalled(int number);
    /// An exchange without a loop did not end.
    [[noreturn]] void unanswered(const ExchangeTimeout& error);
    /// A rank cannot go on, without a loop; `what` names it.
    [[noreturn]] void failed(int rank, const std::string& what);
    /// This rank cannot go on. `peer`: the rank that it cannot talk to, or -1.
    [[noreturn]] void failed_itself(const std::string& why, int peer);

  private:
    [[nodiscard]] bool leads() const;
    [[nodiscard]] telemetry::Failure failure_of(int rank, const std::string& what) const;
    [[nodiscard]] telemetry::RunRecord broken_off(const LoopEnd& end) const;
    [[nodiscard]] telemetry::Failure judge_roll(const Job::Roll& roll, const std::string& why) const;
    /// Says it and writes it down.
    telemetry::RunRecord tell(const LoopEnd& end);
    /// On the deputy's rank. What the scheduler's rank may have written is not changed.
    void speak_for_the_scheduler(const LoopEnd& end);

    Parts parts_;
    AbortMessage abort_message_;
};

}  // namespace weir::runtime
